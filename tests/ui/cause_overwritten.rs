onward::lifecycle! {
    pub struct Order in "orders";
    pub struct OrderRow { id: i64 }
    pub enum AnyOrder: OrderStatus {
        Pending,
        Paid { trade_no: String },
        Refunded { trade_no: String },
    }
    transitions {
        pay: Pending -> Paid by trade_no;
        refund: Paid -> Refunded;
    }
}

fn main() {}
