mod m1 {
    onward::lifecycle! {
        pub struct Order in "orders";
    }
}

mod m2 {
    onward::lifecycle! {
        pub struct Order in "orders";
        pub struct OrderRow { id: i64 }
    }
}

mod m3 {
    onward::lifecycle! {
        pub struct Order in "orders";
        pub struct OrderRow { id: i64 }
        pub enum AnyOrder: OrderStatus {
            Pending,
            Paid { trade_no: String },
            Cancelled,
        }
    }
}

mod m4 {
    onward::lifecycle! {
        pub struct Order in "orders";
        pub struct OrderRow { id: i64 }
        pub enum AnyOrder: OrderStatus {
            Pending,
            Paid { trade_no: String },
            Cancelled,
        }
        transition {
            pay: Pending -> Paid by trade_no;
            cancel: Pending -> Cancelled;
        }
    }
}

mod m5 {
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
        pub struct More;
    }
}

mod m6 {
    onward::lifecycle! {
        pub struct Order in "orders";
        pub struct OrderRow {  }
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

mod m7 {
    onward::lifecycle! {
        pub struct Order in "orders";
        pub struct OrderRow { id: i64 }
        pub enum AnyOrder: OrderStatus {
            
        }
        transitions {
            
        }
    }
}

fn main() {}
