mod m1 {
    onward::lifecycle! {
        pub struct Order in "orders" (version: DateTime<Utc>);
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
}

mod m2 {
    onward::lifecycle! {
        pub struct Order in "orders" (version: Option<i64>);
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
}

mod m3 {
    onward::lifecycle! {
        pub struct Order in "orders" (version: u128 = "lock");
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
}

fn main() {}
