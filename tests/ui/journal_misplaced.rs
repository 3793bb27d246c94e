mod early {
    onward::lifecycle! {
        pub struct Order in "orders";
        pub struct OrderRow { id: i64 }
        pub enum AnyOrder: OrderStatus {
            Pending,
            Paid { trade_no: String },
        }
        journal in "order_journal";
        transitions {
            pay: Pending -> Paid by trade_no;
        }
    }
}

mod same_table {
    onward::lifecycle! {
        pub struct Order in "orders";
        pub struct OrderRow { id: i64 }
        pub enum AnyOrder: OrderStatus {
            Pending,
            Paid { trade_no: String },
        }
        transitions {
            pay: Pending -> Paid by trade_no;
        }
        journal in "orders";
    }
}

fn main() {}
