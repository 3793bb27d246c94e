mod m1 {
    onward::lifecycle! {
        pub struct Order in "orders";
        pub struct OrderRow { id: i64 }
        pub enum AnyOrder: OrderStatus {
            Pending,
            pub Paid { trade_no: String },
            pub(crate) Cancelled,
        }
        transitions {
            pub pay: Pending -> Paid by trade_no;
            cancel: Pending -> Cancelled;
        }
    }
}

mod m2 {
    onward::lifecycle! {
        pub struct Order in "orders";
        pub struct OrderRow { id: i64 }
        pub enum AnyOrder: OrderStatus {
            Pending,
            Paid { trade_no: String },
            Cancelled,
        }
        pub transitions {
            pay: Pending -> Paid by trade_no;
            cancel: Pending -> Cancelled;
        }
    }
}

fn main() {}
