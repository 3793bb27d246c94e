//! What only a journal can do: tell whose payment moved a row, and say so after many later steps.

mod causes;
mod clashes;
mod history;
mod requests;
mod table;
mod together;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod unsettled;

use crate::db::{Db, Fixture};
use onward::Lifecycle as _;

onward::lifecycle! {
    /// An order whose table has no unique index but its key: the journal alone tells payments apart.
    pub struct Order in "orders" (updated_at = "modified_at");
    pub struct OrderRow { id: i64, amount_cents: i64 }
    pub enum AnyOrder: OrderStatus {
        Pending,
        Paid { trade_no: String },
        Shipped: Paid { tracking_no: String },
        Refunded: Paid,
        Cancelled,
    }
    transitions {
        pay:    Pending        -> Paid by trade_no;
        ship:   Paid           -> Shipped by tracking_no shared;
        refund: Paid | Shipped -> Refunded;
        cancel: Pending | Paid -> Cancelled;
        expire: Pending        -> Cancelled;
    }
    journal in "order_journal";
}

const ORDERS: &str = "CREATE TABLE orders (id BIGINT PRIMARY KEY, amount_cents BIGINT NOT NULL, status VARCHAR(32) NOT NULL,
    version BIGINT NOT NULL DEFAULT 0, modified_at {timestamp}, trade_no VARCHAR(64), tracking_no VARCHAR(64));
  CREATE TABLE effects (order_id BIGINT NOT NULL)";

/// The tables, and this many pending orders from 1.
async fn orders<B: Db>(db: &Fixture<B>, count: i64) {
    db.run(ORDERS).await;
    db.run(&AnyOrder::DESCRIPTION.journal_table::<B>().unwrap()).await;
    for id in 1..=count {
        let _ = Order::create(row(id)).apply(&db.pool).await.unwrap().applied().unwrap();
    }
}

fn row(id: i64) -> OrderRow {
    OrderRow { id, amount_cents: 500 }
}

async fn pending<B: Db>(db: &Fixture<B>, id: i64) -> Order<Pending> {
    Order::load(&db.pool, id).await.unwrap()
}

async fn any<B: Db>(db: &Fixture<B>, id: i64) -> AnyOrder {
    AnyOrder::find(&db.pool, id).await.unwrap().unwrap()
}

async fn paid<B: Db>(db: &Fixture<B>, id: i64, trade_no: &str) -> Order<Paid> {
    pending(db, id).await.pay(trade_no.into()).apply(&db.pool).await.unwrap().applied().unwrap()
}

/// `transition:version` of each entry of an order.
async fn entries<B: Db>(db: &Fixture<B>, id: i64) -> Vec<String> {
    let mut c = db.pool.acquire().await.unwrap();
    let sql = |what| format!("SELECT {what} FROM order_journal WHERE row_key = {id} ORDER BY version");
    let names = B::texts(&mut c, &sql("transition")).await.unwrap();
    let versions = B::numbers(&mut c, &sql("version")).await.unwrap();
    names.into_iter().zip(versions).map(|(name, version)| format!("{name}:{version}")).collect()
}

/// That the journal and the rows tell the same story.
async fn agree<B: Db>(db: &Fixture<B>) {
    let apart = db
        .number(
            "SELECT COUNT(*) FROM orders o WHERE o.version <> (SELECT MAX(j.version) FROM order_journal j WHERE j.row_key = o.id)
             OR o.status <> (SELECT j.to_state FROM order_journal j WHERE j.row_key = o.id AND j.version = o.version)",
        )
        .await;
    assert_eq!(apart, 0);
}
