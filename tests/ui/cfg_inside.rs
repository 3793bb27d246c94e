onward::lifecycle! {
    pub struct Order in "orders";
    pub struct OrderRow { id: i64, #[cfg(feature = "notes")] note: String }
    pub enum AnyOrder: OrderStatus {
        Pending,
        Paid { trade_no: String },
        #[cfg_attr(unix, cfg(feature = "cancel"))]
        Cancelled,
    }
    transitions {
        pay: Pending -> Paid by trade_no;
        cancel: Pending -> Cancelled;
    }
}

fn main() {}
