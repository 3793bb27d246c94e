//! A flash sale: 200 buyers, 10 units. Exactly 10 orders are paid, and nobody pays for what is not there.
//!
//! ```text
//! cargo run --example inventory
//! ```
//!
//! Stock is deducted by one guarded statement in the transaction that moves the order: both happen, or neither. A buyer
//! for whom nothing is left gets his order back as it was, and it is cancelled.

#![allow(missing_docs)]

use onward::{
    BoxError, Outcome, sqlx,
    stock::{Line, Operation, Stock, StockError},
};
use sqlx::{
    SqlitePool,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions},
};
use std::{sync::Arc, time::Duration};
use tokio::sync::Barrier;

const BUYERS: i64 = 200;
const UNITS: i64 = 10;

onward::lifecycle! {
    /// One buyer's order.
    pub struct Order in "orders";

    pub struct OrderRow {
        id: i64,
        article: String,
        quantity: i64,
    }

    pub enum AnyOrder: OrderStatus {
        Pending,
        Paid { payment_no: String },
        Cancelled { reason: String },
    }

    transitions {
        pay:    Pending -> Paid by payment_no;
        cancel: Pending -> Cancelled;
    }
}

const TABLES: &str = "
    CREATE TABLE orders (id INTEGER PRIMARY KEY, article TEXT NOT NULL, quantity INTEGER NOT NULL,
        status TEXT NOT NULL, version INTEGER NOT NULL, payment_no TEXT UNIQUE, reason TEXT);
    CREATE TABLE stock (article TEXT PRIMARY KEY, available INTEGER NOT NULL CHECK (available >= 0));";

static STOCK: Stock = Stock::new("stock");

/// One buyer presses the button.
async fn buy(db: &SqlitePool, id: i64) -> Result<bool, BoxError> {
    let order: Order<Pending> = Order::load(db, id).await?;
    let Outcome::Applied(mut won) = order.pay(format!("payment-{id}")).begin(db).await? else {
        return Err("nobody else pays this order".into());
    };
    let (tx, paid) = won.parts();
    match STOCK.deduct(tx, &Operation::of(paid), &[Line::new(&paid.article, paid.quantity)]).await {
        Ok(_) => {
            won.commit().await?;
            Ok(true)
        }
        Err(short @ StockError::Shortage { .. }) => {
            let order = won.rollback().await?;
            order.cancel(short.to_string()).apply(db).await?.applied()?;
            Ok(false)
        }
        Err(error) => Err(error.into()),
    }
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let folder = tempfile::tempdir()?;
    let file = SqliteConnectOptions::new()
        .filename(folder.path().join("sale.db"))
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .busy_timeout(Duration::from_secs(30));
    let db = SqlitePoolOptions::new().max_connections(10).connect_with(file).await?;
    sqlx::raw_sql(TABLES).execute(&db).await?;
    onward::migrate(&db).await?;
    sqlx::query("INSERT INTO stock VALUES ('lamp', ?)").bind(UNITS).execute(&db).await?;
    for id in 1..=BUYERS {
        let row = OrderRow { id, article: "lamp".into(), quantity: 1 };
        let _ = Order::create(row).apply(&db).await?.applied()?;
    }

    let start = Arc::new(Barrier::new(usize::try_from(BUYERS)?));
    let mut buyers = Vec::new();
    for id in 1..=BUYERS {
        let (db, start) = (db.clone(), start.clone());
        buyers.push(tokio::spawn(async move {
            start.wait().await;
            buy(&db, id).await
        }));
    }
    let mut sold = 0;
    for buyer in buyers {
        sold += i64::from(buyer.await??);
    }

    let count = async |sql: &'static str| sqlx::query_scalar::<_, i64>(sql).fetch_one(&db).await;
    let left = count("SELECT available FROM stock").await?;
    let paid = count("SELECT COUNT(*) FROM orders WHERE status = 'paid'").await?;
    let cancelled = count("SELECT COUNT(*) FROM orders WHERE status = 'cancelled'").await?;
    println!("{BUYERS} buyers, {UNITS} units: {sold} sold, {left} left, {cancelled} sent away");
    assert_eq!((sold, paid, left, cancelled), (UNITS, UNITS, 0, BUYERS - UNITS));
    println!("check: ok");
    Ok(())
}
