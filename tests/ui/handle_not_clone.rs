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

fn twice(paid: Order<Paid>) -> (Order<Paid>, Order<Paid>) {
    (paid.clone(), paid)
}

fn used_up(pending: Order<Pending>) {
    let _ = pending.pay(String::new());
    let _ = pending.cancel();
}

fn main() {}
