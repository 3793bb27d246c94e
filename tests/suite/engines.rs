//! What only one engine does, or each in its own way: isolation, deadlocks, time-outs, error codes.

use crate::{
    db::{Db, Fixture},
    lifecycles::{AnyOrder, Order, Paid, Pending, noon},
};
use onward::{Error, ErrorKind, Outcome};

/// Two transactions that lock two orders in opposite order: one of them is given up by the engine.
#[cfg(any(feature = "postgres", feature = "mysql"))]
async fn a_deadlock_in_the_callers_transaction<B: Db>(db: Fixture<B>) {
    db.orders(2).await;
    let start = std::sync::Arc::new(tokio::sync::Barrier::new(2));
    let mut tasks = Vec::new();
    for (first, second) in [(1, 2), (2, 1)] {
        let (pool, start, order) = (db.pool.clone(), start.clone(), db.pending(second).await);
        tasks.push(tokio::spawn(async move {
            let mut tx = onward::begin(&pool).await.unwrap();
            let sql =
                format!("UPDATE orders SET note = 'x', lock_version = lock_version + 1 WHERE id = {first}");
            B::run(&mut tx, &sql).await.unwrap();
            start.wait().await;
            let outcome = order.pay(format!("T-{second}"), noon()).apply_in(&mut tx).await;
            match outcome {
                Ok(outcome) => {
                    tx.commit().await.unwrap();
                    Ok(outcome.as_str())
                }
                Err(error) => {
                    tx.rollback().await;
                    Err(error)
                }
            }
        }));
    }
    let mut given_up = 0;
    for task in tasks {
        match task.await.unwrap() {
            // The survivor meets a row that is as it was: the other's write was undone.
            Ok(outcome) => assert_eq!(outcome, "applied"),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::RestartTransaction, "{error:?}");
                assert!(error.is_transient());
                given_up += 1;
            }
        }
    }
    assert_eq!(given_up, 1);
    assert_eq!(db.number("SELECT COUNT(*) FROM orders WHERE note = 'x'").await, 1);
}

/// The same in transactions of ours: the whole work runs again, and both get through.
#[cfg(any(feature = "postgres", feature = "mysql"))]
async fn a_deadlock_restarts_our_own_work<B: Db>(db: Fixture<B>) {
    use std::sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    };
    db.orders(2).await;
    db.run("INSERT INTO stock VALUES ('cup', 5)").await;
    let runs = Arc::new(AtomicU32::new(0));
    let start = Arc::new(tokio::sync::Barrier::new(2));
    let mut tasks = Vec::new();
    for id in [1, 2] {
        let (pool, start, runs, order) = (db.pool.clone(), start.clone(), runs.clone(), db.pending(id).await);
        tasks.push(tokio::spawn(async move {
            let first = Arc::new(AtomicU32::new(0));
            let work = async move |tx: &mut B::Connection, _: &Order<Paid>| -> Result<(), sqlx::Error> {
                runs.fetch_add(1, Relaxed);
                for step in 0..2 {
                    let article = if (id == 1) == (step == 0) { "tea" } else { "cup" };
                    let sql =
                        format!("UPDATE stock SET available = available - 1 WHERE article = '{article}'");
                    B::run(tx, &sql).await?;
                    if first.fetch_add(1, Relaxed) == 0 {
                        start.wait().await;
                    }
                }
                Ok(())
            };
            order.pay(format!("T-{id}"), noon()).apply_with(&pool, work).await
        }));
    }
    for task in tasks {
        task.await.unwrap().unwrap().applied().unwrap();
    }
    assert!(runs.load(Relaxed) > 2, "there was no deadlock");
    assert_eq!(db.number("SELECT COUNT(*) FROM stock WHERE available = 4 OR available = 3").await, 2);
}

/// Raises an error with each code inside the work: conflicts run the work again and end in `Busy`, anything else is
/// the work's own error. The texts are of no known language and the same for all.
#[cfg(any(feature = "postgres", feature = "mysql"))]
async fn codes_decide<B: Db>(db: Fixture<B>, codes: &[(&str, bool)], raise: fn(&str) -> String) {
    use std::sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    };
    db.orders(1).await;
    for (code, conflict) in codes {
        let runs = Arc::new(AtomicU32::new(0));
        let (counted, sql) = (runs.clone(), raise(code));
        let work = async move |tx: &mut B::Connection, _: &Order<Paid>| -> Result<(), sqlx::Error> {
            counted.fetch_add(1, Relaxed);
            B::run(tx, &sql).await.map(drop)
        };
        let error =
            db.pending(1).await.pay("T-1".into(), noon()).apply_with(&db.pool, work).await.unwrap_err();
        let (kind, again) = (error.kind(), runs.load(Relaxed) > 1);
        let expected = if *conflict { (ErrorKind::Busy, true) } else { (ErrorKind::Effect, false) };
        assert_eq!((kind, again), expected, "{code}: {error:?}");
        assert_eq!(db.state(1).await, "pending:0");
    }
}

#[cfg(feature = "postgres")]
mod postgres {
    use super::*;
    use sqlx::Postgres;

    #[tokio::test]
    async fn codes_alone_tell_conflicts() {
        let codes = [
            ("40001", true),
            ("40P01", true),
            ("55P03", true),
            ("23505", false),
            ("42883", false),
            ("P0001", false),
        ];
        let raise =
            |code: &str| format!("DO $$ BEGIN RAISE EXCEPTION 'qlqx' USING ERRCODE = '{code}'; END $$");
        codes_decide(Postgres::fresh(3).await, &codes, raise).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn deadlocks() {
        a_deadlock_in_the_callers_transaction(Postgres::fresh(5).await).await;
        a_deadlock_restarts_our_own_work(Postgres::fresh(5).await).await;
    }

    #[tokio::test]
    async fn repeatable_read_raises_instead_of_zero_rows() {
        let db = Postgres::fresh(5).await;
        db.orders(1).await;
        let mut tx = db.pool.begin().await.unwrap();
        Postgres::run(&mut tx, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ").await.unwrap();
        let order = AnyOrder::find(&mut tx, 1).await.unwrap().unwrap();
        db.paid(1, "T-1").await;
        let error = order.pay("T-1".into(), noon()).apply_in(&mut tx).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::RestartTransaction);
        tx.rollback().await.unwrap();
        // A transaction of ours restarts, and the repeat is recognised.
        sqlx::raw_sql(sqlx::AssertSqlSafe(format!(
            "ALTER DATABASE {} SET default_transaction_isolation = 'repeatable read'",
            db.url.rsplit('/').next().unwrap()
        )))
        .execute(&db.pool)
        .await
        .unwrap();
        let pool = sqlx::PgPool::connect(&db.url).await.unwrap();
        let stale: Order<Pending> = {
            db.run("UPDATE orders SET state = 'pending', lock_version = 0, trade_no = NULL").await;
            Order::load(&pool, 1).await.unwrap()
        };
        // Another transaction holds the row until ours has taken its snapshot and waits.
        let mut other = db.pool.begin().await.unwrap();
        let paid = AnyOrder::find(&mut other, 1).await.unwrap().unwrap().pay("T-1".into(), noon());
        let _ = paid.apply_in(&mut other).await.unwrap().applied().unwrap();
        let ours = tokio::spawn(async move {
            let work = async move |_: &mut sqlx::PgConnection, _: &_| Ok::<(), Error>(());
            stale.pay("T-1".into(), noon()).apply_with(&pool, work).await.unwrap()
        });
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        other.commit().await.unwrap();
        assert!(matches!(ours.await.unwrap(), Outcome::Duplicate(_)));
    }

    mod enums {
        onward::lifecycle! {
            /// A native enum type, and a version of 32 bits.
            pub struct Ticket in "tickets" (version: i32);
            pub struct TicketRow { id: i64 }
            pub enum AnyTicket: TicketStatus as enum "ticket_status" { Open, Assigned { agent: String }, Closed: Assigned }
            transitions {
                assign: Open -> Assigned by agent shared;
                close: Assigned -> Closed;
            }
        }
    }

    #[tokio::test]
    async fn native_enums() {
        use enums::*;
        let db = Postgres::fresh(5).await;
        db.run(
            "CREATE TYPE ticket_status AS ENUM ('open', 'assigned');
             CREATE TABLE tickets (id BIGINT PRIMARY KEY, status ticket_status NOT NULL, version INT NOT NULL, agent TEXT)",
        )
        .await;
        // A label is added by a statement of its own, before it is used.
        db.run("ALTER TYPE ticket_status ADD VALUE 'closed'").await;
        let open = Ticket::create(TicketRow { id: 1 }).apply(&db.pool).await.unwrap().applied().unwrap();
        let assigned = open.assign("a".into()).apply(&db.pool).await.unwrap().applied().unwrap();
        let page = Ticket::<Assigned>::list(&db.pool, None, 9).await.unwrap();
        assert_eq!(page.rows.len(), 1);
        let closed = assigned.close().apply(&db.pool).await.unwrap().applied().unwrap();
        assert_eq!((closed.agent.as_str(), closed.version()), ("a", 2));
        db.run("ALTER TYPE ticket_status ADD VALUE 'lost'").await;
        db.run("UPDATE tickets SET status = 'lost'").await;
        let error = AnyTicket::find(&db.pool, 1).await.unwrap_err();
        assert!(error.kind() == ErrorKind::Unreadable && error.to_string().contains("lost"), "{error}");
    }

    #[tokio::test]
    async fn a_version_of_another_width_is_named() {
        let db = Postgres::fresh(2).await;
        db.orders(1).await;
        db.run("ALTER TABLE orders ALTER lock_version TYPE BIGINT").await;
        let error = AnyOrder::find(&db.pool, 1).await.unwrap_err();
        assert!(
            error.kind() == ErrorKind::Unreadable && error.to_string().contains("lock_version"),
            "{error}"
        );
        assert!(format!("{error:?}").contains("INT8"), "{error:?}");
    }

    #[tokio::test]
    async fn a_trigger_that_eats_the_update() {
        let db = Postgres::fresh(5).await;
        db.orders(1).await;
        let (order, other) = (db.pending(1).await, db.pending(1).await);
        db.run("CREATE FUNCTION eat() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'").await;
        db.run("CREATE TRIGGER eat BEFORE UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION eat()").await;
        no_effect(order, other, &db).await;
    }

    #[tokio::test]
    async fn codes_not_texts_decide() {
        let server = crate::servers::postgres();
        let db = Postgres::fresh(5).await;
        db.orders(2).await;
        db.paid(1, "T-1").await;
        let _ = server;
        // Whatever the language of its messages (`lc_messages`), the same answers.
        for language in ["C", "de_DE.UTF-8", "zh_CN.UTF-8"] {
            let mut connection = db.pool.acquire().await.unwrap();
            let sql = format!("SET lc_messages = '{language}'");
            if Postgres::run(&mut connection, &sql).await.is_err() {
                continue; // The language is not installed on this machine; C always is.
            }
            let any = AnyOrder::find(&mut connection, 2).await.unwrap().unwrap();
            let outcome = any.pay("T-1".into(), noon()).apply(&mut connection).await.unwrap();
            assert_eq!(outcome.as_str(), "cause_taken");
        }
    }
}

#[cfg(feature = "mysql")]
mod mariadb {
    use super::*;
    use sqlx::MySql;

    #[tokio::test]
    async fn codes_alone_tell_conflicts() {
        let conflicts = ["1020", "1047", "1180", "1205", "1213"].map(|code| (code, true));
        let others = ["1062", "1364", "1406", "1644"].map(|code| (code, false));
        let codes = [&conflicts[..], &others[..]].concat();
        // All under the same SQLSTATE, so that the number alone can tell.
        let raise =
            |code: &str| format!("SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = {code}, MESSAGE_TEXT = 'qlqx'");
        codes_decide(MySql::fresh(3).await, &codes, raise).await;
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
        let error =
            db.pending(1).await.pay("T-1".into(), noon()).apply_with(&db.pool, work).await.unwrap_err();
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
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use super::*;
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
}

#[cfg(any(feature = "postgres", feature = "sqlite"))]
async fn no_effect<B: Db>(order: Order<Pending>, other: Order<Pending>, db: &Fixture<B>) {
    let error = order.pay("T-1".into(), noon()).apply(&db.pool).await.unwrap_err();
    assert_eq!((error.kind(), error.row_key()), (ErrorKind::NoEffect, Some("1")));
    let error = other.amend(|row| row.amount_cents = 1).apply(&db.pool).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoEffect);
}
