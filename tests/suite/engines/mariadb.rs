//! What only MariaDB does, or in its own way.

use super::concurrency::*;
use crate::{
    db::Db,
    lifecycles::{AnyOrder, Order, Orders as _, Pending, noon},
};
use onward::ErrorKind;
use sqlx::MySql;

#[tokio::test]
async fn codes_alone_tell_conflicts() {
    // From 8002 on they are TiDB's.
    let conflicts = ["1020", "1047", "1205", "1213", "8002", "8005", "8022", "9007"].map(|code| (code, true));
    // What leaves the result of a write open is, in the work, an error as any other.
    let others = ["1062", "1180", "1364", "1406", "1644", "8027"].map(|code| (code, false));
    let codes = [&conflicts[..], &others[..]].concat();
    // All under the same SQLSTATE, so that the number alone can tell.
    let raise =
        |code: &str| format!("SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = {code}, MESSAGE_TEXT = 'qlqx'");
    codes_decide(MySql::fresh(3).await, &codes, raise).await;
    let codes = [
        ("1213", ErrorKind::Busy),
        ("9007", ErrorKind::Busy),
        ("1180", ErrorKind::CommitUnknown),
        ("1644", ErrorKind::Database),
    ];
    let raise = |code: &str| {
        format!(
            "CREATE OR REPLACE TRIGGER fails BEFORE UPDATE ON orders FOR EACH ROW
             SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = {code}, MESSAGE_TEXT = 'qlqx'"
        )
    };
    codes_of_the_write_decide(MySql::fresh(3).await, &codes, raise).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deadlocks() {
    a_deadlock_in_the_callers_transaction(MySql::fresh(5).await).await;
    a_deadlock_restarts_our_own_work(MySql::fresh(5).await).await;
}

#[tokio::test]
async fn an_old_snapshot_does_not_hide_what_is_committed() {
    let db = MySql::fresh(5).await;
    db.orders(1).await;
    for (trade_no, expected) in [("T-1", "duplicate"), ("T-2", "other_cause")] {
        let stale = db.pending(1).await;
        let mut tx = db.pool.begin().await.unwrap();
        // The snapshot is taken here, and shows a pending order until its end.
        let order = AnyOrder::find(&mut tx, 1).await.unwrap().unwrap();
        stale.pay("T-1".into(), noon()).apply(&db.pool).await.unwrap().applied().unwrap();
        let outcome = order.pay(trade_no.into(), noon()).apply_in(&mut tx).await.unwrap();
        assert_eq!(outcome.as_str(), expected);
        tx.commit().await.unwrap();
        db.run("UPDATE orders SET state = 'pending', lock_version = 0, trade_no = NULL").await;
    }
}

#[tokio::test]
async fn snapshot_isolation_raises_and_rolls_back() {
    let db = MySql::fresh(5).await;
    db.orders(2).await;
    let mut tx = db.pool.begin().await.unwrap();
    MySql::run(&mut tx, "SET SESSION innodb_snapshot_isolation = ON").await.unwrap();
    MySql::run(&mut tx, "COMMIT; START TRANSACTION").await.unwrap();
    let order = AnyOrder::find(&mut tx, 1).await.unwrap().unwrap();
    db.paid(1, "T-1").await;
    let error = order.pay("T-1".into(), noon()).apply_in(&mut tx).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RestartTransaction, "{error:?}");
    drop(tx);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_wait_time_out_leaves_nothing_behind() {
    let db = MySql::fresh(1).await;
    db.orders(1).await;
    db.run("SET SESSION innodb_lock_wait_timeout = 1").await;
    let order = db.pending(1).await;
    let other = sqlx::MySqlPool::connect(&db.url).await.unwrap();
    let mut held = other.begin().await.unwrap();
    AnyOrder::lock(&mut held, 1).await.unwrap().unwrap();
    // The time-out undoes its statement alone; the transaction must not stay open, and the whole runs again.
    let pool = db.pool.clone();
    let paying = tokio::spawn(async move {
        let work = async move |tx: &mut sqlx::MySqlConnection, _: &_| {
            MySql::run(tx, "INSERT INTO effects VALUES (1, 'mail')").await.map(drop)
        };
        order.pay("T-1".into(), noon()).apply_with(&pool, work).await
    });
    tokio::time::sleep(std::time::Duration::from_millis(2500)).await;
    held.commit().await.unwrap();
    paying.await.unwrap().unwrap().applied().unwrap();
    assert_eq!(db.number("SELECT COUNT(*) FROM effects").await, 1);
    assert_eq!(db.number("SELECT CAST(@@autocommit AS SIGNED)").await, 1);
    assert_eq!(db.number("SELECT CAST(@@in_transaction AS SIGNED)").await, 0);
}

#[tokio::test]
async fn a_swallowed_deadlock_does_not_commit_half() {
    let db = MySql::fresh(5).await;
    db.orders(1).await;
    let other = db.pool.clone();
    let work = async move |tx: &mut sqlx::MySqlConnection, _: &_| -> Result<(), sqlx::Error> {
        MySql::run(tx, "INSERT INTO effects VALUES (1, 'before')").await?;
        // A deadlock: we hold the order, the other holds the stock; the one with less to undo is given up.
        let mut theirs = other.begin().await?;
        for _ in 0..20 {
            MySql::run(&mut theirs, "INSERT INTO effects VALUES (9, 'theirs')").await?;
        }
        MySql::run(&mut theirs, "UPDATE stock SET available = available + 100").await?;
        let waiting = tokio::spawn(async move {
            let _ = MySql::run(&mut theirs, "UPDATE orders SET note = 'x' WHERE id = 1").await;
            theirs.rollback().await
        });
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        let swallowed = MySql::run(tx, "UPDATE stock SET available = available - 1").await;
        assert!(swallowed.is_err(), "there was no deadlock");
        waiting.await.unwrap()?;
        MySql::run(tx, "UPDATE stock SET available = available - 1").await.map(drop)
    };
    let error = db.pending(1).await.pay("T-1".into(), noon()).apply_with(&db.pool, work).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TransactionLost, "{error:?}");
    assert_eq!(db.state(1).await, "pending:0");
    assert_eq!(db.number("SELECT available FROM stock").await, 5);
    assert_eq!(db.number("SELECT COUNT(*) FROM effects").await, 0);
}

#[tokio::test]
async fn codes_not_texts_decide() {
    let db = MySql::fresh(5).await;
    db.orders(2).await;
    db.paid(1, "T-1").await;
    for language in ["english", "german", "chinese"] {
        let mut connection = db.pool.acquire().await.unwrap();
        MySql::run(
            &mut connection,
            &format!(
                "SET SESSION lc_messages = '{}'",
                match language {
                    "english" => "en_US",
                    "german" => "de_DE",
                    _ => "zh_CN",
                }
            ),
        )
        .await
        .unwrap();
        let any = AnyOrder::find(&mut connection, 2).await.unwrap().unwrap();
        let outcome = any.pay("T-1".into(), noon()).apply(&mut connection).await.unwrap();
        assert_eq!(outcome.as_str(), "cause_taken");
    }
}

#[tokio::test]
async fn a_status_in_capitals_is_another_text() {
    let db = MySql::fresh(2).await;
    db.orders(1).await;
    db.run("UPDATE orders SET state = 'PENDING'").await;
    let error = AnyOrder::find(&db.pool, 1).await.unwrap_err();
    assert!(error.kind() == ErrorKind::Unreadable && error.to_string().contains("PENDING"), "{error}");
    let page = Order::<Pending>::list(&db.pool, None, 5).await.unwrap();
    assert_eq!(page.rows[0].as_ref().unwrap_err().kind(), ErrorKind::Unreadable);
}

#[tokio::test]
async fn a_transaction_that_cannot_begin_leaves_no_connection_without_autocommit() {
    let db = MySql::fresh(1).await;
    db.orders(2).await;
    // A connection on which no transaction can begin goes back to the pool.
    db.run("XA START 'x'").await;
    let work = async move |tx: &mut sqlx::MySqlConnection, _: &_| {
        MySql::run(tx, "INSERT INTO effects VALUES (1, 'mail')").await.map(drop)
    };
    let other = sqlx::MySqlPool::connect(&db.url).await.unwrap();
    let order = AnyOrder::find(&other, 1).await.unwrap().unwrap();
    let error = order.pay("T-1".into(), noon()).apply_with(&db.pool, work).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Database);
    // It did not go back: the next attempt is on a new connection, and everybody sees it.
    db.paid(2, "T-2").await;
    assert_eq!(AnyOrder::find(&other, 2).await.unwrap().unwrap().version(), 1);
}

#[tokio::test]
async fn a_swallowed_deadlock_in_a_nested_transaction_keeps_nothing() {
    use sqlx::Connection as _;
    let db = MySql::fresh(5).await;
    db.orders(1).await;
    let work = async move |tx: &mut sqlx::MySqlConnection, _: &_| -> Result<(), sqlx::Error> {
        let mut nested = tx.begin().await?;
        // The engine rolls everything back, savepoints and all, and nobody notices.
        MySql::run(&mut nested, "ROLLBACK").await?;
        MySql::run(&mut nested, "INSERT INTO effects VALUES (1, 'mail')").await?;
        drop(nested);
        Err(sqlx::Error::RowNotFound)
    };
    let error = db.pending(1).await.pay("T-1".into(), noon()).apply_with(&db.pool, work).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TransactionLost, "{error:?}");
    assert_eq!(db.number("SELECT COUNT(*) FROM effects").await, 0);
    assert_eq!(db.state(1).await, "pending:0");
}

#[tokio::test]
async fn keys_that_are_equal_only_to_the_collation_are_two() {
    use crate::lifecycles::parcels::*;
    let db = MySql::fresh(2).await;
    db.run(PARCELS).await;
    let row = |code: &str| ParcelRow { code: code.into(), tenant_id: 1, r#type: None };
    let _ = Parcel::create(row("ab1")).apply(&db.pool).await.unwrap().applied().unwrap();
    for code in ["AB1", "ab1 "] {
        let outcome = Parcel::create(row(code)).apply(&db.pool).await.unwrap();
        assert_eq!(outcome.as_str(), "other_content", "{code:?}");
    }
}

#[cfg(feature = "rust_decimal")]
#[tokio::test]
async fn decimal_columns() {
    decimals(MySql::fresh(2).await).await;
}
