//! What asks for a transition.

use super::{assert_mistake, assert_mistake_part, order, sound};

#[test]
fn a_cause_that_is_no_fact_of_the_target() {
    assert_mistake(
        &order("by trade_no", "by trade_on"),
        "trade_on",
        "`trade_on` is no fact of `Paid`; did you mean `trade_no`?",
    );
    assert_mistake(
        &order("by trade_no", "by provider"),
        "provider",
        "`provider` is no fact of `Paid`; there are `trade_no`, `paid_at` and `channel`",
    );
    assert_mistake(
        &order("-> Completed", "-> Completed by signed_by"),
        "signed_by",
        "`Completed` has no facts; declare the cause there: `Completed { signed_by: \
             String }`, or take `by signed_by` out",
    );
}

#[test]
fn a_cause_that_an_earlier_state_brought() {
    assert_mistake(
        &order("by (refund_no)", "by (refund_no, trade_no)"),
        "trade_no",
        "`trade_no` is known since `Paid`, so it can not tell who asks for `refund`; a \
             cause is brought by the step itself: declare it as a fact of `Refunded`",
    );
}

#[test]
fn a_cause_that_the_row_has() {
    assert_mistake(
        &order("by trade_no", "by order_no"),
        "order_no",
        "`order_no` is a column of `OrderRow`, so it can not tell who asks for `pay`; a \
             cause is brought by the step itself: declare it as a fact of `Paid`",
    );
}

#[test]
fn a_cause_that_may_be_null() {
    assert_mistake(
        &order("by trade_no", "by (channel, trade_no)"),
        "channel",
        "`channel` may be null, and then nobody can tell whether `pay` was already taken \
             for it; take the `Option` off `channel` in `Paid`, or name another fact",
    );
}

#[test]
fn a_cause_that_a_column_may_round() {
    let paid = |ty: &str| order("by trade_no", "by paid_at").replace("DateTime<Utc>", ty);
    assert_mistake(
        &paid("DateTime<Utc>"),
        "paid_at",
        "`paid_at` is a point in time, which a column may round, and then a repeat would look like \
         another cause; name a fact that comes back unchanged: a text, an integer or a Uuid",
    );
    let point =
        ["NaiveDateTime", "time::OffsetDateTime", "PrimitiveDateTime", "std::time::SystemTime", "Instant"];
    for (types, what) in [
        (point.as_slice(), "is a point in time, which a column may round"),
        (&["NaiveTime", "Time"], "is a time of day, which a column may round"),
        (&["f32", "core::primitive::f64"], "is a floating-point number, which a column may round"),
    ] {
        for ty in types {
            assert_mistake_part(&paid(ty), "paid_at", what);
        }
    }
    for ty in ["String", "i64", "Uuid", "rust_decimal::Decimal", "NaiveDate", "Date"] {
        sound(&paid(ty));
    }
}

#[test]
fn a_cause_named_twice() {
    assert_mistake(
        &order("by trade_no", "by (trade_no, trade_no)"),
        "trade_no",
        "`trade_no` is named twice; keep one",
    );
}

#[test]
fn a_cause_that_a_later_state_overwrites() {
    let rejected = "Cancelled { reason: Option<String> }, Reopened { trade_no: String }";
    let declaration = order("Cancelled { reason: Option<String> }", rejected);
    let told = "`trade_no` tells whether `pay` was already taken, and `Reopened` would overwrite \
         it; give it a column of its own";
    // Two steps into one state, with one cause: one mistake.
    let reached = declaration
        .replace("complete: ", "reopen: Shipped -> Reopened; complete: ")
        .replace("ship: ", "pay_late: Pending -> Paid by trade_no; ship: ");
    assert_mistake(&reached, "trade_no", told);
    // Where no path leads from one to the other, they are alternatives.
    sound(&declaration.replace("complete: ", "reopen: Pending -> Reopened; complete: "));
}
