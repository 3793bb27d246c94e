//! What the journal says while others write to it, and about names that look alike.

use super::{AnyOrder, Order, agree, any, entries, orders, paid, pending, row};
use crate::db::{Db, Fixture};
use onward::{ErrorKind, Policy};
use std::collections::BTreeSet;
use tokio::task::JoinSet;

on_every_database!(
    an_amendment_for_the_same_cause,
    a_repeat_from_an_old_handle,
    the_same_request_for_another_cause,
    a_taken_cause_while_others_write,
    new_rows_at_once_by_a_request_that_is_taken,
    names_are_told_apart_byte_by_byte,
    names_that_are_too_long,
);

async fn an_amendment_for_the_same_cause<B: Db>(db: Fixture<B>) {
    orders(&db, 2).await;
    let add = async |id, cause: &str| {
        let attempt = any(&db, id).await.amend(|row| row.amount_cents += 10).cause(cause);
        attempt.apply(&db.pool).await.unwrap().as_str()
    };
    assert_eq!(add(1, "L-1").await, "applied");
    assert_eq!(add(1, "L-1").await, "duplicate");
    assert_eq!(add(1, "L-2").await, "applied");
    assert_eq!(add(1, "L-1").await, "duplicate");
    assert_eq!(add(2, "L-1").await, "cause_taken");
    let mut tx = onward::begin(&db.pool).await.unwrap();
    let again = any(&db, 1).await.amend(|row| row.amount_cents += 10).cause("L-1");
    assert_eq!(again.apply_in(&mut tx).await.unwrap().as_str(), "duplicate");
    tx.commit().await.unwrap();
    assert_eq!(entries(&db, 1).await, ["create:0", "amend:1", "amend:2"]);
}

/// Two deliveries of one request have read the row before either wrote, or the row has moved on since.
async fn a_repeat_from_an_old_handle<B: Db>(db: Fixture<B>) {
    orders(&db, 1).await;
    let old = [pending(&db, 1).await, pending(&db, 1).await, pending(&db, 1).await, pending(&db, 1).await];
    let [one, two, three, other] = old;
    let add = |order: Order<super::Pending>, request: &str| {
        order.amend(|row| row.amount_cents += 10).request_id(request)
    };
    assert_eq!(add(one, "R-1").apply(&db.pool).await.unwrap().as_str(), "applied");
    assert_eq!(add(two, "R-1").apply(&db.pool).await.unwrap().as_str(), "duplicate");
    assert_eq!(add(other, "R-2").apply(&db.pool).await.unwrap().as_str(), "stale");
    // A guard that says no to what the request itself has made.
    let checked = add(pending(&db, 1).await, "R-1").check(|order| order.amount_cents == 500);
    assert_eq!(checked.apply(&db.pool).await.unwrap().as_str(), "duplicate");
    let checked = add(pending(&db, 1).await, "R-2").check(|order| order.amount_cents == 500);
    assert_eq!(checked.apply(&db.pool).await.unwrap().as_str(), "refused");
    let _ = paid(&db, 1, "T-1").await;
    let mut tx = onward::begin(&db.pool).await.unwrap();
    assert_eq!(add(three, "R-1").apply_in(&mut tx).await.unwrap().as_str(), "duplicate");
    tx.commit().await.unwrap();
    assert_eq!(entries(&db, 1).await, ["create:0", "amend:1", "pay:2"]);
}

async fn the_same_request_for_another_cause<B: Db>(db: Fixture<B>) {
    orders(&db, 1).await;
    for (cause, told) in [("L-1", "applied"), ("L-1", "duplicate"), ("L-2", "other_cause")] {
        let attempt = any(&db, 1).await.cancel().cause(cause).request_id("R-1");
        assert_eq!(attempt.apply(&db.pool).await.unwrap().as_str(), told);
    }
}

async fn a_taken_cause_while_others_write<B: Db>(db: Fixture<B>) {
    orders(&db, 2).await;
    let _ = paid(&db, 1, "T-1").await;
    let mut tasks = JoinSet::new();
    let pool = db.pool.clone();
    tasks.spawn(async move {
        for _ in 0..200 {
            let order = AnyOrder::find(&pool, 2).await.unwrap().unwrap();
            let attempt = order.amend(|row| row.amount_cents += 1).policy(Policy::retry(60));
            let _ = attempt.apply(&pool).await.unwrap();
        }
        BTreeSet::new()
    });
    for _ in 0..4 {
        let pool = db.pool.clone();
        tasks.spawn(async move {
            let mut told = BTreeSet::new();
            for _ in 0..100 {
                let order = AnyOrder::find(&pool, 2).await.unwrap().unwrap();
                told.insert(order.pay("T-1".into()).apply(&pool).await.unwrap().as_str());
            }
            told
        });
    }
    let told: BTreeSet<_> = tasks.join_all().await.into_iter().flatten().collect();
    assert!(told.iter().all(|told| ["cause_taken", "stale"].contains(told)), "{told:?}");
    agree(&db).await;
}

async fn new_rows_at_once_by_a_request_that_is_taken<B: Db>(db: Fixture<B>) {
    orders(&db, 1).await;
    let _ = pending(&db, 1).await.pay("T-1".into()).request_id("R-1").apply(&db.pool).await.unwrap();
    for id in 10..60 {
        let mut tasks = JoinSet::new();
        for caller in 0..6 {
            let pool = db.pool.clone();
            tasks.spawn(async move {
                let new = Order::create(row(id));
                let new = if caller % 2 == 0 { new.request_id("R-1") } else { new };
                new.apply(&pool).await.map(|outcome| outcome.as_str())
            });
        }
        let told: Vec<_> = tasks.join_all().await.into_iter().map(Result::unwrap).collect();
        assert_eq!(told.iter().filter(|told| **told == "applied").count(), 1, "{told:?}");
    }
    agree(&db).await;
}

async fn names_are_told_apart_byte_by_byte<B: Db>(db: Fixture<B>) {
    let names = ["T-1", "T-1 ", "t-1", "T-\u{301}1", " T-1"];
    orders(&db, 5).await;
    for (id, name) in (1..).zip(names) {
        let attempt = pending(&db, id).await.pay(name.into()).request_id(name).actor(name);
        assert_eq!(attempt.apply(&db.pool).await.unwrap().as_str(), "applied", "{name:?}");
        let history = AnyOrder::history(&db.pool, id).await.unwrap();
        let entry = &history.entries[1];
        let kept = [&entry.cause, &entry.request_id, &entry.actor].map(|kept| kept.as_deref());
        assert_eq!(kept, [Some(name); 3]);
    }
}

/// A server without strict mode would cut them off.
async fn names_that_are_too_long<B: Db>(db: Fixture<B>) {
    orders(&db, 1).await;
    let mut connection = db.pool.acquire().await.unwrap();
    if B::ENGINE == "mariadb" {
        B::run(&mut connection, "SET sql_mode = ''").await.unwrap();
    }
    let (most, more) = ("é".repeat(256), "é".repeat(257));
    for (place, what) in ["cause", "request id", "actor"].into_iter().enumerate() {
        let named = |name: &str, order: AnyOrder| {
            let attempt = order.amend(|row| row.amount_cents += 10);
            match place {
                0 => attempt.cause(name),
                1 => attempt.request_id(name),
                _ => attempt.actor(name),
            }
        };
        let error = named(&more, any(&db, 1).await).apply(&mut connection).await.unwrap_err();
        assert_eq!((error.kind(), error.table()), (ErrorKind::TooLong, "order_journal"));
        assert!(error.to_string().contains(&format!("the {what} has 514 bytes")), "{error}");
        let outcome = named(&most, any(&db, 1).await).apply(&mut connection).await.unwrap();
        assert_eq!(outcome.as_str(), "applied");
    }
    assert_eq!(entries(&db, 1).await, ["create:0", "amend:1", "amend:2", "amend:3"]);
}

/// On MySQL a locking read of what is not there locks the gap.
#[cfg(feature = "mysql")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_loser_in_an_open_transaction_holds_up_no_other_row() {
    let db = sqlx::MySql::fresh(3).await;
    orders(&db, 2).await;
    let _ = pending(&db, 1).await.expire().apply(&db.pool).await.unwrap().applied().unwrap();
    let mut tx = onward::begin(&db.pool).await.unwrap();
    for _ in 0..30 {
        assert_eq!(any(&db, 1).await.cancel().apply_in(&mut tx).await.unwrap().as_str(), "aside");
    }
    let attempt = pending(&db, 2).await.pay("T-1".into());
    let limit = std::time::Duration::from_secs(10);
    let outcome = tokio::time::timeout(limit, attempt.apply(&db.pool)).await.unwrap().unwrap();
    assert_eq!(outcome.as_str(), "applied");
    tx.rollback().await;
}
