use serde::de::DeserializeOwned;

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

fn read<T: DeserializeOwned>() {}

fn from_anywhere() {
    read::<Order<Paid>>();
    read::<AnyOrder>();
    read::<OrderStatus>();
}

fn main() {}
