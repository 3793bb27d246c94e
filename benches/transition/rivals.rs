//! The hand-written rivals, on each database.

use crate::orders::{Known, attempt_id, safe};
use onward::{Backend, BoxError};
use sqlx::{Connection, Pool, Row as _};
use std::future::Future;

/// A database with what one writes by hand there.
pub trait Rivals: Backend<Connection: Connection<Options: Clone>> {
    const ENGINE: &'static str;
    /// How many connections the pool of all rivals has at the most.
    const CONNECTIONS: u32;
    /// Empties the tables.
    const EMPTY: &'static str;
    /// Brings the database to rest before the clock runs.
    const SETTLE: &'static str;

    fn script(pool: &Pool<Self>, sql: String) -> impl Future<Output = Result<(), BoxError>> + Send;

    fn count(pool: &Pool<Self>, sql: &'static str) -> impl Future<Output = Result<i64, sqlx::Error>> + Send;

    /// The guarded statement that the crate sends.
    fn hand(
        connection: &mut Self::Connection,
        order: &Known,
    ) -> impl Future<Output = Result<u64, sqlx::Error>> + Send;

    /// A transaction with the guarded statement and an entry in the journal that says the same as the crate's.
    fn hand_journal(
        connection: &mut Self::Connection,
        order: &Known,
    ) -> impl Future<Output = Result<u64, sqlx::Error>> + Send;

    /// A transaction that locks and reads the row before it writes.
    fn locking(
        connection: &mut Self::Connection,
        order: &Known,
    ) -> impl Future<Output = Result<u64, sqlx::Error>> + Send;
}

macro_rules! by_hand {
    (guarded: $guarded:literal, begin: $begin:literal, select: $select:literal, write: $write:literal, entry: $entry:literal) => {
        async fn script(pool: &Pool<Self>, sql: String) -> Result<(), BoxError> {
            sqlx::raw_sql(safe(sql)).execute(pool).await?;
            Ok(())
        }

        async fn hand(connection: &mut Self::Connection, order: &Known) -> Result<u64, sqlx::Error> {
            let update = sqlx::query($guarded)
                .bind("paid")
                .bind(&order.trade_no)
                .bind(order.id)
                .bind("pending")
                .bind(order.version);
            Ok(update.execute(connection).await?.rows_affected())
        }

        async fn count(pool: &Pool<Self>, sql: &'static str) -> Result<i64, sqlx::Error> {
            sqlx::query_scalar(sql).fetch_one(pool).await
        }

        async fn hand_journal(connection: &mut Self::Connection, order: &Known) -> Result<u64, sqlx::Error> {
            let mut tx = connection.begin_with($begin).await?;
            let rows = Self::hand(&mut tx, order).await?;
            if rows == 1 {
                let entry = sqlx::query($entry)
                    .bind(order.id)
                    .bind(order.version + 1)
                    .bind("pay")
                    .bind("pending")
                    .bind("paid")
                    .bind(&order.trade_no)
                    .bind(&order.trade_no)
                    .bind(None::<&str>)
                    .bind(None::<&str>)
                    .bind(attempt_id());
                entry.execute(&mut *tx).await?;
                tx.commit().await?;
            }
            Ok(rows)
        }

        async fn locking(connection: &mut Self::Connection, order: &Known) -> Result<u64, sqlx::Error> {
            let mut tx = connection.begin_with($begin).await?;
            let found = sqlx::query($select).bind(order.id).fetch_optional(&mut *tx).await?;
            let Some(found) = found else { return Ok(0) };
            let (status, version): (String, i64) = (found.try_get(0)?, found.try_get(1)?);
            if status != "pending" || version != order.version {
                return Ok(0);
            }
            let update = sqlx::query($write).bind("paid").bind(&order.trade_no).bind(order.id);
            let rows = update.execute(&mut *tx).await?.rows_affected();
            tx.commit().await?;
            Ok(rows)
        }
    };
}

#[cfg(feature = "sqlite")]
impl Rivals for sqlx::Sqlite {
    const ENGINE: &'static str = "sqlite";
    // Several writers would sleep in turns until the file is free, and nothing else would be measured.
    const CONNECTIONS: u32 = 1;
    const EMPTY: &'static str = "DELETE FROM orders; DELETE FROM order_journal";
    const SETTLE: &'static str = "PRAGMA wal_checkpoint(TRUNCATE)";

    by_hand! {
        guarded: "UPDATE `orders` SET `status` = ?, `version` = `version` + 1, `trade_no` = ? WHERE `id` = ? AND `status` = ? AND `version` = ?",
        begin: "BEGIN IMMEDIATE",
        select: "SELECT status, version FROM orders WHERE id = ?",
        write: "UPDATE orders SET status = ?, version = version + 1, trade_no = ? WHERE id = ?",
        entry: "INSERT INTO `order_journal` (`row_key`, `version`, `transition`, `from_state`, `to_state`, `cause`, `sole_cause`, `actor`, `request_id`, `attempt_id`, `at`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now'))"
    }
}

#[cfg(feature = "postgres")]
impl Rivals for sqlx::Postgres {
    const ENGINE: &'static str = "postgres";
    const CONNECTIONS: u32 = 32;
    const EMPTY: &'static str = "TRUNCATE orders, order_journal";
    const SETTLE: &'static str = "ANALYZE orders, order_journal";

    by_hand! {
        guarded: r#"UPDATE "orders" SET "status" = $1, "version" = "version" + 1, "trade_no" = $2 WHERE "id" = $3 AND "status" = $4 AND "version" = $5"#,
        begin: "BEGIN",
        select: "SELECT status, version FROM orders WHERE id = $1 FOR UPDATE",
        write: "UPDATE orders SET status = $1, version = version + 1, trade_no = $2 WHERE id = $3",
        entry: r#"INSERT INTO "order_journal" ("row_key", "version", "transition", "from_state", "to_state", "cause", "sole_cause", "actor", "request_id", "attempt_id", "at") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, CURRENT_TIMESTAMP)"#
    }
}

#[cfg(feature = "mysql")]
impl Rivals for sqlx::MySql {
    const ENGINE: &'static str = "mariadb";
    const CONNECTIONS: u32 = 32;
    const EMPTY: &'static str = "TRUNCATE TABLE orders; TRUNCATE TABLE order_journal";
    const SETTLE: &'static str = "DO 0";

    by_hand! {
        guarded: "UPDATE `orders` SET `status` = ?, `version` = `version` + 1, `trade_no` = ? WHERE `id` = ? AND `status` = ? AND `version` = ?",
        begin: "START TRANSACTION",
        select: "SELECT status, version FROM orders WHERE id = ? FOR UPDATE",
        write: "UPDATE orders SET status = ?, version = version + 1, trade_no = ? WHERE id = ?",
        entry: "INSERT INTO `order_journal` (`row_key`, `version`, `transition`, `from_state`, `to_state`, `cause`, `sole_cause`, `actor`, `request_id`, `attempt_id`, `at`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, UTC_TIMESTAMP(6))"
    }
}
