//! What is not written as a declaration is.

use super::{ORDER, assert_mistake, assert_mistake_part, mistakes, order, sound};

#[test]
fn a_journal() {
    assert_eq!(sound(ORDER).journal.map(|table| table.value()), None);
    let with = |journal: &str| format!("{ORDER} {journal}");
    let table = sound(&with("journal in \"order_journal\";")).journal;
    assert_eq!(table.map(|table| table.value()).as_deref(), Some("order_journal"));
    assert_mistake(
        &order("transitions {", "journal in \"order_journal\"; transitions {"),
        "journal",
        "the journal stands behind the transitions; move it to the end",
    );
    assert_mistake_part(&with("journal;"), "journal", "say in which table it is kept");
    assert_mistake_part(&with("journal in order_journal;"), "order_journal", "expected here, in quotes");
    assert_mistake_part(&with("journal in \"\";"), "\"\"", "a table has a name");
    assert_mistake_part(&with("journal in \"j\""), "\"j\"", "a `;` is expected");
    assert_mistake_part(&with("pub journal in \"j\";"), "pub", "as visible as its lifecycle");
    assert_mistake_part(
        &with("journal in \"orders\";"),
        "\"orders\"",
        "the journal needs a table of its own",
    );
    assert_mistake(
        &with("journal in \"j\"; journal in \"k\";"),
        "journal",
        "nothing may follow the journal; take this out",
    );
    let guard = order("tenant_id: i64 guard", "actor: i64 guard") + "journal in \"j\";";
    assert_mistake_part(&guard, "actor", "`actor` is one of its own");
    assert_mistake_part(&order("ship: ", "fence: "), "fence", "what the journal calls an entry of its own");
    assert_mistake(
        &format!("{ORDER} struct More;"),
        "struct",
        "nothing may follow the transitions; take this out",
    );
}

#[test]
fn a_missing_part() {
    let part = |end: &str| ORDER[..ORDER.find(end).unwrap()].to_owned();
    assert_mistake_part(&part("/// A customer"), "", "a lifecycle begins with its table");
    assert_mistake_part(
        &part("/// What every"),
        "Order",
        "what every row has comes next: `pub struct OrderRow {",
    );
    assert_mistake_part(&part("/// Where an"), "OrderRow", "the states come next");
    assert_mistake(
        &part("transitions"),
        "AnyOrder",
        "the steps come next: `transitions { pay: Pending -> Paid; }`",
    );
    assert_mistake(
        &order("transitions {", "transition {"),
        "transition",
        "`transition` is unknown here; did you mean `transitions`?",
    );
    assert_mistake_part(&order("transitions {", "transitions; {"), ";", "stand in braces");
}

#[test]
fn a_missing_table() {
    let header =
        r#" in "orders" (status = "state", version: i32 = "lock_version", updated_at = "modified_at");"#;
    let told = "say in which table it lives: `struct Order in \"orders\";`, then the row in a \
         struct of its own";
    assert_mistake(&order(header, ";"), "Order", told);
    let told = "the handle comes first: `struct Order in \"orders\";`, then the row: `struct OrderRow { … }`";
    assert_mistake(&order(header, " { id: i64 }"), "Order", told);
    let handle = format!("/// A customer order.\n    pub struct Order{header}");
    assert_mistake(&order(&handle, ""), "OrderRow", told);
    assert_mistake(
        &order("in \"orders\"", "in orders"),
        "orders",
        "the table's name is expected here, in quotes: `\"…\"`",
    );
    assert_mistake_part(
        &order("\"modified_at\");", "\"modified_at\")"),
        "\"orders\"",
        "a `;` is expected behind",
    );
}

#[test]
fn lifetimes_and_generics() {
    assert_mistake_part(
        &order("struct Order in", "struct Order<'a> in"),
        "<'a>",
        "`Order` takes no lifetimes or type parameters",
    );
    assert_mistake_part(
        &order("OrderRow {", "OrderRow<T: Copy> {"),
        "<T: Copy>",
        "`OrderRow` takes no lifetimes",
    );
    assert_mistake_part(&order("AnyOrder:", "AnyOrder<T>:"), "<T>", "`AnyOrder` takes no lifetimes");
    assert_mistake_part(
        &order("OrderStatus {", "OrderStatus<T> {"),
        "<T>",
        "`OrderStatus` takes no lifetimes",
    );
    assert_mistake_part(&order("Cancelled {", "Cancelled<'a> {"), "<'a>", "`Cancelled` takes no lifetimes");
}

#[test]
fn options_of_the_lifecycle() {
    assert_mistake(
        &order("updated_at =", "update_at ="),
        "update_at",
        "`update_at` is no option of a lifecycle; did you mean `updated_at`?",
    );
    assert_mistake(
        &order("updated_at =", "journal ="),
        "journal",
        "`journal` is no option of a lifecycle; there are `status`, `version` and `updated_at`",
    );
    assert_mistake(&order("updated_at =", "status ="), "status", "`status` is given twice; keep one");
    assert_mistake(&order("status = \"state\"", "status"), ",", "say which column: `status = \"…\"`");
    assert_mistake(
        &order("\"modified_at\"", "\"\""),
        "\"\"",
        "a column has a name; write it here, or leave `= \"\"` out",
    );
    assert_mistake_part(&order("updated_at =", "= "), "=", "an option is expected here");
}

#[test]
fn a_row_that_is_none() {
    assert_mistake_part(
        &order("pub struct OrderRow {", "pub enum OrderRow {"),
        "enum",
        "its first column is the key",
    );
    let tuple = "struct Order in \"orders\"; struct OrderRow(i64);";
    assert_mistake(tuple, "(", "the row's columns have names: `struct OrderRow { id: i64, … }`");
    let empty = "struct Order in \"orders\"; struct OrderRow {} enum AnyOrder: OrderStatus { A, B } \
         transitions { go: A -> B; }";
    assert_mistake(empty, "OrderRow", "`OrderRow` has no columns; declare at least the key: `id: i64`");
}

#[test]
fn a_column_that_is_none() {
    assert_mistake(
        &order("note: Option<String>", "note"),
        ",",
        "a `:` and the type are expected here: `note: String`",
    );
    assert_mistake_part(&order("r#type", "type"), "type", "as a column's name it is written `r#type`");
    assert_mistake_part(&order("r#type", "self"), "self", "choose another name");
    assert_mistake_part(&order("r#type", "_"), "_", "a column's name is expected here");
    assert_mistake_part(&order("note: Option<String>", "note: "), ",", "the type of `note` is expected here");
    assert_mistake(
        &order("String unique", "String uniqe"),
        "uniqe",
        "`uniqe` can not stand behind a type; did you mean `unique`?",
    );
    assert_mistake(
        &order("String unique", "String unique unique"),
        "unique",
        "`unique` is given twice; keep one",
    );
    assert_mistake_part(
        &order("tracking_no: String", "tracking_no: String guard"),
        "guard",
        "only a column of the row",
    );
    assert_mistake(
        &order("i64 = \"cust_no\"", "i64 = \"cust_no\" guard"),
        "guard",
        "`guard` stands before the `=`; move it there",
    );
    assert_mistake(
        &order("i64 = \"cust_no\"", "i64 = cust_no"),
        "cust_no",
        "the column's name is expected here, in quotes: `\"…\"`",
    );
    assert_mistake_part(
        &order("note: Option<String>", "pub(crate) note: Option<String>"),
        "pub(crate)",
        "take this out",
    );
    assert_mistake_part(
        &order("note: Option<String>,", "note: Option<String>;"),
        ";",
        "a `,` is expected here, or `unique`",
    );
}

#[test]
fn states_that_are_none() {
    assert_mistake(
        &order("AnyOrder: OrderStatus", "AnyOrder"),
        "AnyOrder",
        "say what the enum of its statuses is called: `enum AnyOrder: OrderStatus`",
    );
    assert_mistake(
        &order("Cancelled { reason: Option<String> }", "Cancelled(String)"),
        "(",
        "facts have names, since they are columns: `Cancelled { trade_no: String }`",
    );
    let empty = "struct Order in \"orders\"; struct OrderRow { id: i64 } enum AnyOrder: OrderStatus \
         {} transitions {}";
    let told = mistakes(empty);
    assert_eq!(told[0].0, "AnyOrder");
    assert!(told[0].1.contains("has no states"));
    assert_eq!(
        told[1],
        (
            "transitions".to_owned(),
            "there are no transitions; declare at least one: `pay: Pending -> Paid;`".to_owned(),
        )
    );
    assert_mistake_part(&order("OrderStatus {", "OrderStatus as {"), "{", "how a status is stored");
    assert_mistake_part(&order("OrderStatus {", "OrderStatus in i16 {"), "in", "in braces");
}

#[test]
fn a_state_that_is_none() {
    let shipped = "Completed: Shipped,";
    assert_mistake_part(&order(shipped, "Completed: Shipped = \"a\" = \"b\","), "=", "given twice");
    assert_mistake_part(&order(shipped, "Completed: Shipped: Paid,"), ":", "can build on one state only");
    assert_mistake_part(&order(shipped, "Completed { done: bool }: Shipped,"), ":", "the facts come last");
    assert_mistake_part(&order(shipped, "Completed = done: Shipped,"), "done", "a text or a whole number");
    assert_mistake(
        &order(shipped, "Completed = 4i16: Shipped,"),
        "4i16",
        "the type stands behind `as`; write `4` here",
    );
    assert_mistake_part(&order(shipped, "Completed Shipped,"), "Shipped", "a `,` is expected here");
}

#[test]
fn a_transition_that_is_none() {
    let complete = "complete: Shipped        -> Completed;";
    assert_mistake(&order("by trade_no;", "by trade_no,"), ",", "a transition ends with `;`");
    assert_mistake(&order(complete, "complete: Shipped -> Completed,"), ",", "a transition ends with `;`");
    assert_mistake_part(
        &order(complete, "complete: Shipped -> Completed"),
        "refund",
        "a `;` is expected here",
    );
    assert_mistake_part(&order("-> Cancelled;", "-> Cancelled"), "Cancelled", "a `;` is expected here");
    assert_mistake_part(&order(complete, "complete = Shipped -> Completed;"), "=", "a `:` and the states");
    assert_mistake_part(&order(complete, "complete: Shipped => Completed;"), "=", "a `->` and the state");
    assert_mistake_part(
        &order(complete, "complete: Shipped, Paid -> Completed;"),
        ",",
        "a `|` and another state",
    );
    assert_mistake_part(
        &order(complete, "complete: Shipped -> Completed | Paid;"),
        "|",
        "leads to one state",
    );
    assert_mistake_part(
        &order(complete, "complete: -> Completed;"),
        "-",
        "name each state that it leaves: `A | B -> C`",
    );
    for all in ["*", "_", "(Paid)"] {
        let told = "name each state that it leaves: `A | B -> C`";
        assert_mistake_part(&order(complete, &format!("complete: {all} -> Completed;")), &all[..1], told);
    }
    assert_mistake_part(
        &order(complete, "complete: match -> Completed;"),
        "match",
        "the state that it leaves",
    );
    assert_mistake_part(
        &order(complete, "complete: Shipped | -> Completed;"),
        "-",
        "another state that it leaves is expected here",
    );
    assert_mistake_part(&order(complete, "match: Shipped -> Completed;"), "match", "`r#match`");
}

#[test]
fn a_cause_that_is_none() {
    assert_mistake_part(&order("by trade_no", "for trade_no"), "for", "`by trade_no`");
    assert_mistake_part(
        &order("by trade_no", "by"),
        ";",
        "the fact that asks for this step is expected here",
    );
    assert_mistake_part(
        &order("by trade_no", "by trade_no, paid_at"),
        ",",
        "several facts stand in parentheses: `by (trade_no, …)`",
    );
    assert_mistake_part(&order("by (refund_no)", "by ()"), "()", "or leave `by` out");
    assert_mistake(
        &order("no shared", "no share"),
        "share",
        "`share` can not stand behind the cause; did you mean `shared`?",
    );
    assert_mistake_part(&order("no shared", "no shared shared"), "shared", "a `;` is expected here");
}

#[test]
fn no_part_can_be_switched_off() {
    let told = "the lifecycle is one whole; put `#[cfg]` on the invocation of `lifecycle!`";
    for part in ["note: ", "Pending,", "paid_at: ", "cancel: ", "pub struct OrderRow"] {
        assert_mistake(&order(part, &format!("#[cfg(unix)] {part}")), "cfg", told);
    }
    for behind in ["cfg_attr(unix, cfg(test))", "cfg_attr(unix, inline, cfg_attr(test, cfg(unix)))"] {
        let declaration = order("note: ", &format!("#[{behind}] note: "));
        assert_mistake(&declaration, "cfg", told);
    }
}

#[test]
fn a_visibility_of_a_part() {
    let told = "states are as visible as their enum; take this `pub` out";
    assert_mistake(&order("Completed: Shipped", "pub Completed: Shipped"), "pub", told);
    assert_mistake(&order("Pending,", "/// Open.\n pub(crate) Pending,"), "pub(crate)", told);
    let told = "transitions are as visible as their lifecycle; take this `pub` out";
    assert_mistake(&order("cancel: ", "pub cancel: "), "pub", told);
    assert_mistake(&order("transitions {", "pub transitions {"), "pub", told);
}

#[test]
fn attributes_of_nothing() {
    let told = "no attributes or doc comments stand here; take this out";
    assert_mistake(&order("transitions {", "/// The steps.\n transitions {"), "/// The steps.", told);
    let two = "#[allow(unused)] #[inline]";
    assert_mistake(&order("transitions {", &format!("{two} transitions {{")), two, told);
    assert_mistake(&format!("{ORDER} /// The end."), "/// The end.", told);
    assert_mistake(&format!("{ORDER} #[inline] journal in \"order_journal\";"), "#[inline]", told);
}

#[test]
fn all_mistakes_are_told_at_once() {
    let declaration =
        order("note: ", "note ").replace("by trade_no", "by").replace("Pending,", "Pending(u8),");
    let words: Vec<String> = mistakes(&declaration).into_iter().map(|(word, _)| word).collect();
    assert_eq!(words, ["Option", "(", ";"]);
    let declaration =
        order("note: ", "row: ").replace("by trade_no", "by trade").replace("-> Completed", "-> Complete");
    let words: Vec<String> = mistakes(&declaration).into_iter().map(|(word, _)| word).collect();
    assert_eq!(words, ["trade", "Complete", "row"]);
}
