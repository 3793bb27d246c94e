//! What only PostgreSQL does, or in its own way.

use super::{concurrency::*, no_effect};
use crate::{
    db::Db,
    lifecycles::{AnyOrder, Order, Orders as _, Pending, noon},
};
use onward::{Error, ErrorKind, Outcome};
use sqlx::Postgres;

#[tokio::test]
async fn codes_alone_tell_conflicts() {
    let codes = [
        ("40001", true),
        ("40P01", true),
        ("55P03", true),
        ("40003", false),
        ("23505", false),
        ("42883", false),
        ("P0001", false),
    ];
    let raise = |code: &str| format!("DO $$ BEGIN RAISE EXCEPTION 'qlqx' USING ERRCODE = '{code}'; END $$");
    codes_decide(Postgres::fresh(3).await, &codes, raise).await;
    // CockroachDB says 40003 where it does not know what became of a statement.
    let codes = [
        ("40001", ErrorKind::Busy),
        ("40003", ErrorKind::CommitUnknown),
        ("57P01", ErrorKind::CommitUnknown),
        ("22012", ErrorKind::Database),
    ];
    let raise = |code: &str| {
        format!(
            "CREATE OR REPLACE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN RAISE EXCEPTION 'qlqx' USING ERRCODE = '{code}'; END $$;
             CREATE OR REPLACE TRIGGER fails BEFORE UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION fails()"
        )
    };
    codes_of_the_write_decide(Postgres::fresh(3).await, &codes, raise).await;
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
    assert!(error.kind() == ErrorKind::Unreadable && error.to_string().contains("lock_version"), "{error}");
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

#[tokio::test]
async fn a_refusal_in_an_old_snapshot_is_no_answer() {
    let db = Postgres::fresh(5).await;
    db.orders(1).await;
    let mut tx = db.pool.begin().await.unwrap();
    Postgres::run(&mut tx, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ").await.unwrap();
    let order = AnyOrder::find(&mut tx, 1).await.unwrap().unwrap();
    db.paid(1, "T-1").await;
    let error = order.pay("T-1".into(), noon()).check(|_| false).apply_in(&mut tx).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RestartTransaction);
}

#[tokio::test]
async fn an_index_on_the_status_does_not_kill_the_callers_transaction() {
    let db = Postgres::fresh(5).await;
    db.orders(2).await;
    db.run("CREATE UNIQUE INDEX one_cancelled ON orders (cust_no) WHERE state = 'cancelled'").await;
    let _ = db.pending(1).await.cancel().apply(&db.pool).await.unwrap().applied().unwrap();
    let mut tx = onward::begin(&db.pool).await.unwrap();
    let two = AnyOrder::find(&mut tx, 2).await.unwrap().unwrap();
    assert_eq!(two.cancel().apply_in(&mut tx).await.unwrap().as_str(), "unique_taken");
    let two = AnyOrder::find(&mut tx, 2).await.unwrap().unwrap();
    let long = two.pay("x".repeat(65), noon()).apply_in(&mut tx).await.unwrap_err();
    assert_eq!(long.kind(), ErrorKind::Database);
    Postgres::run(&mut tx, "INSERT INTO effects VALUES (2, 'alive')").await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(db.number("SELECT COUNT(*) FROM effects").await, 1);
}

#[tokio::test]
async fn work_that_commits_and_then_meets_a_conflict_is_told() {
    let db = Postgres::fresh(3).await;
    db.orders(1).await;
    let work = async move |tx: &mut sqlx::PgConnection, _: &_| {
        Postgres::run(tx, "COMMIT").await?;
        Postgres::run(tx, "DO $$ BEGIN RAISE EXCEPTION 'qlqx' USING ERRCODE = '40001'; END $$")
            .await
            .map(drop)
    };
    let error = db.pending(1).await.pay("T-1".into(), noon()).apply_with(&db.pool, work).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TransactionLost);
    assert!(error.effect::<sqlx::Error>().is_some());
}

#[cfg(feature = "rust_decimal")]
#[tokio::test]
async fn decimal_columns() {
    decimals(Postgres::fresh(2).await).await;
}
