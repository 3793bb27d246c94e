//! Repeats and conflicts, decided by the journal.

use super::{AnyOrder, Order, OrderRow, any, entries, orders, paid, pending, row};
use crate::db::{Db, Fixture};
use onward::{Answer, Clash, ErrorKind, Outcome};
use tokio::task::JoinSet;

on_every_database!(
    a_race_leaves_one_entry,
    one_payment_does_not_settle_two_orders,
    many_steps_later_a_repeat_is_still_a_repeat,
    a_step_without_a_cause_is_told_by_its_name,
    a_cause_given_at_run_time,
    a_cause_has_one_place,
    a_shared_cause_moves_many,
    what_happened_before_the_journal_counts_as_before,
    a_row_behind_its_journal,
);

/// C01, C02 with the journal alone.
async fn a_race_leaves_one_entry<B: Db>(db: Fixture<B>) {
    orders(&db, 1).await;
    let mut orders = Vec::new();
    for _ in 0..20 {
        orders.push(pending(&db, 1).await);
    }
    let mut tasks = JoinSet::new();
    for order in orders {
        let pool = db.pool.clone();
        tasks.spawn(async move { order.pay("T-1".into()).apply(&pool).await.unwrap().as_str() });
    }
    let mut told: Vec<&str> = tasks.join_all().await;
    told.sort_unstable();
    assert_eq!(told[0], "applied");
    assert!(told[1..].iter().all(|told| *told == "duplicate"), "{told:?}");
    assert_eq!(entries(&db, 1).await, ["create:0", "pay:1"]);
}

/// C55 with the journal alone.
async fn one_payment_does_not_settle_two_orders<B: Db>(db: Fixture<B>) {
    orders(&db, 2).await;
    let mut orders = Vec::new();
    for caller in 0..50 {
        orders.push(pending(&db, 1 + caller % 2).await);
    }
    let mut tasks = JoinSet::new();
    for order in orders {
        let pool = db.pool.clone();
        tasks.spawn(async move { order.pay("T-1".into()).apply(&pool).await.unwrap() });
    }
    let outcomes = tasks.join_all().await;
    let applied: Vec<i64> = outcomes
        .iter()
        .filter_map(|outcome| match outcome {
            Outcome::Applied(order) => Some(order.id),
            _ => None,
        })
        .collect();
    let [winner] = applied[..] else { panic!("{applied:?}") };
    let mut taken = 0;
    for outcome in &outcomes {
        match outcome {
            Outcome::Applied(_) => {}
            Outcome::Duplicate(found) => assert_eq!(found.id, winner),
            Outcome::Conflict(conflict) => {
                assert_eq!((conflict.clash, conflict.holder), (Clash::CauseTaken, Some(winner)));
                assert_eq!((conflict.found.id, conflict.found.version()), (3 - winner, 0));
                taken += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(taken, 25);
    assert_eq!(entries(&db, winner).await.len() + entries(&db, 3 - winner).await.len(), 3);
    // Inside a transaction of the caller's it is told as well, and the transaction lives on.
    let mut tx = onward::begin(&db.pool).await.unwrap();
    let outcome = pending(&db, 3 - winner).await.pay("T-1".into()).apply_in(&mut tx).await.unwrap();
    assert_eq!(outcome.as_str(), "cause_taken");
    let outcome = pending(&db, 3 - winner).await.pay("T-2".into()).apply_in(&mut tx).await.unwrap();
    assert_eq!(outcome.as_str(), "applied");
    tx.commit().await.unwrap();
    super::agree(&db).await;
}

async fn many_steps_later_a_repeat_is_still_a_repeat<B: Db>(db: Fixture<B>) {
    orders(&db, 2).await;
    let order = paid(&db, 1, "T-1").await;
    let order = order.ship("parcel-1".into()).apply(&db.pool).await.unwrap().applied().unwrap();
    let _ = order.refund().apply(&db.pool).await.unwrap().applied().unwrap();
    for (trade_no, told, answer) in
        [("T-1", "duplicate", Answer::Settled), ("T-2", "other_cause", Answer::Escalate)]
    {
        let outcome = any(&db, 1).await.pay(trade_no.into()).apply(&db.pool).await.unwrap();
        assert_eq!((outcome.as_str(), outcome.answer()), (told, answer));
    }
    // From the row alone nobody can tell that it was shipped, and by what: the fact may be anybody's.
    let shipped = any(&db, 1).await.ship("parcel-1".into()).apply(&db.pool).await.unwrap();
    assert_eq!(shipped.as_str(), "duplicate");
    let shipped = any(&db, 1).await.ship("parcel-2".into()).apply(&db.pool).await.unwrap();
    assert_eq!(shipped.as_str(), "other_cause");
    // C53: refunded without being shipped.
    let order = paid(&db, 2, "T-2").await;
    let _ = order.refund().apply(&db.pool).await.unwrap().applied().unwrap();
    let outcome = any(&db, 2).await.ship("parcel-1".into()).apply(&db.pool).await.unwrap();
    assert_eq!(outcome.as_str(), "aside");
    assert_eq!(entries(&db, 2).await, ["create:0", "pay:1", "refund:2"]);
}

async fn a_step_without_a_cause_is_told_by_its_name<B: Db>(db: Fixture<B>) {
    orders(&db, 1).await;
    let (late_cancel, late_expire) = (pending(&db, 1).await, pending(&db, 1).await);
    let _ = pending(&db, 1).await.expire().apply(&db.pool).await.unwrap().applied().unwrap();
    // It is cancelled, but not by this step.
    assert_eq!(late_cancel.cancel().apply(&db.pool).await.unwrap().as_str(), "aside");
    assert_eq!(any(&db, 1).await.cancel().apply(&db.pool).await.unwrap().as_str(), "aside");
    assert_eq!(late_expire.expire().apply(&db.pool).await.unwrap().as_str(), "duplicate");
    let mut tx = onward::begin(&db.pool).await.unwrap();
    assert_eq!(any(&db, 1).await.expire().apply_in(&mut tx).await.unwrap().as_str(), "duplicate");
    tx.rollback().await;
}

async fn a_cause_given_at_run_time<B: Db>(db: Fixture<B>) {
    orders(&db, 2).await;
    let cancel = async |id, cause: Option<&str>| {
        let attempt = any(&db, id).await.cancel();
        let attempt = match cause {
            Some(cause) => attempt.cause(cause),
            None => attempt,
        };
        attempt.apply(&db.pool).await.unwrap().as_str()
    };
    assert_eq!(cancel(1, Some("letter-1")).await, "applied");
    assert_eq!(cancel(1, Some("letter-1")).await, "duplicate");
    assert_eq!(cancel(1, Some("letter-2")).await, "other_cause");
    assert_eq!(cancel(1, None).await, "duplicate");
    assert_eq!(cancel(2, Some("letter-1")).await, "cause_taken");
    assert_eq!(cancel(2, None).await, "applied");
    // Somebody cancelled it, but nobody said why.
    assert_eq!(cancel(2, Some("letter-1")).await, "aside");
}

async fn a_cause_has_one_place<B: Db>(db: Fixture<B>) {
    orders(&db, 1).await;
    let error = pending(&db, 1).await.pay("T-1".into()).cause("other").apply(&db.pool).await.unwrap_err();
    assert_eq!((error.kind(), error.row_key()), (ErrorKind::NotDeclared, Some("1")));
    assert_eq!(entries(&db, 1).await, ["create:0"]);

    mod plain {
        onward::lifecycle! {
            pub struct Note in "notes";
            pub struct NoteRow { id: i64 }
            pub enum AnyNote: NoteStatus { Open, Closed }
            transitions { close: Open -> Closed; }
        }
    }
    db.run(
        "CREATE TABLE notes (id BIGINT PRIMARY KEY, status VARCHAR(16) NOT NULL, version BIGINT NOT NULL)",
    )
    .await;
    let note =
        plain::Note::create(plain::NoteRow { id: 1 }).apply(&db.pool).await.unwrap().applied().unwrap();
    let error = note.close().cause("letter").apply(&db.pool).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotDeclared);
    assert!(error.to_string().contains("there is no journal to keep a cause"), "{error}");
}

async fn a_shared_cause_moves_many<B: Db>(db: Fixture<B>) {
    orders(&db, 2).await;
    for id in [1, 2] {
        let order = paid(&db, id, &format!("T-{id}")).await;
        let outcome = order.ship("parcel".into()).apply(&db.pool).await.unwrap();
        assert_eq!(outcome.as_str(), "applied");
    }
    super::agree(&db).await;
}

/// A table that had no journal before keeps working.
async fn what_happened_before_the_journal_counts_as_before<B: Db>(db: Fixture<B>) {
    orders(&db, 1).await;
    let order = paid(&db, 1, "T-1").await;
    let _ = order.ship("parcel".into()).apply(&db.pool).await.unwrap().applied().unwrap();
    db.run("DELETE FROM order_journal").await;
    assert_eq!(any(&db, 1).await.pay("T-1".into()).apply(&db.pool).await.unwrap().as_str(), "duplicate");
    assert_eq!(any(&db, 1).await.pay("T-2".into()).apply(&db.pool).await.unwrap().as_str(), "other_cause");
    let _ = any(&db, 1).await.refund().apply(&db.pool).await.unwrap().applied().unwrap();
    assert_eq!(entries(&db, 1).await, ["refund:3"]);
    assert_eq!(any(&db, 1).await.pay("T-1".into()).apply(&db.pool).await.unwrap().as_str(), "duplicate");
    let history = AnyOrder::history(&db.pool, 1).await.unwrap();
    assert_eq!(history.entries.len(), 1);
}

/// The row was restored from a backup, or deleted and created again: nothing takes effect twice.
async fn a_row_behind_its_journal<B: Db>(db: Fixture<B>) {
    orders(&db, 1).await;
    let _ = paid(&db, 1, "T-1").await;
    db.run("UPDATE orders SET status = 'pending', version = 0, trade_no = NULL").await;
    for trade_no in ["T-1", "T-2"] {
        let outcome = pending(&db, 1).await.pay(trade_no.into()).apply(&db.pool).await.unwrap();
        assert_eq!((outcome.as_str(), outcome.answer()), ("behind", Answer::Later));
    }
    assert_eq!(any(&db, 1).await.version(), 0);
    db.run("DELETE FROM orders").await;
    let again = Order::create(OrderRow { amount_cents: 7, ..row(1) });
    let error = again.apply(&db.pool).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UniqueTaken);
    assert!(error.to_string().contains("the journal knows this key already"), "{error}");
    assert_eq!(db.number("SELECT COUNT(*) FROM orders").await, 0);
}
