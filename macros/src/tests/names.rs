//! Names of states, transitions and generated types, and stored values.

use super::{assert_mistake, assert_mistake_part, mistakes, order};
use std::fmt::Write;

#[test]
fn a_state_declared_twice() {
    assert_mistake(
        &order("Completed: Shipped,", "Completed: Shipped, Paid,"),
        "Paid",
        "there are two states named `Paid`; rename one, or take one out",
    );
}

#[test]
fn a_stored_value_used_twice() {
    assert_mistake(
        &order("Completed: Shipped", "Completed = \"PAID \": Shipped"),
        "\"PAID \"",
        "`\"PAID \"` is already stored for `Paid`, and a database may not tell the two \
             apart; store another value for `Completed`",
    );
    let declaration = r#"
        struct Order in "orders";
        struct OrderRow { id: i64 }
        enum AnyOrder: OrderStatus as i16 { Pending = 1, Paid = 0x1 }
        transitions { pay: Pending -> Paid; }
    "#;
    assert_mistake_part(declaration, "0x1", "`1` is already stored for `Pending`");
}

#[test]
fn a_stored_value_of_the_wrong_kind() {
    assert_mistake(
        &order("Completed: Shipped", "Completed = 4: Shipped"),
        "4",
        "statuses are stored as texts here: `Completed = \"4\"`; for integers write `as \
             i16` behind the name of the enum of statuses",
    );
    assert_mistake_part(&order("Completed: Shipped", "Completed = \"\": Shipped"), "\"\"", "never empty");
    let declaration = r#"
        struct Order in "orders";
        struct OrderRow { id: i64 }
        enum AnyOrder: OrderStatus as i16 { Pending, Paid = "paid" }
        transitions { pay: Pending -> Paid; }
    "#;
    assert_eq!(
        mistakes(declaration),
        [
            (
                "Pending".to_owned(),
                "give `Pending` its number: `Pending = 1`; it is what the table holds, so it \
             must not follow from the order of the states"
                    .to_owned()
            ),
            (
                "\"paid\"".to_owned(),
                "statuses are stored as `i16` here; give `Paid` a number: `Paid = 1`, or take \
             `as i16` out"
                    .to_owned()
            ),
        ]
    );
}

#[test]
fn two_states_that_are_shown_alike() {
    let declaration = r#"
        struct Order in "orders";
        struct OrderRow { id: i64 }
        enum AnyOrder: OrderStatus as i16 { XmlReady = 1, XMLReady = 2 }
        transitions { go: XmlReady -> XMLReady; }
    "#;
    assert_mistake(
        declaration,
        "XMLReady",
        "`XMLReady` and `XmlReady` are both `xml_ready` as text; rename one",
    );
}

#[test]
fn a_transition_declared_twice() {
    assert_mistake(
        &order("cancel: ", "pay: "),
        "pay",
        "there are two transitions named `pay`; a transition may leave several states \
             (`A | B -> C`), else rename one",
    );
    assert_mistake(
        &order("cancel: ", "pay_: "),
        "pay_",
        "`pay_` and `pay` are both `Pay` in `OrderTransition`; rename one",
    );
}

#[test]
fn a_transition_named_like_a_method() {
    assert_mistake(
        &order("cancel: ", "amend: "),
        "amend",
        "`amend` is a method of the generated types, so a transition can not have this \
             name; name it after what happens, for example `amend_order`",
    );
    for name in ["load", "lock", "status", "clone", "into", "deref", "serialize", "new", "check", "apply"] {
        assert_mistake_part(
            &order("cancel: ", &format!("{name}: ")),
            name,
            "a transition can not have this name",
        );
    }
}

#[test]
fn a_transition_that_is_no_variant() {
    for name in ["self_", "__", "_1"] {
        assert_mistake_part(
            &order("cancel: ", &format!("{name}: ")),
            name,
            "can not be turned into the name of a variant",
        );
    }
}

#[test]
fn a_type_generated_twice() {
    assert_mistake(
        &order("pub struct OrderRow", "pub struct Order"),
        "Order",
        "`Order` is the name of the lifecycle already; the row needs another one",
    );
    assert_mistake(
        &order("AnyOrder: OrderStatus", "AnyOrder: OrderRow"),
        "OrderRow",
        "`OrderRow` is the name of the row already; the enum of statuses needs another one",
    );
    assert_mistake(
        &order("AnyOrder: OrderStatus", "OrderTransition: OrderStatus"),
        "OrderTransition",
        "`OrderTransition` is the name of the generated enum of transitions already; the \
             enum of handles needs another one",
    );
    let state = order("Cancelled {", "OrderFacts {").replace("-> Cancelled", "-> OrderFacts");
    assert_mistake_part(&state, "OrderFacts", "a state needs another one");
}

#[test]
fn too_many() {
    let (mut states, mut steps) = (String::new(), String::new());
    for number in 0..65 {
        write!(states, "S{number},").unwrap();
        if number > 0 {
            write!(steps, "s{number}: S0 -> S{number};").unwrap();
        }
    }
    let declare = |states: &str, steps: &str| {
        format!(
            "struct Order in \"orders\"; struct OrderRow {{ id: i64 }} enum AnyOrder: \
             OrderStatus {{ {states} }} transitions {{ {steps} }}"
        )
    };
    assert_mistake_part(&declare(&states, &steps), "S64", "at most 64 states");
    let steps = steps + "again: S0 -> S1;";
    assert_mistake_part(
        &declare(&states.replace("S64,", ""), &steps.replace("-> S64", "-> S63")),
        "again",
        "at most 64 transitions",
    );
}

#[test]
fn too_many_facts_or_guards() {
    let twelve =
        ["f"; 12].iter().enumerate().fold(String::new(), |all, (i, f)| all + &format!("{f}{i}: i64, "));
    assert_mistake_part(
        &order("Cancelled {", &format!("Cancelled {{ {twelve}")),
        "reason",
        "at most 12 facts",
    );
    let twelve = twelve.replace("i64", "i64 guard");
    assert_mistake_part(
        &order("tenant_id: i64 guard", &format!("{twelve}tenant_id: i64 guard")),
        "tenant_id",
        "at most 12 guards",
    );
}
