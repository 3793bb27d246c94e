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

fn made_up() -> Order<Paid> {
    let row = OrderRow { id: 1 };
    Order(Paid { trade_no: String::new(), row })
}

fn changed(paid: Order<Paid>) {
    paid.trade_no = String::new();
}

fn replaced(paid: Order<Paid>, data: Paid) {
    *paid = data;
}

fn main() {}
