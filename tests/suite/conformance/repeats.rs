//! The same request again: while the first runs, after it, much later.

use super::lifecycles::{AnyOrder, Orders as _, noon};
use crate::db::{Db, Fixture};
use onward::{Answer, Clash, Outcome};
use std::sync::Arc;
use tokio::sync::Barrier;

on_every_database![
    a_checkout_and_fifty_webhooks_complete_one_order_once,
    a_replayed_callback_is_settled,
    a_second_payment_is_not_a_repeat,
    a_repeat_without_a_handle_is_recognised_however_far_it_has_gone,
    a_stale_submit_does_not_drag_an_approved_document_back,
    one_payment_does_not_settle_two_orders,
    a_refusal_does_not_hide_a_repeat,
    the_database_decides_nothing_about_the_cause,
];

async fn a_checkout_and_fifty_webhooks_complete_one_order_once<B: Db>(db: Fixture<B>) {
    db.orders(1).await;
    let start = Arc::new(Barrier::new(50));
    let mut tasks = Vec::new();
    for _ in 0..50 {
        let (pool, start, order) = (db.pool.clone(), start.clone(), db.pending(1).await);
        tasks.push(tokio::spawn(async move {
            start.wait().await;
            let attempt = order.pay("T-1".into(), noon());
            let effect = async move |tx: &mut B::Connection, _: &_| {
                B::run(tx, "INSERT INTO effects VALUES (1, 'mail')").await.map(drop)
            };
            attempt.apply_with(&pool, effect).await.unwrap()
        }));
    }
    let (mut applied, mut duplicates) = (0, 0);
    for task in tasks {
        match task.await.unwrap() {
            Outcome::Applied(paid) => {
                applied += 1;
                assert_eq!(paid.version(), 1);
            }
            Outcome::Duplicate(found) => {
                duplicates += 1;
                assert_eq!(found.version(), 1);
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((applied, duplicates), (1, 49));
    assert_eq!(db.state(1).await, "paid:1");
    assert_eq!(db.number("SELECT COUNT(*) FROM effects").await, 1);
}

async fn a_replayed_callback_is_settled<B: Db>(db: Fixture<B>) {
    db.orders(1).await;
    let stale = db.pending(1).await;
    db.paid(1, "T-1").await;
    let outcome = stale.pay("T-1".into(), noon()).apply(&db.pool).await.unwrap();
    assert_eq!(outcome.answer(), Answer::Settled);
    let Outcome::Duplicate(AnyOrder::Paid(found)) = outcome else { panic!("{outcome:?}") };
    assert_eq!((found.trade_no.as_str(), found.version()), ("T-1", 1));
}

async fn a_second_payment_is_not_a_repeat<B: Db>(db: Fixture<B>) {
    db.orders(1).await;
    let stale = db.pending(1).await;
    db.paid(1, "T-1").await;
    let outcome = stale.pay("T-2".into(), noon()).apply(&db.pool).await.unwrap();
    assert_eq!(outcome.answer(), Answer::Escalate);
    let Outcome::Conflict(conflict) = outcome else { panic!("{outcome:?}") };
    assert_eq!(conflict.clash, Clash::OtherCause);
    assert_eq!(conflict.found.facts().trade_no.unwrap(), "T-1");
    assert_eq!(db.state(1).await, "paid:1");
}

async fn a_repeat_without_a_handle_is_recognised_however_far_it_has_gone<B: Db>(db: Fixture<B>) {
    db.orders(1).await;
    db.shipped(1, "T-1").await;
    for stage in ["shipped:2", "refunded:3"] {
        assert_eq!(db.state(1).await, stage);
        let same = db.any(1).await.pay("T-1".into(), noon()).apply(&db.pool).await.unwrap();
        assert!(matches!(same, Outcome::Duplicate(_)), "{stage}: {same:?}");
        let other = db.any(1).await.pay("T-2".into(), noon()).apply(&db.pool).await.unwrap();
        assert!(matches!(&other, Outcome::Conflict(c) if c.clash == Clash::OtherCause), "{stage}: {other:?}");
        assert_eq!(db.state(1).await, stage);
        if let AnyOrder::Shipped(order) = db.any(1).await {
            order.refund("R-1".into()).apply(&db.pool).await.unwrap().applied().unwrap();
        }
    }
}

async fn a_stale_submit_does_not_drag_an_approved_document_back<B: Db>(db: Fixture<B>) {
    use super::lifecycles::approvals::*;
    db.tables::<AnyRequest>(REQUESTS).await;
    let row = || RequestRow { id: uuid::Uuid::from_u128(1), cents: 5, asked_by: "a".into(), limit_cents: 9 };
    let stale = Request::create(row()).apply(&db.pool).await.unwrap().applied().unwrap();
    let draft: Request<Draft> = Request::load(&db.pool, row().id).await.unwrap();
    let submitted = draft.submit().apply(&db.pool).await.unwrap().applied().unwrap();
    submitted.approve("b".into(), None).apply(&db.pool).await.unwrap().applied().unwrap();
    let outcome = stale.submit().apply(&db.pool).await.unwrap();
    let Outcome::Duplicate(AnyRequest::Approved(found)) = outcome else { panic!("{outcome:?}") };
    assert_eq!(found.version(), 2);
}

async fn one_payment_does_not_settle_two_orders<B: Db>(db: Fixture<B>) {
    db.orders(2).await;
    let start = Arc::new(Barrier::new(50));
    let mut tasks = Vec::new();
    for caller in 0..50 {
        let (pool, start, order) = (db.pool.clone(), start.clone(), db.pending(1 + caller % 2).await);
        tasks.push(tokio::spawn(async move {
            let id = order.id;
            start.wait().await;
            (id, order.pay("T-1".into(), noon()).apply(&pool).await.unwrap())
        }));
    }
    let mut winner = None;
    let mut losers = Vec::new();
    for task in tasks {
        match task.await.unwrap() {
            (id, Outcome::Applied(_)) => assert_eq!(winner.replace(id), None),
            (id, outcome) => losers.push((id, outcome)),
        }
    }
    let winner = winner.unwrap();
    for (id, outcome) in losers {
        match outcome {
            Outcome::Duplicate(_) => assert_eq!(id, winner),
            Outcome::Conflict(conflict) => {
                assert_eq!((conflict.clash, conflict.holder), (Clash::CauseTaken, Some(winner)));
                assert_eq!(conflict.found.id, id);
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(db.state(3 - winner).await, "pending:0");
}

async fn a_refusal_does_not_hide_a_repeat<B: Db>(db: Fixture<B>) {
    db.orders(1).await;
    let stale = db.pending(1).await;
    db.paid(1, "T-1").await;
    // The deadline has passed since, so the guard would say no.
    let outcome = stale.pay("T-1".into(), noon()).check(|_| false).apply(&db.pool).await.unwrap();
    assert!(matches!(outcome, Outcome::Duplicate(_)), "{outcome:?}");
    let outcome = db.any(1).await.pay("T-1".into(), noon()).check(|_| false).apply(&db.pool).await.unwrap();
    assert!(matches!(outcome, Outcome::Duplicate(_)), "{outcome:?}");
}

async fn the_database_decides_nothing_about_the_cause<B: Db>(db: Fixture<B>) {
    // MariaDB's default collation holds these two for equal; the provider does not.
    db.orders(1).await;
    let stale = db.pending(1).await;
    db.paid(1, "t-abc").await;
    let outcome = stale.pay("T-ABC".into(), noon()).apply(&db.pool).await.unwrap();
    assert!(matches!(&outcome, Outcome::Conflict(c) if c.clash == Clash::OtherCause), "{outcome:?}");
}
