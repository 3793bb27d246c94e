mod m1 {
    onward::lifecycle! {
        pub struct Order in "orders";
        pub struct OrderRow { id: i64 }
        pub enum AnyOrder: OrderStatus {
            Pending,
            Paid: Shipped,
            Shipped,
        }
        transitions {
            pay: Pending -> Paid;
            ship: Pending -> Shipped;
        }
    }
}

mod m2 {
    onward::lifecycle! {
        pub struct Order in "orders";
        pub struct OrderRow { id: i64 }
        pub enum AnyOrder: OrderStatus {
            Pending,
            Paid: Paid,
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
        pub enum AnyOrder: OrderStatus {
            Pending: Paid,
            Paid,
        }
        transitions {
            pay: Pending -> Paid;
        }
    }
}

fn main() {}
