//! The whole flow of an order, killed and cut off at every step:
//!
//! ```text
//!                            ┌ callback ─▶ inbox ─▶ paid, its reservation confirmed ─┐
//!  created, stock reserved ──┤                                                       ├─▶ relay ─▶ broker ─▶ consumer
//!   (an event)               └ too old ─▶ sweep ─▶ cancelled, its reservation released ┘
//!                                                  (an event, in the same transaction)
//! ```

mod broker;
mod counted;
#[cfg(unix)]
mod crashes;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod cuts;
mod payment;
mod relay;
mod unpaid;

use crate::db::{Db, Fixture, types};
use chrono::{DateTime, TimeDelta, Utc};
use onward::{
    BoxError, Error, Lifecycle as _, Outcome, Policy,
    outbox::{Event, Outbox},
    stock::{Line, Operation, Stock},
};
use sqlx::Pool;
use std::time::Duration;

onward::lifecycle! {
    /// Nothing but the journal keeps a payment from settling two orders.
    pub struct Order in "orders";
    pub struct OrderRow { id: i64, held_until: DateTime<Utc> }
    pub enum AnyOrder: OrderStatus {
        Pending,
        Paid { trade_no: String },
        Cancelled,
    }
    transitions {
        pay: Pending -> Paid by trade_no;
        cancel: Pending -> Cancelled;
    }
    journal in "order_journal";
}

/// No constraint of a table finds what the checks are to find.
const TABLES: &str = "CREATE TABLE orders (id BIGINT PRIMARY KEY, held_until {timestamp} NOT NULL,
    status VARCHAR(32) NOT NULL, version BIGINT NOT NULL, trade_no VARCHAR(64));
  CREATE TABLE goods (article VARCHAR(32) PRIMARY KEY, available BIGINT NOT NULL, reserved BIGINT NOT NULL);
  INSERT INTO goods VALUES ('tea', 1000000, 0), ('box', 1000000, 0);
  CREATE TABLE mails (event_id VARCHAR(64) NOT NULL, order_id BIGINT NOT NULL, version BIGINT NOT NULL)";

/// What the stock of each article begins with.
const STOCKED: i64 = 1_000_000;
static STOCK: Stock = Stock::new("goods");

/// What is reserved for an order, and confirmed or released later.
fn tea() -> [Line; 1] {
    [Line::new("tea", 2)]
}

/// How long a claim of a process that died holds, in the inbox and in the outbox.
const CLAIM: Duration = Duration::from_millis(250);

/// A claim is lost at every kill; none of that is the message's or the event's fault.
fn patient() -> Policy {
    Policy::retry(10_000).delays(Duration::from_millis(5), Duration::from_millis(50))
}

async fn tables<B: Db>(db: &Fixture<B>) {
    db.run(&types::<B>(TABLES)).await;
    db.run(&AnyOrder::DESCRIPTION.journal_table::<B>().unwrap()).await;
    onward::migrate(&db.pool).await.unwrap();
}

/// Hears where the flow is.
trait Say: Fn(&'static str) + Clone + Send + Sync + 'static {}

impl<F: Fn(&'static str) + Clone + Send + Sync + 'static> Say for F {}

/// How an order ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Paid,
    /// Nobody pays, and the sweep takes it.
    Cancelled,
    /// Payment and sweep come at about the same time.
    Either,
}

impl End {
    /// One after the other.
    fn of(order: i64) -> Self {
        [End::Paid, End::Cancelled, End::Either][usize::try_from(order).unwrap() % 3]
    }

    fn held_until(self) -> DateTime<Utc> {
        let held = match self {
            End::Paid => TimeDelta::hours(1),
            End::Cancelled => TimeDelta::zero(),
            End::Either => TimeDelta::milliseconds(i64::try_from(index(40)).unwrap()),
        };
        Utc::now() + held
    }
}

fn index(below: usize) -> usize {
    use std::hash::{BuildHasher as _, RandomState};
    usize::try_from(RandomState::new().hash_one(0) >> 33).unwrap() % below
}

fn outbox() -> Outbox {
    Outbox::new("orders").claim_for(CLAIM).policy(patient())
}

/// An event about an order, in the transaction that moves it.
async fn event<B: Db>(
    tx: &mut B::Connection,
    topic: &'static str,
    order: i64,
    version: i64,
) -> Result<(), BoxError> {
    let event = Event::new(topic, order.to_string(), format!("{topic} {order}")).version(version);
    Ok(outbox().write(tx, event).await.map(drop)?)
}

/// Creates an order and reserves its goods, unless that was done before.
async fn created<B: Db>(
    pool: &Pool<B>,
    id: i64,
    end: End,
    step: impl Say,
) -> Result<Outcome<Order<Pending>>, Error> {
    let row = OrderRow { id, held_until: end.held_until() };
    let within = step.clone();
    let created = Order::create(row).apply_with(pool, async move |tx, order| {
        STOCK.reserve(tx, &Operation::of(order), &tea()).await?;
        within("new: reserved");
        event::<B>(tx, "created", id, order.version()).await?;
        within("new: event");
        Ok::<_, BoxError>(())
    });
    let created = created.await;
    step("new: done");
    created
}
