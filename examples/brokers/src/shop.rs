//! What both examples tell about: orders that are paid, and points for them.

use onward::{
    BoxError,
    outbox::{Event, Outbox},
};
use sqlx::{SqliteConnection, SqlitePool};
use std::{env, fs, path::PathBuf, process, time::Duration};

/// The receiver's table; its rows are doubled if its work is.
pub const POINTS: &str = "CREATE TABLE points (id INTEGER PRIMARY KEY, event_id TEXT NOT NULL, order_no TEXT NOT NULL, \
                          paid TEXT NOT NULL)";

/// A database in a file of its own. Shop and receiver are two services with a database each; here it is the same.
pub struct Shop {
    /// Its pool.
    pub db: SqlitePool,
    file: PathBuf,
}

impl Shop {
    /// # Errors
    ///
    /// The database's.
    pub async fn open() -> Result<Self, BoxError> {
        let file = env::temp_dir().join(format!("onward-brokers-{}.db", process::id()));
        let db = SqlitePool::connect(&format!("sqlite:{}?mode=rwc", file.display())).await?;
        onward::migrate(&db).await?;
        sqlx::query(POINTS).execute(&db).await?;
        Ok(Self { db, file })
    }

    /// Orders are paid, each in a transaction with its event. With a lifecycle it is `order.pay(…).apply_with(…)`.
    ///
    /// # Errors
    ///
    /// The database's.
    pub async fn pay(&self, outbox: &Outbox, orders: i64) -> Result<(), BoxError> {
        for order in 1..=orders {
            let mut tx = onward::begin(&self.db).await?;
            outbox
                .write(&mut tx, Event::new("order.paid", format!("order-{order}"), "12.50").version(1))
                .await?;
            tx.commit().await?;
        }
        outbox.wake();
        Ok(())
    }

    /// Waits until this many orders have points, and says so.
    ///
    /// # Errors
    ///
    /// The database's, or that an order got points twice.
    pub async fn credited(&self, orders: i64) -> Result<(), BoxError> {
        let count = "SELECT COUNT(DISTINCT event_id), COUNT(*) FROM points";
        loop {
            let (events, credited): (i64, i64) = sqlx::query_as(count).fetch_one(&self.db).await?;
            if credited > events {
                return Err(format!("{credited} credits for {events} events").into());
            }
            if credited >= orders {
                println!("{credited} orders were credited");
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        for end in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{end}", self.file.display()));
        }
    }
}

/// The receiver's work: points for an order, in the transaction that remembers the message.
///
/// # Errors
///
/// The database's.
pub async fn credit(
    tx: &mut SqliteConnection,
    event_id: &str,
    order: &str,
    paid: &[u8],
) -> Result<(), BoxError> {
    let points = sqlx::query("INSERT INTO points (event_id, order_no, paid) VALUES (?, ?, ?)");
    points.bind(event_id).bind(order).bind(String::from_utf8_lossy(paid)).execute(tx).await?;
    Ok(())
}
