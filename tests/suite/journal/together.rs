//! A write and its entry: both or neither.

use super::{AnyOrder, Order, agree, any, entries, orders, paid, pending, row};
use crate::db::{Db, Fixture};
use onward::{BoxError, ErrorKind, Outcome, Policy};
use tokio::task::JoinSet;

on_every_database!(
    losers_write_nothing,
    work_that_fails_leaves_no_entry,
    every_way_to_try_keeps_an_entry,
    a_journal_that_is_not_there,
    a_borrowed_connection,
    amendments_that_race,
);

/// C03.
async fn losers_write_nothing<B: Db>(db: Fixture<B>) {
    orders(&db, 1).await;
    let (stale, behind) = (pending(&db, 1).await, pending(&db, 1).await);
    let _ = paid(&db, 1, "T-1").await;
    let count = async || db.number("SELECT COUNT(*) FROM order_journal").await;
    assert_eq!(count().await, 2);
    assert_eq!(stale.pay("T-2".into()).apply(&db.pool).await.unwrap().as_str(), "other_cause");
    let mut tx = onward::begin(&db.pool).await.unwrap();
    assert_eq!(behind.expire().apply_in(&mut tx).await.unwrap().as_str(), "aside");
    tx.commit().await.unwrap();
    assert_eq!(Order::create(row(1)).apply(&db.pool).await.unwrap().as_str(), "duplicate");
    assert_eq!(count().await, 2);
    agree(&db).await;
}

/// C18.
async fn work_that_fails_leaves_no_entry<B: Db>(db: Fixture<B>) {
    orders(&db, 1).await;
    let outcome = pending(&db, 1)
        .await
        .pay("T-1".into())
        .apply_with(&db.pool, async |tx, paid| {
            B::run(tx, &format!("INSERT INTO effects VALUES ({})", paid.id)).await?;
            Err::<(), BoxError>("no stock".into())
        })
        .await;
    assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Effect);
    let Outcome::Applied(won) = pending(&db, 1).await.pay("T-1".into()).begin(&db.pool).await.unwrap() else {
        panic!("lost")
    };
    let order = won.rollback().await.unwrap();
    let Outcome::Applied(won) = order.pay("T-1".into()).begin(&db.pool).await.unwrap() else {
        panic!("lost")
    };
    drop(won);
    let mut tx = onward::begin(&db.pool).await.unwrap();
    let outcome = pending_in(&mut tx).await.pay("T-1".into()).apply_in(&mut tx).await.unwrap();
    assert_eq!(outcome.as_str(), "applied");
    tx.rollback().await;
    assert_eq!(entries(&db, 1).await, ["create:0"]);
    assert_eq!(db.number("SELECT COUNT(*) FROM effects").await, 0);
    agree(&db).await;
}

async fn pending_in<B: Db>(tx: &mut onward::Transaction<B>) -> Order<super::Pending> {
    Order::load(tx, 1).await.unwrap()
}

async fn every_way_to_try_keeps_an_entry<B: Db>(db: Fixture<B>) {
    orders(&db, 3).await;
    let work = async |tx: &mut B::Connection, paid: &Order<super::Paid>| {
        B::run(tx, &format!("INSERT INTO effects VALUES ({})", paid.id)).await.map(drop)
    };
    let outcome = pending(&db, 1).await.pay("T-1".into()).apply_with(&db.pool, work).await.unwrap();
    assert_eq!(outcome.as_str(), "applied");
    let Outcome::Applied(won) = pending(&db, 2).await.pay("T-2".into()).begin(&db.pool).await.unwrap() else {
        panic!("lost")
    };
    let _ = won.commit().await.unwrap();
    let mut tx = onward::begin(&db.pool).await.unwrap();
    let order = pending(&db, 3).await.pay("T-3".into()).apply_in(&mut tx).await.unwrap().applied().unwrap();
    let order = order.then_in(&mut tx, |order| order.ship("parcel".into())).await.unwrap().applied().unwrap();
    tx.commit().await.unwrap();
    assert_eq!(order.version(), 2);
    for (id, told) in [(1, ["create:0", "pay:1"]), (2, ["create:0", "pay:1"])] {
        assert_eq!(entries(&db, id).await, told);
    }
    assert_eq!(entries(&db, 3).await, ["create:0", "pay:1", "ship:2"]);
    agree(&db).await;
}

async fn a_journal_that_is_not_there<B: Db>(db: Fixture<B>) {
    orders(&db, 1).await;
    db.run("DROP TABLE order_journal").await;
    let error = pending(&db, 1).await.pay("T-1".into()).apply(&db.pool).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Database);
    let error = Order::create(row(2)).apply(&db.pool).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Database);
    let error = AnyOrder::history(&db.pool, 1).await.unwrap_err();
    assert_eq!((error.kind(), error.table()), (ErrorKind::Database, "order_journal"));
    assert_eq!(any(&db, 1).await.version(), 0);
    assert_eq!(db.number("SELECT COUNT(*) FROM orders").await, 1);
}

/// A future dropped on a connection of the caller's leaves it usable, and the row unmoved or moved with its entry.
async fn a_borrowed_connection<B: Db>(db: Fixture<B>) {
    orders(&db, 40).await;
    let mut connection = db.pool.acquire().await.unwrap();
    for id in 1..=40_i64 {
        let order = pending(&db, id).await;
        if id % 2 == 0 {
            let outcome = order.pay(format!("T-{id}")).apply(&mut connection).await.unwrap();
            assert_eq!(outcome.as_str(), "applied");
            continue;
        }
        let attempt = order.pay(format!("T-{id}")).apply(&mut connection);
        let limit = std::time::Duration::from_micros(40 * u64::try_from(id).unwrap());
        let dropped = tokio::time::timeout(limit, attempt).await.is_err();
        if dropped && B::ENGINE != "sqlite" {
            // On a server a statement given up halfway leaves its reply behind: the connection is done for.
            drop(connection.detach());
            connection = db.pool.acquire().await.unwrap();
        }
    }
    drop(connection);
    // What was on its way may come to its end yet.
    for _ in 0..100 {
        let open = db.number("SELECT COUNT(*) FROM orders WHERE status = 'paid'").await;
        let entries = db.number("SELECT COUNT(*) FROM order_journal WHERE transition = 'pay'").await;
        if open == entries {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    agree(&db).await;
}

/// C65.
async fn amendments_that_race<B: Db>(db: Fixture<B>) {
    orders(&db, 1).await;
    let mut tasks = JoinSet::new();
    for _ in 0..10 {
        let (pool, order) = (db.pool.clone(), pending(&db, 1).await);
        tasks.spawn(async move {
            let attempt = order.amend(|row| row.amount_cents += 10).policy(Policy::retry(60));
            attempt.apply(&pool).await.unwrap().as_str()
        });
    }
    let told = tasks.join_all().await;
    assert!(told.iter().all(|told| *told == "applied"), "{told:?}");
    assert_eq!(db.number("SELECT amount_cents FROM orders").await, 600);
    assert_eq!(entries(&db, 1).await.len(), 11);
    agree(&db).await;
}
