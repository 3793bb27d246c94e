#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Cents(i64);

onward::lifecycle! {
    pub struct Order in "orders";
    pub struct OrderRow { id: i64, amount: Cents }
    pub enum AnyOrder: OrderStatus {
        Pending,
        Paid { trade_no: String },
        Cancelled,
    }
    transitions {
        pay: Pending -> Paid by trade_no;
        cancel: Pending -> Cancelled;
    }
}

async fn step(db: &sqlx::SqlitePool) {
    let _ = AnyOrder::find(db, 1).await;
}

fn main() {}
