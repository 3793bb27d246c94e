//! Columns of the row and facts.

use super::{assert_mistake, assert_mistake_part, order, sound};

#[test]
fn a_column_declared_twice() {
    assert_mistake(
        &order("note: Option<String>", "order_no: Option<String>"),
        "order_no",
        "`OrderRow` already has `order_no`; take this out, or choose another name",
    );
    assert_mistake(
        &order("note: Option<String>", "note: Option<String> = \"Order_No\""),
        "\"Order_No\"",
        "the column `order_no` is already `order_no` of `OrderRow`; take this out, or \
             give it another column",
    );
}

#[test]
fn a_column_that_is_the_lifecycles_own() {
    assert_mistake(
        &order("note: Option<String>", "state: String"),
        "state",
        "the column `state` is the lifecycle's `status`, which only its steps write; \
             take `state` out, or give it another column",
    );
    assert_mistake_part(
        &order("note: Option<String>", "note: i32 = \"LOCK_VERSION\""),
        "\"LOCK_VERSION\"",
        "the lifecycle's `version`",
    );
    assert_mistake_part(&order("paid_at: ", "modified_at: "), "modified_at", "the lifecycle's `updated_at`");
    assert_mistake(
        &order("\"modified_at\"", "\"state\""),
        "\"state\"",
        "the column `state` is `status` already; `updated_at` needs a column of its own",
    );
}

#[test]
fn a_reserved_field() {
    assert_mistake(
        &order("note: Option<String>", "status: String"),
        "status",
        "no field can be named `status`: a handle answers and serialises its status \
             under this name. If it is another thing, rename the field and keep its column: \
             `other_status: … = \"status\"`",
    );
    assert_mistake_part(&order("paid_at: ", "row: "), "row", "no field can be named `row`");
    assert_mistake_part(&order("paid_at: ", "r#version: "), "r#version", "no field can be named `version`");
}

#[test]
fn a_fact_that_is_a_column_of_the_row() {
    assert_mistake(
        &order("paid_at: ", "note: "),
        "note",
        "`OrderRow` already has `note`; take this out, or choose another name",
    );
    assert_mistake_part(
        &order("tracking_no: String", "tracking_no: String = \"CUST_NO\""),
        "\"CUST_NO\"",
        "is already `customer_id` of `OrderRow`",
    );
}

#[test]
fn a_fact_that_its_branch_has() {
    assert_mistake(
        &order("Completed: Shipped", "Completed: Shipped { paid_at: DateTime<Utc> }"),
        "paid_at",
        "`Completed` knows `paid_at` from `Paid`, on which it builds; take this out, or \
             choose another name and column",
    );
    assert_mistake(
        &order("channel: Option<String>", "paid_at: DateTime<Utc>"),
        "paid_at",
        "`Paid` has two facts named `paid_at`; rename one, or take one out",
    );
    assert_mistake(
        &order("Completed: Shipped", "Completed: Shipped { seen_at: DateTime<Utc> = \"paid_at\" }"),
        "\"paid_at\"",
        "the column `paid_at` is already `paid_at` of `Paid`; use that name here, or \
             give `seen_at` a column of its own",
    );
}

#[test]
fn a_fact_of_two_branches_is_one_fact() {
    let reason = "Cancelled { reason: Option<String> }";
    assert_mistake(
        &order(reason, "Cancelled { reason: String }"),
        "String",
        "`reason` is `Option<String>` in `Refunded`: a fact has one type throughout; \
             use that type here, or choose another name and column",
    );
    assert_mistake_part(
        &order(reason, "Cancelled { reason: Option<String> = \"why\" }"),
        "\"why\"",
        "a fact has one column throughout",
    );
    assert_mistake_part(
        &order(reason, "Cancelled { reason: Option<String> unique }"),
        "reason",
        "is not unique in `Refunded`",
    );
    assert_mistake_part(
        &order(reason, "Cancelled { why: Option<String> = \"reason\" }"),
        "\"reason\"",
        "is already `reason` of `Refunded`",
    );
    sound(&order(reason, "Cancelled { reason: Option<String> = \"Reason\" }"));
}
