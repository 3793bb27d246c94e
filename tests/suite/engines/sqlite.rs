//! What only SQLite does, or in its own way.

use super::no_effect;
use crate::{
    db::Db,
    lifecycles::{AnyOrder, noon},
};
use onward::ErrorKind;
use sqlx::Sqlite;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn our_transactions_begin_immediate() {
    let db = Sqlite::fresh(10).await;
    db.orders(10).await;
    let mut tasks = Vec::new();
    for id in 1..=10 {
        let (pool, order) = (db.pool.clone(), db.pending(id).await);
        tasks.push(tokio::spawn(async move {
            // Reads, waits and writes: a deferred transaction would fail at once.
            let work = async move |tx: &mut sqlx::SqliteConnection, _: &_| -> Result<(), sqlx::Error> {
                Sqlite::numbers(tx, "SELECT available FROM stock").await?;
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
                Sqlite::run(tx, "INSERT INTO effects VALUES (1, 'mail')").await.map(drop)
            };
            order.pay(format!("T-{id}"), noon()).apply_with(&pool, work).await
        }));
    }
    for task in tasks {
        task.await.unwrap().unwrap().applied().unwrap();
    }
    assert_eq!(db.number("SELECT COUNT(*) FROM effects").await, 10);
}

#[tokio::test]
async fn a_callers_deferred_transaction_must_restart() {
    let db = Sqlite::fresh(5).await;
    db.orders(2).await;
    let mut tx = db.pool.begin().await.unwrap();
    let order = AnyOrder::find(&mut tx, 1).await.unwrap().unwrap();
    db.paid(2, "T-2").await;
    let error = AnyOrder::lock(&mut tx, 1).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RestartTransaction);
    let error = order.pay("T-1".into(), noon()).apply_in(&mut tx).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RestartTransaction);
    tx.rollback().await.unwrap();
    assert_eq!(db.state(1).await, "pending:0");
}

#[tokio::test]
async fn busy_for_good_is_busy() {
    let db = Sqlite::fresh(5).await;
    db.orders(1).await;
    let order = db.pending(1).await;
    let options: sqlx::sqlite::SqliteConnectOptions = db.url.parse().unwrap();
    let hasty =
        sqlx::SqlitePool::connect_with(options.busy_timeout(std::time::Duration::ZERO)).await.unwrap();
    let held = onward::begin(&db.pool).await.unwrap();
    let error = order.pay("T-1".into(), noon()).apply(&hasty).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy, "{error:?}");
    let error = onward::begin(&hasty).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy);
    held.rollback().await;
    assert_eq!(db.state(1).await, "pending:0");
}

#[tokio::test]
async fn a_trigger_that_eats_the_update() {
    let db = Sqlite::fresh(5).await;
    db.orders(1).await;
    let (order, other) = (db.pending(1).await, db.pending(1).await);
    db.run("CREATE TRIGGER eat BEFORE UPDATE ON orders BEGIN SELECT RAISE(IGNORE); END").await;
    no_effect(order, other, &db).await;
}

#[tokio::test]
async fn a_misspelt_column_is_an_error() {
    let db = Sqlite::fresh(2).await;
    db.orders(1).await;
    let order = db.pending(1).await;
    db.run("ALTER TABLE orders RENAME COLUMN lock_version TO version").await;
    let error = order.pay("T-1".into(), noon()).apply(&db.pool).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Database);
}
