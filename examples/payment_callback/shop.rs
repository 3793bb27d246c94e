//! The shop: its orders, and the SQL of its own that runs beside them.

use chrono::{DateTime, Utc};
use onward::{Backend, BoxError, sqlx};
use sqlx::{AssertSqlSafe, Pool, QueryBuilder};
use std::future::Future;

onward::lifecycle! {
    /// An order of the shop.
    pub struct Order in "shop_orders";

    /// What every order has.
    pub struct OrderRow {
        order_no: String,
        amount_cents: i64,
        article: String,
        quantity: i64,
    }

    /// Where an order stands.
    pub enum AnyOrder: OrderStatus {
        Pending,
        Paid { provider: String, trade_no: String, paid_at: DateTime<Utc> },
        Cancelled,
    }

    transitions {
        /// Money arrived. The payment is the cause, not its delivery: the same payment may be told many times.
        pay:    Pending -> Paid by (provider, trade_no);
        cancel: Pending -> Cancelled;
    }

    journal in "shop_journal";
}

/// There is less left than was ordered.
#[derive(Debug, thiserror::Error)]
#[error("{article} is sold out")]
pub struct SoldOut {
    article: String,
}

/// What the shop asks of a database beyond its orders. A service with one database writes plain queries instead.
pub trait Shop: Backend {
    /// The tables, as in `migrations/…/examples`.
    const TABLES: &'static str;

    /// Takes goods from the stock, in the transaction that moves the order.
    fn deduct(
        tx: &mut Self::Connection,
        order_no: &str,
        article: &str,
        quantity: i64,
    ) -> impl Future<Output = Result<(), BoxError>> + Send;

    /// A start stock.
    fn stock(
        db: &Pool<Self>,
        article: &str,
        available: i64,
    ) -> impl Future<Output = Result<(), sqlx::Error>> + Send;

    /// Several statements.
    fn script(db: &Pool<Self>, sql: String) -> impl Future<Output = Result<(), sqlx::Error>> + Send;

    /// The one number that a query gives.
    fn number(db: &Pool<Self>, sql: &'static str) -> impl Future<Output = Result<i64, sqlx::Error>> + Send;

    /// What is left of an article, and how much of it was paid for.
    fn left_and_paid(
        db: &Pool<Self>,
        article: &str,
    ) -> impl Future<Output = Result<(i64, Vec<i64>), sqlx::Error>> + Send;

    /// How many entries of the inbox have this number, and are of this message and in this status.
    fn entries(
        db: &Pool<Self>,
        id: i64,
        source: &str,
        message_id: &str,
        status: &str,
    ) -> impl Future<Output = Result<i64, sqlx::Error>> + Send;
}

macro_rules! shop {
    ($db:ty, $tables:literal) => {
        impl Shop for $db {
            const TABLES: &'static str = include_str!($tables);

            async fn deduct(
                tx: &mut Self::Connection,
                order_no: &str,
                article: &str,
                quantity: i64,
            ) -> Result<(), BoxError> {
                let mut update = QueryBuilder::<$db>::new("UPDATE shop_stock SET available = available - ");
                update.push_bind(quantity).push(" WHERE article = ").push_bind(article);
                update.push(" AND available >= ").push_bind(quantity);
                if update.build().execute(&mut *tx).await?.rows_affected() == 0 {
                    return Err(SoldOut { article: article.to_owned() }.into());
                }
                let mut insert = QueryBuilder::<$db>::new("INSERT INTO shop_deductions VALUES (");
                insert
                    .separated(", ")
                    .push_bind(order_no)
                    .push_bind(article)
                    .push_bind(quantity)
                    .push_unseparated(")");
                insert.build().execute(&mut *tx).await?;
                Ok(())
            }

            async fn stock(db: &Pool<Self>, article: &str, available: i64) -> Result<(), sqlx::Error> {
                let mut insert = QueryBuilder::<$db>::new("INSERT INTO shop_stock VALUES (");
                insert.separated(", ").push_bind(article).push_bind(available).push_unseparated(")");
                insert.build().execute(db).await.map(drop)
            }

            async fn script(db: &Pool<Self>, sql: String) -> Result<(), sqlx::Error> {
                sqlx::raw_sql(AssertSqlSafe(sql)).execute(db).await.map(drop)
            }

            async fn number(db: &Pool<Self>, sql: &'static str) -> Result<i64, sqlx::Error> {
                sqlx::query_scalar(sql).fetch_one(db).await
            }

            async fn left_and_paid(db: &Pool<Self>, article: &str) -> Result<(i64, Vec<i64>), sqlx::Error> {
                let mut left = QueryBuilder::<$db>::new("SELECT available FROM shop_stock WHERE article = ");
                let left = left.push_bind(article).build_query_scalar().fetch_one(db).await?;
                let mut paid = QueryBuilder::<$db>::new(
                    "SELECT quantity FROM shop_orders WHERE status = 'paid' AND article = ",
                );
                let paid = paid.push_bind(article).build_query_scalar().fetch_all(db).await?;
                Ok((left, paid))
            }

            async fn entries(
                db: &Pool<Self>,
                id: i64,
                source: &str,
                message_id: &str,
                status: &str,
            ) -> Result<i64, sqlx::Error> {
                let mut count = QueryBuilder::<$db>::new("SELECT COUNT(*) FROM onward_inbox WHERE id = ");
                count.push_bind(id).push(" AND source = ").push_bind(source);
                count.push(" AND message_id = ").push_bind(message_id);
                count.push(" AND status = ").push_bind(status).build_query_scalar().fetch_one(db).await
            }
        }
    };
}

#[cfg(feature = "sqlite")]
shop!(sqlx::Sqlite, "../../migrations/sqlite/examples/payment_callback.sql");
#[cfg(feature = "postgres")]
shop!(sqlx::Postgres, "../../migrations/postgres/examples/payment_callback.sql");
#[cfg(feature = "mysql")]
shop!(sqlx::MySql, "../../migrations/mysql/examples/payment_callback.sql");
