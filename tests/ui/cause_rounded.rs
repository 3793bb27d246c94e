mod m1 {
    onward::lifecycle! {
        pub struct Order in "orders";
        pub struct OrderRow { id: i64 }
        pub enum AnyOrder: OrderStatus {
            Pending,
            Paid { trade_no: String, paid_at: chrono::DateTime<chrono::Utc> },
            Cancelled,
        }
        transitions {
            pay: Pending -> Paid by paid_at;
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
            Paid { trade_no: String, amount: f64 },
            Cancelled,
        }
        transitions {
            pay: Pending -> Paid by (trade_no, amount);
            cancel: Pending -> Cancelled;
        }
    }
}

fn main() {}
