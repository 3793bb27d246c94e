mod m1 {
    onward::lifecycle! {
        pub struct Order in "orders";
        pub struct OrderRow { id: i64 }
        pub enum AnyOrder: OrderStatus {
            Pending,
            Paid { trade_no: String },
            Cancelled,
        }
        /// What happens.
        transitions {
            pay: Pending -> Paid by trade_no;
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
        transitions {
            pay: Pending -> Paid by trade_no;
            cancel: Pending -> Cancelled;
        }
        /// What happened.
        journal in "order_journal";
    }
}

fn main() {}
