//! Several sweeps at once, many rows, and rows that cannot be moved.

use super::HOUR;
use crate::{
    db::{Db, Fixture},
    lifecycles::{AnyOrder, Order, Pending, noon},
};
use onward::{BoxError, ErrorKind, sweep::Sweep};
use std::sync::Mutex;
use tokio::task::JoinSet;

on_every_database![
    each_row_moves_once,
    thousands_of_rows_and_some_that_always_fail,
    paid_by_the_work_of_another_row,
    work_that_keeps_something_and_fails,
];

/// On a cluster each sweep is on a node of its own: there the work of a loser fails at its COMMIT, and is done by nobody.
async fn each_row_moves_once<B: Db>(db: Fixture<B>) {
    db.old_orders(30).await;
    let mut sweeps = JoinSet::new();
    for node in 0..4 {
        let pool = sqlx::Pool::<B>::connect(&db.nodes[node % db.nodes.len()]).await.unwrap();
        sweeps.spawn(async move {
            let work = async move |tx: &mut B::Connection, order: &Order<crate::lifecycles::Cancelled>| {
                B::run(tx, &format!("INSERT INTO effects VALUES ({}, 'told')", order.id)).await.map(drop)
            };
            Sweep::<Pending>::older_than(HOUR).page(7).run_with(&pool, |order| order.cancel(), work).await
        });
    }
    let mut applied = 0;
    for swept in sweeps.join_all().await {
        let swept = swept.unwrap();
        assert_eq!((swept.lost, swept.failed), (0, 0), "{swept:?}");
        applied += swept.applied;
    }
    assert_eq!((applied, db.cancelled().await), (30, 30));
    assert_eq!(db.number("SELECT COUNT(*) FROM effects").await, 30);
    assert_eq!(db.number("SELECT COUNT(DISTINCT order_id) FROM effects").await, 30);
}

async fn thousands_of_rows_and_some_that_always_fail<B: Db>(db: Fixture<B>) {
    const ORDERS: i64 = 2_000;
    db.old_rows(ORDERS).await;
    for round in [ORDERS, 20] {
        let failures = Mutex::new(Vec::new());
        let sweep = Sweep::<Pending>::older_than(HOUR).failure(|error| {
            failures.lock().unwrap().push((error.row_key().map(str::to_owned), error.kind()));
        });
        let work = async |_: &mut B::Connection, order: &Order<crate::lifecycles::Cancelled>| {
            if order.id % 100 == 0 { Err("no") } else { Ok(()) }
        };
        let swept = sweep.run_with(&db.pool, |order| order.cancel(), work).await.unwrap();
        assert_eq!((swept.applied as i64, swept.passed, swept.failed), (round - 20, 0, 20));
        let failures = failures.into_inner().unwrap();
        assert_eq!(failures.len(), 20);
        assert_eq!(failures[19], (Some(ORDERS.to_string()), ErrorKind::Effect));
    }
    assert_eq!(db.cancelled().await, ORDERS - 20);
}

/// Its key was read before.
async fn paid_by_the_work_of_another_row<B: Db>(db: Fixture<B>) {
    db.old_orders(2).await;
    let work = async |tx: &mut B::Connection, order: &Order<crate::lifecycles::Cancelled>| {
        assert_eq!(order.id, 1);
        let other = AnyOrder::lock(tx, 2).await?.unwrap();
        let _ = other.pay("T-2".into(), noon()).apply_in(tx).await?.applied()?;
        Ok::<_, BoxError>(())
    };
    let swept =
        Sweep::<Pending>::older_than(HOUR).run_with(&db.pool, |order| order.cancel(), work).await.unwrap();
    assert_eq!((swept.applied, swept.passed), (1, 1));
    assert_eq!((db.state(1).await.as_str(), db.state(2).await.as_str()), ("cancelled:1", "paid:1"));
}

/// A COMMIT of its own, or DDL: whoever hears of the failure must not take the row for one that stayed.
async fn work_that_keeps_something_and_fails<B: Db>(db: Fixture<B>) {
    db.old_orders(1).await;
    let keeps = if B::ENGINE == "mariadb" { "CREATE TABLE ddl (i INT)" } else { "COMMIT" };
    let mut failures = Vec::new();
    let swept = Sweep::<Pending>::older_than(HOUR)
        .failure(|error| failures.push(error.kind()))
        .run_with(
            &db.pool,
            |order| order.cancel(),
            async |tx, _| {
                let _ = B::run(tx, keeps).await;
                Err::<(), _>("no")
            },
        )
        .await
        .unwrap();
    assert_eq!(swept.failed, 1);
    let (kind, state) = match B::ENGINE {
        // Nothing but our own COMMIT can keep anything there.
        "sqlite" => (ErrorKind::Effect, "pending:0"),
        _ => (ErrorKind::TransactionLost, "cancelled:1"),
    };
    assert_eq!((failures, db.state(1).await.as_str()), (vec![kind], state));
}
