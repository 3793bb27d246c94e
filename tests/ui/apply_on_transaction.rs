onward::lifecycle! {
    pub struct Order in "orders";
    pub struct OrderRow { id: i64 }
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

fn step(tx: &mut sqlx::Transaction<'static, sqlx::Sqlite>, pending: Order<Pending>) {
    drop(pending.cancel().apply(tx));
}

fn main() {}
