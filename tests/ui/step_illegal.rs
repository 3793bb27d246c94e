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

fn again(paid: Order<Paid>) {
    let _ = paid.pay(String::new());
}

fn without_its_facts(pending: Order<Pending>) {
    let _ = pending.pay();
}

fn main() {}
