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

async fn write(_: &mut sqlx::SqliteConnection, _: &str) -> Result<(), sqlx::Error> {
    Ok(())
}

async fn handler(db: &sqlx::SqlitePool, pending: Order<Pending>, note: &str) {
    let work = pending.cancel().apply_with(db, async |tx, _| write(tx, note).await);
    let _ = work.await;
}

fn spawned(db: sqlx::SqlitePool, pending: Order<Pending>) {
    tokio::spawn(async move { handler(&db, pending, "late").await });
}

fn main() {}
