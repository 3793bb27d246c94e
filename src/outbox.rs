//! An outbox for events: written in the transaction of what they tell about, published afterwards, in order per key.
//!
//! ```text
//!          write, in the transaction           claim                publish, mark
//!  event ─────────────────────────▶ pending ──────────▶ claimed ────────────────────▶ sent
//!                                      ▲                 │  │
//!                           give back  │   claimed again │  └──▶ failed ──▶ claimed again, after a delay
//!                                      │                 └ last attempt
//!                                      └──────────── needs attention ──▶ closed, with a note: never sent
//! ```
//!
//! Whoever publishes *in* the transaction tells of what may be rolled back; whoever publishes *after* it may die in
//! between, and nobody is told. So the event is a row of the same transaction, and **relays** send what was committed:
//! at least once, under the same id each time.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/order.rs"));
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), onward::BoxError> {
//! # let (db, order) = example().await?;
//! use onward::{BoxError, outbox::{Delivery, Event, Outbox, Status}};
//!
//! onward::migrate(&db).await?;
//! let outbox = Outbox::new("orders");
//! let to = outbox.clone();
//! let paid = order.pay("T-1".into()).apply_with(&db, async move |tx, paid| {
//!     let event = Event::new("order.paid", format!("order-{}", paid.id), "…").version(paid.version());
//!     to.write(tx, event).await.map(drop) // committed with the payment, or not at all
//! });
//! let paid = paid.await?.applied()?;
//! outbox.wake();
//!
//! // In a relay, which `outbox.relay(&db, stop, publish)` runs until it is stopped:
//! let publish = async |delivery: Delivery| -> Result<(), BoxError> {
//!     assert_eq!((delivery.topic(), delivery.row_version()), ("order.paid", Some(1)));
//!     Ok(())
//! };
//! assert_eq!(outbox.relay_next(&db, &publish).await?, Some(Status::Sent));
//! assert_eq!(outbox.relay_next(&db, &publish).await?, None);
//! # drop(paid);
//! # Ok(())
//! # }
//! ```
//!
//! # What order means
//!
//! Of the events of a key that are not done, only the one with the smallest number is sent. Numbers are given when the
//! event is written, and two transactions can commit in the other order: nothing is lost by that, since no relay goes by
//! "what comes after the last number". But the order **of one key** is that of the commits only if one transaction at a
//! time writes events of it. So let the key name the row, and write after the row is won: in `apply_with`, after
//! [`begin`](crate::Attempt::begin) or [`apply_in`](crate::Attempt::apply_in), after `lock`. The row's lock is then held
//! until the commit, and whoever comes next has seen it.
//!
//! Without such a lock both events are sent, each at least once, and the [version](Event::version) tells a receiver
//! which is newer. An event that is sent again (its relay died, or took longer than its claim) can come after later
//! ones: receivers go by id or version.
//!
//! On a cluster whose nodes lag, an event may be sent before each node shows what it tells about.
//!
//! # What is kept from going wrong
//!
//! An event that cannot be published holds up its own key alone. After the attempts of [`Outbox::policy`] it goes to a
//! person ([`Outbox::needs_attention`]), who gives it back or closes it; until then later events of its key wait, since
//! sending them would break the order. The default policy outlasts a broker that is down for two hours.
//!
//! A relay looks at as many rows as can be sent, not at those that are sent or wait behind others: neither a million
//! events that are done nor a long row of them behind a poisonous one slows it down.
//!
//! The table `onward_outbox` comes with [`migrate`](crate::migrate). Payloads, headers and keys reach neither `Debug` nor
//! `tracing`; times are the database's.

mod attention;
mod backlog;
mod claim;
mod delivery;
mod entry;
mod event;
mod mark;
mod observe;
mod publish;
mod purge;
mod relay;
mod write;

pub use backlog::Backlog;
pub use delivery::Delivery;
pub use entry::{Entry, Status};
pub use event::Event;
pub use publish::Publish;

use crate::{owner, policy::Policy};
use std::{sync::Arc, time::Duration};
use tokio::sync::Notify;

/// The outbox of one kind of events, with relays of its own; settings and a bell, so it is cheap to make and to clone.
///
/// ```
/// use onward::outbox::Outbox;
/// use std::time::Duration;
///
/// let outbox = Outbox::new("orders").claim_for(Duration::from_secs(10)).poll_every(Duration::from_millis(200));
/// # let _ = outbox;
/// ```
#[derive(Debug, Clone)]
pub struct Outbox {
    name: String,
    owner: String,
    policy: Policy,
    claim_for: Duration,
    poll_every: Duration,
    keep_for: Duration,
    bell: Arc<Notify>,
}

impl Outbox {
    /// The outbox of this name; at most 64 bytes. Keys are told apart within it.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            owner: owner::name(),
            policy: Policy::retry(20).delays(Duration::from_secs(1), Duration::from_mins(10)),
            claim_for: Duration::from_mins(1),
            poll_every: Duration::from_secs(1),
            keep_for: Duration::from_hours(7 * 24),
            bell: Arc::default(),
        }
    }

    /// How many attempts an event gets, and the delays between them; by default 20 attempts, after 1 s, 2 s, … 10 min.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// How long a claim holds, and how long publishing may take: one minute.
    pub fn claim_for(mut self, time: Duration) -> Self {
        self.claim_for = time;
        self
    }

    /// How long a relay waits when there is nothing to do and nobody [wakes](Outbox::wake) it: one second.
    pub fn poll_every(mut self, time: Duration) -> Self {
        self.poll_every = time;
        self
    }

    /// How long what is done is kept: 7 days.
    pub fn keep_for(mut self, time: Duration) -> Self {
        self.keep_for = time;
        self
    }

    /// Who claims, for people who look at the table; by default the process and a number. At most 64 bytes.
    pub fn owner(mut self, name: impl Into<String>) -> Self {
        self.owner = name.into();
        self
    }

    /// Wakes a relay of this process that runs on this outbox or a clone of it. Call it after the commit; if nobody does,
    /// polling finds the event.
    pub fn wake(&self) {
        self.bell.notify_one();
    }
}
