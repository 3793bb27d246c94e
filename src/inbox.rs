//! An inbox for callbacks over HTTP and for messages from a queue: stored first, claimed, worked on, marked.
//!
//! ```text
//!            store            claim                     applied, in the transaction of the work
//!  message ─────────▶ received ────▶ claimed ──────────▶ applied
//!                         ▲            │ │ │  settle ───▶ duplicate · refused
//!                 give back            │ │ └────────────▶ failed ────▶ claimed again, after a delay
//!                         │            │ └ last attempt
//!                         └──────── needs attention ───▶ closed, with a note
//! ```
//!
//! **Store** what was verified before anything is decided ([`Inbox::store`]); what was not goes aside
//! ([`Inbox::set_aside`]) and can take nobody's place. **Claim** it ([`Inbox::claim`], [`Inbox::claim_next`]): the claim,
//! and the count of attempts with it, is committed before the work begins. **Mark** it in the transaction of the work
//! ([`Claim::applied`]) and **settle** the rest ([`Claim::settle`]).
//!
//! It turns repeats of a *delivery* away. What a message means is told by the lifecycle's *cause*; see
//! [`docs/once.md`](crate::_documentation::once).
//!
//! # Within the request, or by a worker?
//!
//! *Within the request*: the sender learns at once whether it worked, and its own retries bring the message again. Right
//! where the work is one short transaction.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/order.rs"));
//! use onward::{Answer, BoxError, inbox::{Claim, Inbox, Message}, sqlx::{self, SqlitePool}};
//!
//! /// Everything here was verified: the signature, whose account it is, that it is a payment.
//! async fn on_payment(db: &SqlitePool, notify_id: &str, order_id: i64, trade_no: String, body: &[u8])
//!     -> Result<Answer, BoxError>
//! {
//!     let inbox = Inbox::new("alipay");
//!     let message = Message::new(body).key(order_id.to_string());
//!     let stored = inbox.store(db, notify_id, &message).await?;
//!     let Some(claim) = inbox.claim(db, stored.entry().id).await? else { return Ok(stored.answer()) };
//!     let work = pay(db, claim.clone(), order_id, trade_no).await;
//!     Ok(claim.settle(db, &work).await?)
//! }
//!
//! async fn pay(db: &SqlitePool, claim: Claim, order_id: i64, trade_no: String)
//!     -> Result<onward::Outcome<Order<Paid>>, BoxError>
//! {
//!     let Some(order) = AnyOrder::find(db, order_id).await? else { return Ok(onward::Outcome::NotFound) };
//!     let paid = order.pay(trade_no).apply_with(db, async move |tx, _paid| {
//!         sqlx::query("UPDATE stock SET available = available - 1").execute(&mut *tx).await?;
//!         claim.applied(tx).await?; // committed with the payment, or not at all
//!         Ok::<_, BoxError>(())
//!     });
//!     Ok(paid.await?)
//! }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), onward::BoxError> {
//! # let (db, order) = example().await?;
//! onward::migrate(&db).await?;
//! for _ in 0..2 {
//!     assert_eq!(on_payment(&db, "N-1", 1, "T-1".into(), b"raw").await?, Answer::Settled);
//! }
//! // Another payment for the same order goes to a person, and the sender is told success.
//! assert_eq!(on_payment(&db, "N-2", 1, "T-2".into(), b"raw").await?, Answer::Escalate);
//! # assert_eq!(Order::<Paid>::load(&db, 1).await?.trade_no, "T-1");
//! # Ok(())
//! # }
//! ```
//!
//! *By a worker*: store it, answer success at once, and let [`Inbox::work`] do the rest. Right where the work takes long,
//! or the sender is impatient, or does not send again. Both can go together: a worker then picks up what the sender did
//! not bring again.
//!
//! # What is kept from going wrong
//!
//! A claim runs out ([`Inbox::claim_for`]), so an entry whose worker died is taken over; the late one can mark nothing
//! any more, and `applied` makes it roll back. Make the time longer than the longest work. A message on which every
//! attempt fails, even by killing the process, ends with a person after the attempts of [`Inbox::policy`].
//!
//! The tables `onward_inbox` and `onward_unverified` come with [`migrate`](crate::migrate). Payloads, headers and keys
//! reach neither `Debug` nor events; times are the database's.

mod attention;
mod claim;
mod entry;
mod mark;
mod message;
mod observe;
mod purge;
mod settle;
mod store;
mod unverified;
mod work;

pub use claim::Claim;
pub use entry::{Entry, Status};
pub use message::Message;
pub use purge::Purged;
pub use settle::Settles;
pub use store::Stored;
pub use unverified::Unverified;

use crate::policy::Policy;
use std::time::Duration;

const DAY: Duration = Duration::from_hours(24);

/// The inbox of one source, such as a payment provider or a queue; settings only, so it is cheap to make and to clone.
///
/// ```
/// use onward::{Policy, inbox::Inbox};
/// use std::time::Duration;
///
/// let inbox = Inbox::new("alipay").claim_for(Duration::from_secs(30)).policy(Policy::callback());
/// # let _ = inbox;
/// ```
#[derive(Debug, Clone)]
pub struct Inbox {
    source: String,
    owner: String,
    policy: Policy,
    claim_for: Duration,
    poll_every: Duration,
    keep_for: Duration,
    unverified_limit: u32,
    unverified_bytes: usize,
    unverified_for: Duration,
}

impl Inbox {
    /// The inbox of this source; at most 64 bytes.
    pub fn new(source: impl Into<String>) -> Self {
        Self {
            source: source.into(),
            owner: crate::owner::name(),
            policy: Policy::callback(),
            claim_for: Duration::from_mins(1),
            poll_every: Duration::from_secs(1),
            keep_for: 30 * DAY,
            unverified_limit: 1_000,
            unverified_bytes: 64 * 1024,
            unverified_for: 7 * DAY,
        }
    }

    /// How many attempts an entry gets, and the delays between them; by default [`Policy::callback`]: three attempts,
    /// after 1 s and 2 s.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// How long a claim holds: one minute. Longer than the longest work.
    pub fn claim_for(mut self, time: Duration) -> Self {
        self.claim_for = time;
        self
    }

    /// How long a worker waits when there is nothing to do: one second.
    pub fn poll_every(mut self, time: Duration) -> Self {
        self.poll_every = time;
        self
    }

    /// How long what is done is kept: 30 days. Longer than the sender's last retry.
    pub fn keep_for(mut self, time: Duration) -> Self {
        self.keep_for = time;
        self
    }

    /// Who claims, for people who look at the table; by default the process and a number. At most 64 bytes.
    pub fn owner(mut self, name: impl Into<String>) -> Self {
        self.owner = name.into();
        self
    }

    /// How many messages that nobody could verify are kept: 1000.
    pub fn unverified_limit(mut self, messages: u32) -> Self {
        self.unverified_limit = messages;
        self
    }

    /// How much of each of them is kept: 64 KiB of the body, and as much of the headers.
    pub fn unverified_bytes(mut self, bytes: usize) -> Self {
        self.unverified_bytes = bytes;
        self
    }

    /// How long they are kept: 7 days.
    pub fn unverified_for(mut self, time: Duration) -> Self {
        self.unverified_for = time;
        self
    }
}
