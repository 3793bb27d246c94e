onward::lifecycle! {
    pub struct Order in "orders";
    pub struct OrderRow { id: i64, note: String }
    pub enum AnyOrder: OrderStatus {
        Pending,
        Paid { note: String },
        Cancelled,
    }
    transitions {
        pay: Pending -> Paid;
        cancel: Pending -> Cancelled;
    }
}

fn main() {}
