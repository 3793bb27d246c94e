onward::lifecycle! {
    pub struct Order in "orders";
    #[cfg_attr(feature = "eq", derive(PartialEq, Eq))]
    pub struct OrderRow { id: i64 }
    pub enum AnyOrder: OrderStatus {
        Pending,
        #[cfg_attr(all(), derive(Eq, Hash))]
        Paid { trade_no: String },
        #[cfg_attr(any(), derive(Debug, Hash, std::clone::Clone))]
        Cancelled,
    }
    transitions {
        pay: Pending -> Paid by trade_no;
        cancel: Pending -> Cancelled;
    }
}

fn main() {}
