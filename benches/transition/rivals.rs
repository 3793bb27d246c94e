//! The hand-written rivals, on each database.

use crate::orders::{Known, safe};
use onward::{Backend, BoxError};
use sqlx::{Connection, Pool, Row as _};
use std::future::Future;

/// A database with what one writes by hand there.
pub trait Rivals: Backend<Connection: Connection<Options: Clone>> {
    const ENGINE: &'static str;
    /// How many connections the pool of all rivals has at the most.
    const CONNECTIONS: u32;
    /// Empties the table.
    const EMPTY: &'static str;
    /// Brings the database to rest before the clock runs.
    const SETTLE: &'static str;

    fn script(pool: &Pool<Self>, sql: String) -> impl Future<Output = Result<(), BoxError>> + Send;

    /// The guarded statement that the crate sends.
    fn hand(
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
    (guarded: $guarded:literal, begin: $begin:literal, select: $select:literal, write: $write:literal) => {
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
    const EMPTY: &'static str = "DELETE FROM orders";
    const SETTLE: &'static str = "PRAGMA wal_checkpoint(TRUNCATE)";

    by_hand! {
        guarded: "UPDATE `orders` SET `status` = ?, `version` = `version` + 1, `trade_no` = ? WHERE `id` = ? AND `status` = ? AND `version` = ?",
        begin: "BEGIN IMMEDIATE",
        select: "SELECT status, version FROM orders WHERE id = ?",
        write: "UPDATE orders SET status = ?, version = version + 1, trade_no = ? WHERE id = ?"
    }
}

#[cfg(feature = "postgres")]
impl Rivals for sqlx::Postgres {
    const ENGINE: &'static str = "postgres";
    const CONNECTIONS: u32 = 32;
    const EMPTY: &'static str = "TRUNCATE orders";
    const SETTLE: &'static str = "ANALYZE orders";

    by_hand! {
        guarded: r#"UPDATE "orders" SET "status" = $1, "version" = "version" + 1, "trade_no" = $2 WHERE "id" = $3 AND "status" = $4 AND "version" = $5"#,
        begin: "BEGIN",
        select: "SELECT status, version FROM orders WHERE id = $1 FOR UPDATE",
        write: "UPDATE orders SET status = $1, version = version + 1, trade_no = $2 WHERE id = $3"
    }
}

#[cfg(feature = "mysql")]
impl Rivals for sqlx::MySql {
    const ENGINE: &'static str = "mariadb";
    const CONNECTIONS: u32 = 32;
    const EMPTY: &'static str = "TRUNCATE TABLE orders";
    const SETTLE: &'static str = "DO 0";

    by_hand! {
        guarded: "UPDATE `orders` SET `status` = ?, `version` = `version` + 1, `trade_no` = ? WHERE `id` = ? AND `status` = ? AND `version` = ?",
        begin: "START TRANSACTION",
        select: "SELECT status, version FROM orders WHERE id = ? FOR UPDATE",
        write: "UPDATE orders SET status = ?, version = version + 1, trade_no = ? WHERE id = ?"
    }
}
