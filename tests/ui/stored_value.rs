mod m1 {
    onward::lifecycle! {
        pub struct Order in "orders";
        pub struct OrderRow { id: i64 }
        pub enum AnyOrder: OrderStatus {
            Pending,
            Paid = "PENDING",
        }
        transitions {
            pay: Pending -> Paid;
        }
    }
}

mod m2 {
    onward::lifecycle! {
        pub struct Order in "orders";
        pub struct OrderRow { id: i64 }
        pub enum AnyOrder: OrderStatus {
            Pending,
            Paid = 2,
        }
        transitions {
            pay: Pending -> Paid;
        }
    }
}

mod m3 {
    onward::lifecycle! {
        pub struct Order in "orders";
        pub struct OrderRow { id: i64 }
        pub enum AnyOrder: OrderStatus as i16 {
            Pending = 1,
            Paid,
        }
        transitions {
            pay: Pending -> Paid;
        }
    }
}

mod m4 {
    onward::lifecycle! {
        pub struct Order in "orders";
        pub struct OrderRow { id: i64 }
        pub enum AnyOrder: OrderStatus as u8 {
            Pending = 1,
            Paid = 300,
        }
        transitions {
            pay: Pending -> Paid;
        }
    }
}

mod m5 {
    onward::lifecycle! {
        pub struct Order in "orders";
        pub struct OrderRow { id: i64 }
        pub enum AnyOrder: OrderStatus as String {
            Pending = 1,
            Paid = 2,
        }
        transitions {
            pay: Pending -> Paid;
        }
    }
}

fn main() {}
