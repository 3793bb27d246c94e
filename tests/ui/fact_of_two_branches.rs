mod m1 {
    onward::lifecycle! {
        pub struct Order in "orders";
        pub struct OrderRow { id: i64 }
        pub enum AnyOrder: OrderStatus {
            Pending,
            Paid { reason: String },
            Cancelled { reason: Option<String> },
        }
        transitions {
            pay: Pending -> Paid;
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
            Paid { reason: String },
            Cancelled { reason: String = "why" },
        }
        transitions {
            pay: Pending -> Paid;
            cancel: Pending -> Cancelled;
        }
    }
}

mod m3 {
    onward::lifecycle! {
        pub struct Order in "orders";
        pub struct OrderRow { id: i64 }
        pub enum AnyOrder: OrderStatus {
            Pending,
            Paid { reason: String },
            Cancelled { why: String = "reason" },
        }
        transitions {
            pay: Pending -> Paid;
            cancel: Pending -> Cancelled;
        }
    }
}

mod m4 {
    onward::lifecycle! {
        pub struct Order in "orders";
        pub struct OrderRow { id: i64 }
        pub enum AnyOrder: OrderStatus {
            Pending,
            Paid { reason: String unique },
            Cancelled { reason: String },
        }
        transitions {
            pay: Pending -> Paid;
            cancel: Pending -> Cancelled;
        }
    }
}

fn main() {}
