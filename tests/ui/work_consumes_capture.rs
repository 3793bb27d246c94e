use onward::{BoxError, Outcome};

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
}

async fn step(db: &sqlx::SqlitePool, pending: Order<Pending>, note: String) {
    let work = pending.cancel().apply_with(db, async move |_, _| {
        drop(note);
        Ok::<_, BoxError>(())
    });
    let _: Result<Outcome<_>, _> = work.await;
}

fn main() {}
