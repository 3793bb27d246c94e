mod m1 {
    onward::lifecycle! {
        pub struct OrderRow { id: i64 }
        pub struct Order in "orders";
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
}

mod m2 {
    onward::lifecycle! {
        pub struct Order { id: i64 }
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
}

fn main() {}
