//! What only SQLite does, or in its own way.

use super::no_effect;
use crate::{
    db::Db,
    lifecycles::{AnyOrder, Orders as _, noon},
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

#[tokio::test]
async fn a_refusal_in_an_old_snapshot_is_no_answer() {
    let db = Sqlite::fresh(5).await;
    db.orders(1).await;
    let mut tx = db.pool.begin().await.unwrap();
    let order = AnyOrder::find(&mut tx, 1).await.unwrap().unwrap();
    db.paid(1, "T-1").await;
    let error = order.pay("T-1".into(), noon()).check(|_| false).apply_in(&mut tx).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RestartTransaction);
}

#[tokio::test]
async fn a_rollback_of_the_engines_in_a_nested_transaction() {
    use sqlx::Connection as _;
    // A database in memory lives as long as its only connection, so that must survive.
    let db =
        sqlx::sqlite::SqlitePoolOptions::new().max_connections(1).connect("sqlite::memory:").await.unwrap();
    Sqlite::run(&mut db.acquire().await.unwrap(), &crate::db::types::<Sqlite>(crate::lifecycles::ORDERS))
        .await
        .unwrap();
    let trigger = "CREATE TRIGGER ends BEFORE DELETE ON stock BEGIN SELECT RAISE(ROLLBACK, 'no'); END";
    sqlx::raw_sql(trigger).execute(&db).await.unwrap();
    let created = crate::lifecycles::Order::create(crate::lifecycles::row(1)).apply(&db).await.unwrap();
    drop(created.applied().unwrap());
    for _ in 0..3 {
        let any = AnyOrder::find(&db, 1).await.unwrap().unwrap();
        let work = async move |tx: &mut sqlx::SqliteConnection, _: &_| -> Result<(), sqlx::Error> {
            let mut nested = tx.begin().await?;
            Sqlite::run(&mut nested, "DELETE FROM stock").await?;
            nested.commit().await
        };
        let error = any.pay("T-1".into(), noon()).apply_with(&db, work).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Effect, "{error:?}");
        // And dropped in the middle of it.
        let any = AnyOrder::find(&db, 1).await.unwrap().unwrap();
        let onward::Outcome::Applied(mut won) = any.pay("T-1".into(), noon()).begin(&db).await.unwrap()
        else {
            panic!()
        };
        let nested = won.parts().0.begin().await.unwrap();
        std::mem::forget(nested);
        let _ = Sqlite::run(won.parts().0, "DELETE FROM stock").await;
        drop(won);
    }
    let any = AnyOrder::find(&db, 1).await.unwrap().unwrap();
    assert_eq!(any.pay("T-1".into(), noon()).apply(&db).await.unwrap().as_str(), "applied");
}

/// Polls a future a few times, then drops it.
async fn dropped_after<F: Future>(polls: u32, future: F) {
    let mut future = std::pin::pin!(future);
    for _ in 0..polls {
        let poll =
            std::future::poll_fn(|context| std::task::Poll::Ready(future.as_mut().poll(context).is_ready()));
        if poll.await {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropped_anywhere_around_a_nested_transaction() {
    use sqlx::Connection as _;
    let db = Sqlite::fresh(1).await;
    db.orders(61).await;
    let other = sqlx::SqlitePool::connect(&db.url).await.unwrap();
    for id in 1..=60 {
        let work = async move |tx: &mut sqlx::SqliteConnection, _: &_| -> Result<(), sqlx::Error> {
            let mut nested = tx.begin().await?;
            Sqlite::run(&mut nested, "INSERT INTO effects VALUES (1, 'mail')").await?;
            nested.commit().await
        };
        let attempt = db.pending(id).await.pay(format!("T-{id}"), noon());
        dropped_after(1 + u32::try_from(id).unwrap() % 12, attempt.apply_with(&db.pool, work)).await;
        // Whatever became of it: what is written on this connection from now on is seen by everybody.
        let any = db.any(id).await;
        assert_eq!(
            any.pay(format!("T-{id}"), noon()).apply(&db.pool).await.unwrap().answer(),
            onward::Answer::Settled
        );
        assert_eq!(AnyOrder::find(&other, id).await.unwrap().unwrap().version(), 1);
    }
    let paid = db.number("SELECT COUNT(*) FROM orders WHERE lock_version = 1").await;
    assert_eq!(paid, 60);

    // A rollback of ours whose reply nobody takes must not make sqlx forget its next one.
    for _ in 0..10 {
        let tx = onward::begin(&db.pool).await.unwrap();
        dropped_after(1, tx.rollback()).await;
        let mut theirs = db.pool.begin().await.unwrap();
        Sqlite::run(&mut theirs, "UPDATE orders SET note = 'x' WHERE id = 61").await.unwrap();
        drop(theirs);
        assert_eq!(db.number("SELECT COUNT(*) FROM orders WHERE note = 'x'").await, 0);
    }
}

#[tokio::test]
async fn a_nested_transaction_dropped_last_is_no_loss() {
    use sqlx::Connection as _;
    let db = Sqlite::fresh(2).await;
    db.orders(20).await;
    for id in 1..=20 {
        let work = async move |tx: &mut sqlx::SqliteConnection, _: &_| -> Result<(), sqlx::Error> {
            let mut nested = tx.begin().await?;
            Sqlite::run(&mut nested, "INSERT INTO effects VALUES (1, 'mail')").await?;
            Ok(())
        };
        let outcome =
            db.pending(id).await.pay(format!("T-{id}"), noon()).apply_with(&db.pool, work).await.unwrap();
        assert_eq!(outcome.as_str(), "applied");
    }
    assert_eq!(db.number("SELECT COUNT(*) FROM effects").await, 0);
    let mut connection = db.pool.acquire().await.unwrap();
    let order = AnyOrder::find(&mut connection, 1).await.unwrap().unwrap();
    drop(connection.begin().await.unwrap());
    assert_eq!(order.ship("parcel".into()).apply(&mut connection).await.unwrap().as_str(), "applied");
}
