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
mod texts;

pub use declaration::Stock;
pub use error::StockError;
pub use line::{Article, Line};
pub use movement::Moved;
pub use operation::Operation;
