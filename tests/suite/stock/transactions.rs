//! In transactions of the caller's, with snapshots older than what others have done since; and dropped futures.

use super::{
    Call::{self, Confirm, Deduct, Release, Reserve, Restore},
    STOCK, by, called, told,
};
use crate::{
    db::{Db, Fixture},
    lifecycles::{Order, Pending, noon},
};
use onward::{
    BoxError, ErrorKind,
    stock::{Line, Moved, Operation, StockError},
};
use std::time::Duration;

on_every_database![a_snapshot_that_is_old, dropped_anywhere];

/// Each way to begin a transaction, with a read that takes the snapshot.
fn beginnings<B: Db>() -> &'static [&'static str] {
    match B::ENGINE {
        "sqlite" => &["SELECT 1"],
        "postgres" => &[
            "SET TRANSACTION ISOLATION LEVEL READ COMMITTED",
            "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
            "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
        ],
        _ => &[
            "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
            "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
            "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE",
        ],
    }
}

/// Another caller is faster, after this one has read what there is: with the same operation, or with the last of it.
async fn a_snapshot_that_is_old<B: Db>(db: Fixture<B>) {
    db.goods(0).await;
    let mut order = 0;
    for beginning in beginnings::<B>() {
        for (call, before) in [
            (Deduct, None),
            (Reserve, None),
            (Confirm, Some(Reserve)),
            (Release, Some(Reserve)),
            (Restore, Some(Deduct)),
        ] {
            for same in [true, false] {
                // The rival takes three of five; the other three are one too many.
                db.run("UPDATE goods SET available = 5, stocked = 5, reserved = 0 WHERE article = 'cup'")
                    .await;
                db.run("DELETE FROM onward_stock_ledger").await;
                order += 1;
                let name =
                    |call, name: &'static str| by(order, if matches!(call, Release) { "r" } else { name });
                if let Some(before) = before {
                    assert_eq!(told(db.call(before, &by(order, "r"), &[("cup", 3)]).await), [1, 0, 0]);
                }
                let mut connection = db.pool.acquire().await.unwrap();
                if B::ENGINE == "mariadb" {
                    B::run(&mut connection, beginning).await.unwrap();
                }
                let mut tx = sqlx::Connection::begin(&mut *connection).await.unwrap();
                if B::ENGINE != "mariadb" {
                    B::run(&mut tx, beginning).await.unwrap();
                }
                let seen = if beginning.ends_with("SERIALIZABLE") && B::ENGINE == "mariadb" {
                    // Every read takes locks there, and the rival would wait.
                    "SELECT 3"
                } else {
                    "SELECT CAST(COUNT(*) AS {bigint}) FROM goods, onward_stock_ledger"
                };
                let bigint = if B::ENGINE == "mariadb" { "SIGNED" } else { "BIGINT" };
                B::numbers(&mut tx, &seen.replace("{bigint}", bigint)).await.unwrap();

                assert_eq!(told(db.call(call, &name(call, "rival"), &[("cup", 3)]).await), [1, 0, 0]);
                let mine = name(call, if same { "rival" } else { "mine" });
                let done = called(&mut tx, call, &mine, &[Line::new("cup", 3)]).await;
                let context = format!("{beginning}, {call:?}, {same}: {done:?}");
                match &done {
                    Ok(Moved { moved: 0, repeated: 1, .. }) => {
                        assert!(same || matches!(call, Release), "{context}");
                    }
                    Err(StockError::Shortage { available: 2, .. }) => {
                        assert!(!same && matches!(call, Deduct | Reserve), "{context}");
                    }
                    Err(StockError::NotHeld { held: 0, .. } | StockError::NotTaken { taken: 0, .. }) => {
                        assert!(!same && before.is_some(), "{context}");
                    }
                    Err(StockError::Fault(error)) => {
                        assert_eq!(error.kind(), ErrorKind::RestartTransaction, "{context}");
                        assert!(!beginning.ends_with("COMMITTED"), "{context}");
                    }
                    _ => panic!("{context}"),
                }
                let _ = tx.commit().await;
                db.agrees().await;
                drop(connection);
            }
        }
    }
}

/// Each order has all of its goods or none, and the pool is in order.
async fn dropped_anywhere<B: Db>(db: Fixture<B>) {
    const ORDERS: i64 = 60;
    db.goods(ORDERS).await;
    db.run("UPDATE goods SET available = 1000, stocked = 1000").await;
    for id in 1..=ORDERS {
        let order: Order<Pending> = Order::load(&db.pool, id).await.unwrap();
        let paid = order.pay(format!("T-{id}"), noon()).apply_with(&db.pool, async |tx, paid| {
            let operation = Operation::of(paid);
            STOCK.reserve(tx, &operation, &[Line::new("cup", 1), Line::new("tea", 2)]).await?;
            STOCK.confirm(tx, &operation, &[Line::new("cup", 1), Line::new("tea", 2)]).await?;
            Ok::<_, BoxError>(())
        });
        let _ = tokio::time::timeout(Duration::from_micros(250 * id.unsigned_abs()), paid).await;
    }
    // What was given up may still be on its way.
    let settled = async || {
        let paid = db.number("SELECT COUNT(*) FROM orders WHERE state = 'paid'").await;
        (paid, db.entries().await, db.stock("cup").await, db.stock("tea").await)
    };
    let mut before = settled().await;
    loop {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let now = settled().await;
        if now == before {
            break;
        }
        before = now;
    }
    let (paid, entries, cup, tea) = before;
    assert_eq!(
        (entries, cup, tea),
        (4 * paid, format!("{} 0", 1000 - paid), format!("{} 0", 1000 - 2 * paid))
    );
    db.agrees().await;
    for _ in 0..20 {
        assert_eq!(told(db.call(Call::Deduct, &by(1, "last"), &[("pot", 1)]).await)[2], 0);
    }
}
