//! What the journal says while others write to it, and about names that look alike.

use super::{AnyOrder, Order, agree, any, entries, orders, paid, pending, row};
use crate::db::{Db, Fixture};
use onward::Policy;
use std::collections::BTreeSet;
use tokio::task::JoinSet;

on_every_database!(a_taken_cause_while_others_write, new_rows_at_once_by_a_request_that_is_taken,);

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
