//! What can be told from the name of a type.

use super::{ORDER, assert_mistake, assert_mistake_part, order, sound};

#[test]
fn a_version_that_is_no_integer() {
    assert_mistake(
        &order("version: i32", "version: DateTime<Utc>"),
        "DateTime<Utc>",
        "a version must be an integer: time stamps lose precision and then every save, \
             or none, looks stale; use `i64` and, for the time, `updated_at = \"…\"`",
    );
    assert_mistake(
        &order("version: i32", "version: Option<i32>"),
        "Option<i32>",
        "a version must be an integer: without a value no step could be guarded; make \
             the column NOT NULL",
    );
    assert_mistake(
        &order("version: i32", "version: i128"),
        "i128",
        "a version must be an integer: every step counts it up by one; there are `i8`, \
             `i16`, `i32`, `i64`, `u8`, `u16`, `u32` and `u64`",
    );
    for integer in ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"] {
        sound(&order("version: i32", &format!("version: {integer}")));
    }
}

#[test]
fn a_status_that_is_no_integer() {
    assert_mistake_part(&order("OrderStatus {", "OrderStatus as String {"), "String", "which is the default");
}

#[test]
fn a_status_that_an_i64_does_not_hold() {
    assert_mistake_part(
        &order("OrderStatus {", "OrderStatus as u64 {"),
        "u64",
        "`u64` can not store a status",
    );
}

#[test]
fn a_status_that_does_not_fit() {
    let declaration = r#"
        struct Order in "orders";
        struct OrderRow { id: i64 }
        enum AnyOrder: OrderStatus as u8 { Pending = 0, Paid = -1, Done = 256 }
        transitions { pay: Pending -> Paid; finish: Paid -> Done; }
    "#;
    let told = super::mistakes(declaration);
    assert_eq!(
        told[0],
        (
            "-1".to_owned(),
            "`-1` does not fit into `u8`; choose a number from 0 to 255, or a wider type \
             behind `as`"
                .to_owned(),
        )
    );
    assert_eq!(told[1].0, "256");
    assert_eq!(told.len(), 2);
}

#[test]
fn a_key_that_identifies_nothing() {
    let told = "the first column is the key, and a key is an integer, a text or a Uuid, and every \
         row has one; change the type, or move the key to the top";
    assert_mistake(
        &order("id: i64,\n        order_no", "id: Option<i64>,\n        order_no"),
        "Option<i64>",
        told,
    );
    assert_mistake_part(
        &order("id: i64,\n        order_no", "id: f64,\n        order_no"),
        "f64",
        "a rounded number",
    );
    assert_mistake_part(
        &order("id: i64,\n        order_no", "id: bool,\n        order_no"),
        "bool",
        "two values",
    );
    sound(&order("id: i64,\n        order_no", "id: uuid::Uuid,\n        order_no"));
}

#[test]
fn a_guard_that_is_none() {
    assert_mistake(
        &order("id: i64,\n        order_no", "id: i64 guard,\n        order_no"),
        "id",
        "`id` is the key and is part of every WHERE already; take `guard` out",
    );
    assert_mistake(
        &order("note: Option<String>", "note: Option<String> guard"),
        "Option<String>",
        "`note` joins every WHERE, and a null equals nothing; take the `Option` off, or \
             `guard` out",
    );
    sound(&order("note: Option<String>", "note: Option<String> unique"));
    sound(ORDER);
}

#[test]
fn a_borrowed_column() {
    assert_mistake_part(&order("note: Option<String>", "note: &'a str"), "&'a str", "is owned");
}
