onward::lifecycle! {
    pub struct Order in "orders";
    pub struct OrderRow { id: i64 }
    pub enum AnyOrder: OrderStatus { Pending, Paid { trade_no: String } }
    transitions { pay: Pending -> Paid by trade_no; }
}

onward::lifecycle! {
    pub struct Bill in "bills";
    pub struct BillRow { id: i64 }
    pub enum AnyBill: BillStatus {
        Open,
        Paid { trade_no: String },
    }
    transitions { settle: Open -> Paid by trade_no; }
}

fn main() {}
