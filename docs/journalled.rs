// The declaration that examples in the documentation share where they need a journal.
onward::lifecycle! {
    /// An order.
    pub struct Order in "orders";
    /// What every order has.
    pub struct OrderRow { id: i64 }
    /// Where an order stands.
    pub enum AnyOrder: OrderStatus { Pending, Paid { trade_no: String }, Cancelled }
    transitions {
        pay:    Pending -> Paid by trade_no;
        cancel: Pending -> Cancelled;
    }
    journal in "order_journal";
}

async fn example() -> Result<(onward::sqlx::SqlitePool, Order<Pending>), onward::BoxError> {
    use onward::{Lifecycle as _, sqlx};
    let db = sqlx::sqlite::SqlitePoolOptions::new().max_connections(1).connect("sqlite::memory:").await?;
    let orders = "CREATE TABLE orders (id INTEGER PRIMARY KEY, status TEXT, version INTEGER, trade_no TEXT)";
    sqlx::raw_sql(orders).execute(&db).await?;
    let journal = AnyOrder::DESCRIPTION.journal_table::<sqlx::Sqlite>()?;
    sqlx::raw_sql(sqlx::AssertSqlSafe(journal)).execute(&db).await?;
    let order = Order::create(OrderRow { id: 1 }).apply(&db).await?.applied()?;
    Ok((db, order))
}
