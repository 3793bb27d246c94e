//! What a sound declaration is turned into.

use super::{ORDER, order, sound};
use crate::model::{Field, Stored, Value};
use quote::ToTokens;

fn names<'a>(fields: impl IntoIterator<Item = &'a Field>) -> Vec<String> {
    fields.into_iter().map(|field| field.name.to_string()).collect()
}

#[test]
fn columns_are_read_in_the_order_of_the_declaration() {
    let order = sound(ORDER);
    let columns: Vec<String> = order.select_list().into_iter().map(syn::LitStr::value).collect();
    assert_eq!(
        columns,
        [
            "id",
            "order_no",
            "cust_no",
            "tenant_id",
            "note",
            "type",
            "state",
            "lock_version",
            "trade_no",
            "paid_at",
            "channel",
            "tracking_no",
            "refund_no",
            "reason",
        ]
    );
    assert_eq!(order.lifecycle.updated_at.as_ref().unwrap().value(), "modified_at");
    assert_eq!(order.lifecycle.version.ty.to_token_stream().to_string(), "i32");
}

#[test]
fn options_have_defaults() {
    let order = sound(&order(
        r#" (status = "state", version: i32 = "lock_version", updated_at = "modified_at")"#,
        "",
    ));
    assert_eq!(order.lifecycle.status.value(), "status");
    assert_eq!(order.lifecycle.version.column.value(), "version");
    assert_eq!(order.lifecycle.version.ty.to_token_stream().to_string(), "i64");
    assert!(order.lifecycle.updated_at.is_none());
}

#[test]
fn every_option_and_the_last_comma_may_be_left_out() {
    sound(&order(r#"(status = "state", version: i32 = "lock_version", updated_at = "modified_at")"#, "()"));
    sound(&order(r#"version: i32 = "lock_version", updated_at = "modified_at""#, "version: i32,"));
    sound(&order(r#"version: i32 = "lock_version""#, r#"version = "lock_version""#));
    sound(&order("r#type: String,", "pub r#type: String"));
    sound(&order("Cancelled { reason: Option<String> },", "Cancelled { pub reason: Option<String> }"));
}

#[test]
fn a_state_knows_what_its_bases_knew() {
    let order = sound(ORDER);
    assert_eq!(names(order.known(3)), ["trade_no", "paid_at", "channel", "tracking_no"]);
    assert_eq!(names(order.known(4)), ["trade_no", "paid_at", "channel", "refund_no", "reason"]);
    assert_eq!(order.branch(3), [1, 2, 3]);
    assert!(
        order.builds_on(3, 1) && order.builds_on(3, 3) && !order.builds_on(1, 3) && !order.builds_on(4, 2)
    );
}

#[test]
fn branches_share_a_fact_and_its_column() {
    let order = sound(ORDER);
    assert_eq!(
        names(order.fact_columns()),
        ["trade_no", "paid_at", "channel", "tracking_no", "refund_no", "reason"]
    );
    assert_eq!(order.fact_column(&order.states[4].facts[1]), 5);
    assert_eq!(order.fact_column(&order.states[5].facts[0]), 5);
}

#[test]
fn transitions_are_looked_up() {
    let order = sound(ORDER);
    let refund = &order.transitions[3];
    assert_eq!(refund.sources.iter().map(|source| source.index).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(refund.target.index, 4);
    let cause = refund.cause.as_ref().unwrap();
    assert_eq!((cause.facts[0].index, cause.shared), (0, false));
    assert!(order.transitions[1].cause.as_ref().unwrap().shared);
    assert!(order.transitions[4].cause.is_none());
    assert_eq!(order.reachable(1), [false, false, true, true, true, false]);
}

#[test]
fn options_are_seen_through_paths() {
    let order = sound(&order("note: Option<String>", "note: ::core::option::Option<Vec<u8>>"));
    let note = &order.row.columns[4];
    assert!(note.optional());
    assert_eq!(note.inner().to_token_stream().to_string(), "Vec < u8 >");
    assert!(!order.key().optional());
    assert_eq!(order.key().inner().to_token_stream().to_string(), "i64");
}

#[test]
fn statuses_are_stored_as_texts_by_default() {
    let order =
        sound(&order("Cancelled {", "WaitingForStock {").replace("-> Cancelled", "-> WaitingForStock"));
    let texts = order.states.iter().map(|state| match &state.value {
        Value::Text(text) => text.value(),
        Value::Integer(..) => unreachable!(),
    });
    assert_eq!(
        texts.collect::<Vec<_>>(),
        ["pending", "paid", "shipped", "completed", "refunded", "waiting_for_stock"]
    );
}

#[test]
fn statuses_are_stored_as_declared() {
    let small = r#"
        struct Order in "orders";
        struct OrderRow { id: i64 }
        enum AnyOrder: OrderStatus STORED { Pending = A, Paid = B: Pending }
        transitions { pay: Pending -> Paid; }
    "#;
    let integers = sound(&small.replace("STORED", "as i16").replace("= A", "= -1").replace("= B", "= 0x10"));
    assert!(matches!(&integers.any.stored, Stored::Integer(_)));
    assert!(matches!(integers.states[0].value, Value::Integer(-1, _)));
    assert!(matches!(integers.states[1].value, Value::Integer(16, _)));
    // What it builds on may also stand before what is stored.
    let texts = small.replace("STORED", r#"as enum "order_status""#).replace("= A", r#"= "NEW""#);
    let texts = sound(&texts.replace("= B: Pending", r#": Pending = "PAID""#));
    assert!(matches!(&texts.any.stored, Stored::Enum(name) if name.value() == "order_status"));
    assert!(matches!(&texts.states[1].value, Value::Text(text) if text.value() == "PAID"));
    assert_eq!(texts.states[1].base.as_ref().unwrap().index, 0);
}

#[test]
fn generated_names_follow_the_declared_ones() {
    let order = sound(&order("cancel: ", "call_off: "));
    assert_eq!(order.transitions[4].variant(), "CallOff");
    assert_eq!(order.transition_enum(), "OrderTransition");
    assert_eq!(order.facts_struct(), "OrderFacts");
    assert_eq!(order.krate.to_string(), ":: onward");
}
