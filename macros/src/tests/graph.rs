//! Where the transitions lead.

use super::{assert_mistake, assert_mistake_part, mistakes, order, sound};

#[test]
fn a_transition_that_points_back() {
    let declaration = order(
        "complete: Shipped        -> Completed;",
        "complete: Shipped -> Completed; reopen: Shipped | Completed -> Paid;",
    );
    let told = mistakes(&declaration);
    assert_eq!(told.len(), 2);
    assert_eq!(told[0].0, "Paid");
    assert_eq!(
        told[0].1,
        "`reopen` points back from `Shipped` to `Paid`: a lifecycle only moves forward. \
             If `Shipped` really comes first, declare it above `Paid`; for rework, create a \
             new row that refers to the old one"
    );
}

#[test]
fn a_transition_to_the_first_state() {
    assert_mistake(
        &order("complete: ", "reopen: Paid -> Pending; complete: "),
        "Pending",
        "`Pending` is the first state, in which a row is created, so no transition leads \
             to it. If another state comes first, declare that one first; for rework, create \
             a new row that refers to the old one",
    );
}

#[test]
fn a_transition_to_itself() {
    assert_mistake(
        &order("Shipped        -> Completed", "Shipped | Completed -> Completed"),
        "Completed",
        "`complete` points from `Completed` to itself: a transition moves forward. To \
             change columns without a new state, amend the row; if something has happened, \
             give it a state of its own",
    );
}

#[test]
fn a_source_named_twice() {
    assert_mistake(
        &order("Paid | Shipped", "Paid | Shipped | Paid"),
        "Paid",
        "`refund` names `Paid` twice; keep one",
    );
}

#[test]
fn a_state_that_nothing_reaches() {
    assert_mistake(
        &order("cancel:   Pending        -> Cancelled;", ""),
        "Cancelled",
        "no transition leads to `Cancelled`; add one (`name: Pending -> Cancelled;`), or \
             take the state out",
    );
}

#[test]
fn a_source_that_lacks_what_the_target_builds_on() {
    assert_mistake(
        &order("Paid | Shipped", "Paid | Shipped | Pending"),
        "Pending",
        "`Refunded` builds on `Paid`, but `Pending` does not, and a row in `Pending` lacks \
         `trade_no`, `paid_at` and `channel`. Take `Pending` out of `refund`, or take `: Paid` off \
         `Refunded`",
    );
    // A source between the two could build on the same.
    let onward = order("Paid | Shipped", "Paid | Shipped | Held");
    let onward = onward.replace("Refunded: Paid {", "Held, Refunded: Paid {");
    assert_mistake_part(
        &onward.replace("cancel: ", "hold: Pending -> Held; cancel: "),
        "Held",
        "Take `Held` out of `refund`, let `Held` build on `Paid` too (`Held: Paid`), or",
    );
    // Known through another state is known.
    sound(&order("Paid | Shipped", "Paid | Shipped | Completed"));
}

#[test]
fn a_base_that_cannot_be() {
    assert_mistake(
        &order("Paid { trade_no", "Paid: Shipped { trade_no").replace("Shipped: Paid {", "Shipped {"),
        "Shipped",
        "`Paid` builds on `Shipped`, which is declared below it; declare `Shipped` above \
             `Paid`, since it comes first",
    );
    assert_mistake(
        &order("Completed: Shipped", "Completed: Completed"),
        "Completed",
        "`Completed` can not build on itself; name a state above it, or take `: Completed` out",
    );
    assert_mistake(
        &order("Pending,", "Pending: Paid,"),
        "Paid",
        "`Pending` is the first state, and nothing comes before it; take `: Paid` out",
    );
}

#[test]
fn an_unknown_state() {
    assert_mistake(
        &order("pay:      Pending ", "pay: Pendign "),
        "Pendign",
        "`Pendign` is no state of this lifecycle; did you mean `Pending`?",
    );
    assert_mistake(
        &order("-> Completed", "-> Complete"),
        "Complete",
        "`Complete` is no state of this lifecycle; did you mean `Completed`?",
    );
    assert_mistake(
        &order("Completed: Shipped", "Completed: Shiped"),
        "Shiped",
        "`Shiped` is no state of this lifecycle; did you mean `Shipped`?",
    );
    assert_mistake(
        &order("-> Completed", "-> Xyz"),
        "Xyz",
        "`Xyz` is no state of this lifecycle; there are `Pending`, `Paid`, `Shipped`, \
             `Completed`, `Refunded` and `Cancelled`",
    );
}
