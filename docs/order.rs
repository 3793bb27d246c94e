// The lifecycle of the examples in the documentation, and a database with one pending order.
onward::lifecycle! {
    pub struct Order in "orders";
    pub struct OrderRow { id: i64, amount_cents: i64, note: Option<String> }
    pub enum AnyOrder: OrderStatus {
        Pending,
        Paid { trade_no: String },
        Shipped: Paid { tracking_no: String },
        Cancelled,
    }
    transitions {
        pay:    Pending -> Paid by trade_no;
        ship:   Paid    -> Shipped by tracking_no shared;
        cancel: Pending -> Cancelled;
    }
}

#[allow(dead_code)]
async fn example() -> Result<(onward::sqlx::SqlitePool, Order<Pending>), onward::BoxError> {
    use onward::sqlx::{raw_sql, sqlite::SqlitePoolOptions};
    let db = SqlitePoolOptions::new().max_connections(1).connect("sqlite::memory:").await?;
    let tables = "CREATE TABLE orders (id INTEGER PRIMARY KEY, amount_cents INTEGER, note TEXT, status TEXT,
        version INTEGER, trade_no TEXT UNIQUE, tracking_no TEXT);
        CREATE TABLE stock (available INTEGER); INSERT INTO stock VALUES (5)";
    raw_sql(tables).execute(&db).await?;
    let row = OrderRow { id: 1, amount_cents: 500, note: None };
    let order = Order::create(row).apply(&db).await?.applied()?;
    Ok((db, order))
}
