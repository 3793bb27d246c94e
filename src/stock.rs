//! Stock that falls once for each order, never below zero, in the transaction in which the order moves.
//!
//! ```text
//!              reserve                confirm
//!  available ───────────▶ reserved ───────────▶ taken          one guarded statement a line:
//!      │  ▲ ▲    release     │                   ▲  │          UPDATE stock SET available = available - ?
//!      │  │ └────────────────┘                   │  │          WHERE article = ? AND available >= ?
//!      │  │                deduct                │  │
//!      │  │   ───────────────────────────────────┘  │          and one entry in the ledger:
//!      └──┼─────────────── restore ─────────────────┘          which order, line, kind, operation, and how many
//!         └─────────────────────────────────────────
//! ```
//!
//! The table is yours: [`Stock`] names it and its columns. The ledger is the crate's, and comes with
//! [`migrate`](crate::migrate).
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/order.rs"));
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), onward::BoxError> {
//! # let (db, order) = example().await?;
//! # onward::migrate(&db).await?;
//! use onward::{BoxError, sqlx, stock::{Line, Operation, Stock, StockError}};
//!
//! static STOCK: Stock = Stock::new("goods").article("sku").available("on_hand");
//!
//! let goods = "CREATE TABLE goods (sku TEXT PRIMARY KEY, on_hand INTEGER NOT NULL);
//!     INSERT INTO goods VALUES ('tea', 5), ('cup', 1)";
//! sqlx::raw_sql(goods).execute(&db).await?;
//!
//! let short = order.pay("T-1".into()).apply_with(&db, async |tx, paid| {
//!     STOCK.deduct(tx, &Operation::of(paid), &[Line::new("tea", 2), Line::new("cup", 2)]).await?;
//!     Ok::<_, BoxError>(())
//! });
//! // One cup is left: nothing was taken, and the order is as it was.
//! let error = short.await.unwrap_err();
//! let Some(StockError::Shortage { article, wanted, available }) = error.effect() else { return Err(error.into()) };
//! assert_eq!((article.to_string().as_str(), *wanted, *available), ("cup", 2, 1));
//!
//! let order: Order<Pending> = Order::load(&db, 1).await?;
//! let paid = order.pay("T-1".into()).apply_with(&db, async |tx, paid| {
//!     STOCK.deduct(tx, &Operation::of(paid), &[Line::new("tea", 2), Line::new("cup", 1)]).await.map(drop)
//! });
//! assert_eq!(paid.await?.applied()?.version(), 1);
//! let left: Vec<i64> = sqlx::query_scalar("SELECT on_hand FROM goods ORDER BY sku").fetch_all(&db).await?;
//! assert_eq!(left, [0, 3]);
//! # Ok(())
//! # }
//! ```
//!
//! # What is a repeat?
//!
//! An entry is unique by (order, line, kind, operation). The [`Operation`] is by default the attempt that moves the order,
//! known by the version that the order has then: the same when the work runs again after an engine conflict, another
//! one for a second shipment of the same line. Where the business has a name for it, give that
//! ([`named`](Operation::named)): with the parcel's number, each parcel takes its part once, whichever way it comes.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/order.rs"));
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), onward::BoxError> {
//! # let (db, order) = example().await?;
//! # onward::migrate(&db).await?;
//! # let goods = "CREATE TABLE goods (article TEXT, available INTEGER); INSERT INTO goods VALUES ('tea', 5)";
//! # onward::sqlx::raw_sql(goods).execute(&db).await?;
//! use onward::stock::{Line, Operation, Stock};
//!
//! static STOCK: Stock = Stock::new("goods");
//!
//! for (parcel, moved) in [("parcel-1", 1), ("parcel-2", 1), ("parcel-1", 0)] {
//!     let mut tx = onward::begin(&db).await?;
//!     let ship = Operation::of(&order).named(parcel);
//!     assert_eq!(STOCK.deduct(&mut tx, &ship, &[Line::new("tea", 2)]).await?.moved, moved);
//!     tx.commit().await?;
//! }
//! # let left: i64 = onward::sqlx::query_scalar("SELECT available FROM goods").fetch_one(&db).await?;
//! # assert_eq!(left, 1);
//! # Ok(())
//! # }
//! ```
//!
//! # Reserve, then confirm or release
//!
//! An order sets its goods aside when it is created; paying takes them, and whoever does not pay within half an hour
//! loses them to others. Each is one operation of the step it belongs to, so none of them needs a name. A line keeps its
//! name from the reserve on: what is confirmed, released or restored is what the order has **on that line**.
//!
//! ```
//! use chrono::{DateTime, Utc};
//! use onward::{BoxError, sqlx, stock::{Line, Operation, Stock}, sweep::Sweep};
//! use std::time::Duration;
//!
//! onward::lifecycle! {
//!     pub struct Order in "orders";
//!     pub struct OrderRow { id: i64, article: String, quantity: i64, created_at: DateTime<Utc> }
//!     pub enum AnyOrder: OrderStatus { Pending, Paid { trade_no: String }, Cancelled }
//!     transitions {
//!         pay:    Pending -> Paid by trade_no;
//!         cancel: Pending -> Cancelled;
//!     }
//! }
//!
//! static STOCK: Stock = Stock::new("goods");
//!
//! /// A handle coerces to its row.
//! fn lines(order: &OrderRow) -> [Line; 1] {
//!     [Line::new(&order.article, order.quantity)]
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), BoxError> {
//! # let db = sqlx::sqlite::SqlitePoolOptions::new().max_connections(1).connect("sqlite::memory:").await?;
//! # sqlx::raw_sql("CREATE TABLE orders (id INTEGER PRIMARY KEY, article TEXT, quantity INTEGER, created_at TEXT,
//! #     status TEXT, version INTEGER, trade_no TEXT)").execute(&db).await?;
//! # onward::migrate(&db).await?;
//! let goods = "CREATE TABLE goods (article TEXT PRIMARY KEY, available INTEGER NOT NULL, reserved INTEGER NOT NULL);
//!     INSERT INTO goods VALUES ('tea', 5, 0)";
//! sqlx::raw_sql(goods).execute(&db).await?;
//!
//! # let long_ago = Utc::now() - Duration::from_secs(3_600);
//! for (id, created_at) in [(1, Utc::now()), (2, long_ago)] {
//!     let row = OrderRow { id, article: "tea".into(), quantity: 2, created_at };
//!     let created = Order::create(row).apply_with(&db, async |tx, order| {
//!         STOCK.reserve(tx, &Operation::of(order), &lines(order)).await.map(drop)
//!     });
//!     created.await?.applied()?;
//! }
//!
//! let order: Order<Pending> = Order::load(&db, 1).await?;
//! let paid = order.pay("T-1".into()).apply_with(&db, async |tx, paid| {
//!     STOCK.confirm(tx, &Operation::of(paid), &lines(paid)).await.map(drop)
//! });
//! paid.await?.applied()?;
//!
//! // By a timer.
//! let unpaid = Sweep::<Pending>::older_than(Duration::from_mins(30)).since("created_at");
//! let swept = unpaid.run_with(&db, |order| order.cancel(), async |tx, cancelled| {
//!     STOCK.release(tx, &Operation::of(cancelled), &lines(cancelled)).await.map(drop)
//! });
//! assert_eq!(swept.await?.applied, 1);
//! let left: (i64, i64) = sqlx::query_as("SELECT available, reserved FROM goods").fetch_one(&db).await?;
//! assert_eq!(left, (3, 0));
//! # Ok(())
//! # }
//! ```
//!
//! Where reserve, confirm and release are messages between programs rather than steps of one order, they are named after
//! the reservation, and can come in any order: see [`release`](Stock::release).
//!
//! # Locks
//!
//! The order's row comes first (the attempt's UPDATE, or `AnyOrder::lock`), then stock rows in the order of their
//! articles, whatever the order of the lines: orders for the same articles wait for each other instead of blocking each
//! other. Two calls in one transaction that touch several articles can undo that; make it one call.
//!
//! An article on which everybody waits is held from its statement to the commit, so let stock be the last work before
//! it. Where the future of a call was dropped before its end, in a transaction of your own, roll that back.

mod declaration;
mod entry;
mod error;
mod kind;
mod line;
mod movement;
mod operation;
mod stop;
mod texts;

pub use declaration::Stock;
pub use error::StockError;
pub use line::{Article, Line};
pub use movement::Moved;
pub use operation::Operation;
