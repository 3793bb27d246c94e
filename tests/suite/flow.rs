//! The whole flow of a payment: stored, claimed, paid with its journal and its goods, marked, answered. It is killed
//! and cut off at every step.

#[cfg(unix)]
mod crashes;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod cuts;

use crate::db::{Db, Fixture, types};
use onward::{
    Answer, BoxError, Error, Lifecycle as _, Outcome, Policy,
    inbox::{Claim, Inbox, Message},
};
use sqlx::Pool;
use std::time::Duration;

onward::lifecycle! {
    /// Nothing but the journal keeps a payment from settling two orders.
    pub struct Order in "orders";
    pub struct OrderRow { id: i64 }
    pub enum AnyOrder: OrderStatus {
        Pending,
        Paid { trade_no: String },
    }
    transitions {
        pay: Pending -> Paid by trade_no;
    }
    journal in "order_journal";
}

const TABLES: &str =
    "CREATE TABLE orders (id BIGINT PRIMARY KEY, status VARCHAR(32) NOT NULL, version BIGINT NOT NULL,
    trade_no VARCHAR(64));
  CREATE TABLE deductions (order_id BIGINT NOT NULL);
  CREATE TABLE stock (article VARCHAR(32) PRIMARY KEY, available BIGINT NOT NULL);
  INSERT INTO stock VALUES ('tea', 1000000)";

/// What the stock begins with.
const STOCK: i64 = 1_000_000;

/// The steps of the flow, in order.
const STEPS: [&str; 9] =
    ["arrived", "stored", "claimed", "found", "won", "deducted", "marked", "worked", "answered"];

/// How long a claim of a process that died holds.
const CLAIM: Duration = Duration::from_millis(250);

async fn tables<B: Db>(db: &Fixture<B>) {
    db.run(&types::<B>(TABLES)).await;
    db.run(&AnyOrder::DESCRIPTION.journal_table::<B>().unwrap()).await;
    onward::migrate(&db.pool).await.unwrap();
}

/// One delivery of the notification about an order's payment.
struct Delivery {
    order: i64,
    /// The provider sends the same notification again, and other notifications about the same payment.
    notification: u32,
}

/// What became of a delivery.
struct Told {
    answer: Result<Answer, Error>,
    /// What the attempt itself said, if it came to that; the cuts ask.
    #[allow(dead_code)]
    paid: Option<Result<Outcome<Order<Paid>>, BoxError>>,
}

impl Delivery {
    fn inbox() -> Inbox {
        // A claim is lost at every kill; none of that is the message's fault.
        let policy = Policy::retry(10_000).delays(Duration::from_millis(5), Duration::from_millis(50));
        Inbox::new("provider").claim_for(CLAIM).policy(policy)
    }

    /// As a handler does it; `step` hears where it is.
    async fn handled<B: Db>(
        &self,
        pool: &Pool<B>,
        step: impl Fn(&'static str) + Clone + Send + Sync + 'static,
    ) -> Told {
        step("arrived");
        let mut paid = None;
        let answer = async {
            let inbox = Self::inbox();
            let message = Message::new(format!("order {}", self.order)).key(self.order.to_string());
            let id = format!("N-{}-{}", self.order, self.notification);
            let stored = inbox.store(pool, &id, &message).await?;
            step("stored");
            let Some(claim) = inbox.claim(pool, stored.entry().id).await? else {
                return Ok(stored.answer());
            };
            step("claimed");
            let work = self.paid(pool, claim.clone(), step.clone()).await;
            step("worked");
            let answer = claim.settle(pool, &work).await;
            paid = Some(work);
            answer
        };
        let answer = answer.await;
        step("answered");
        Told { answer, paid }
    }

    async fn paid<B: Db>(
        &self,
        pool: &Pool<B>,
        claim: Claim,
        step: impl Fn(&'static str) + Send + Sync + 'static,
    ) -> Result<Outcome<Order<Paid>>, BoxError> {
        let Some(order) = AnyOrder::find(pool, self.order).await? else { return Ok(Outcome::NotFound) };
        step("found");
        let deduct = format!("INSERT INTO deductions VALUES ({})", self.order);
        let paid = order.pay(format!("T-{}", self.order)).apply_with(pool, async move |tx, _| {
            step("won");
            B::run(tx, &deduct).await?;
            B::run(tx, "UPDATE stock SET available = available - 1").await?;
            step("deducted");
            claim.applied(tx).await?;
            step("marked");
            Ok::<_, BoxError>(())
        });
        Ok(paid.await?)
    }
}

/// What went wrong with the payments of the orders from 1 to `orders`, each notified by `notifications`.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wrong {
    lost: i64,
    doubled: i64,
}

/// By plain SQL, when all deliveries have been answered.
async fn counted<B: Db>(db: &Fixture<B>, orders: i64, notifications: i64) -> Wrong {
    let number = async |sql: &str| db.number(sql).await;
    let pays = "SELECT COUNT(*) FROM order_journal WHERE transition = 'pay'";
    let distinct = number(&format!(
        "SELECT COUNT(*) FROM orders o WHERE o.status = 'paid' AND o.version = 1 AND EXISTS (SELECT 1 FROM order_journal j
           WHERE j.row_key = o.id AND j.version = 1 AND j.transition = 'pay' AND j.cause = o.trade_no)
           AND EXISTS (SELECT 1 FROM deductions d WHERE d.order_id = o.id) AND o.id <= {orders}"
    ))
    .await;
    let entries = number("SELECT COUNT(*) FROM onward_inbox").await;
    let done = number("SELECT COUNT(*) FROM onward_inbox WHERE status IN ('applied', 'duplicate')").await;
    let applied = number("SELECT COUNT(*) FROM onward_inbox WHERE status = 'applied'").await;
    let deductions = number("SELECT COUNT(*) FROM deductions").await;
    let taken = STOCK
        - number("SELECT CAST(available AS SIGNED) FROM stock".replace("SIGNED", bigint::<B>()).as_str())
            .await;
    let lost = [orders - distinct, orders * notifications - entries, entries - done, orders - applied];
    let doubled = [number(pays).await - orders, deductions - orders, taken - orders, applied - orders];
    Wrong {
        lost: lost.into_iter().map(|missing| missing.max(0)).sum(),
        doubled: doubled.into_iter().map(|more| more.max(0)).sum(),
    }
}

fn bigint<B: Db>() -> &'static str {
    if B::ENGINE == "mariadb" { "SIGNED" } else { "BIGINT" }
}
