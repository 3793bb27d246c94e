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

fn step(db: &sqlx::SqlitePool) {
    drop(AnyOrder::find(db, 1));
}

fn main() {}
