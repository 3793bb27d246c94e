//! Orders, approvals and payments that move forward, once.
//!
//! A payment provider sends a callback again because our reply was lost. The order was already paid; nobody looked;
//! stock was deducted again. The cure is known: states that only move forward, one guarded `UPDATE`, unique keys
//! underneath. Here it is a type.
//!
//! ```text
//!             pay              ship
//!  Pending ────────▶ Paid ────────────▶ Shipped          UPDATE orders SET status = 'paid', version = version + 1, …
//!     │                │                   │             WHERE id = ? AND status = 'pending' AND version = ?
//!     │ cancel         │ refund            │ refund
//!     ▼                ▼                   │             1 row:  Applied, an `Order<Paid>`
//!  Cancelled        Refunded ◀─────────────┘             0 rows: read again, and say exactly why
//! ```
//!
//! # A tour
//!
//! **Declare.** [`lifecycle!`] makes each state a type. `order.cancel()` on an `Order<Paid>` does not compile.
//!
//! **Attempt.** A transition's method makes an [`Attempt`]; nothing happens until it runs. It answers an [`Outcome`]:
//! a lost race is a value, and carries what is true now. An [`Error`] is a fault.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/order.rs"));
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), onward::BoxError> {
//! # let (db, _) = example().await?;
//! use onward::{Answer, Clash, Outcome};
//!
//! // A callback: the order in whatever state it is, the payment's number as the cause, a guard on the amount.
//! let Some(order) = AnyOrder::find(&db, 1).await? else { return Ok(()) };
//! let outcome = order.pay("T-1".into()).check(|order| order.amount_cents == 500).apply(&db).await?;
//! assert_eq!(outcome.answer(), Answer::Settled);
//! let paid: Order<Paid> = outcome.applied()?;
//! assert_eq!((paid.trade_no.as_str(), paid.version()), ("T-1", 1));
//!
//! // The same callback again: settled, and nothing happens. Another payment: somebody must look at it.
//! let Some(order) = AnyOrder::find(&db, 1).await? else { return Ok(()) };
//! assert!(matches!(order.pay("T-1".into()).apply(&db).await?, Outcome::Duplicate(_)));
//! let Some(order) = AnyOrder::find(&db, 1).await? else { return Ok(()) };
//! let outcome = order.pay("T-2".into()).apply(&db).await?;
//! assert_eq!(outcome.answer(), Answer::Escalate);
//! assert!(matches!(outcome, Outcome::Conflict(conflict) if conflict.clash == Clash::OtherCause));
//! # Ok(())
//! # }
//! ```
//!
//! **More in the same transaction.** Stock is deducted where the order moves, or neither happens:
//! [`Attempt::begin`] and [`Won`] without a closure, [`Attempt::apply_with`] with one, [`Attempt::apply_in`] in a
//! transaction of yours. A handle leaves only when the commit is known.
//!
//! **Decide.** [`Outcome::answer`] folds it all into what a callback handler decides on: [`Answer::Settled`],
//! [`Answer::Escalate`], [`Answer::Later`]. A [`Policy`] says whether to try again.
//!
//! **Rows.** `find`, `load`, `list`, `lock`, `create`, `amend` are methods of the declared types; see [`lifecycle!`].
//!
//! **The journal**, one line in the declaration: an entry for each write that took effect, in the same transaction. It
//! says whose payment moved the order ([`journal::History`]), decides repeats after any later step, makes a request unique
//! ([`Attempt::request_id`]), and settles a COMMIT whose reply was lost.
//!
//! **Inbox.** The [`inbox`] stores a callback or message before anything is decided, and keeps at it until it is done or a
//! person has to look. **[`once`](once())** tells the first time from a repeat in any transaction.
//!
//! **Stock.** [`stock`] takes the lines of an order out of a table of yours, all or none and never twice, and gives them
//! back.
//!
//! **Outbox.** The [`outbox`] holds events that are written in the same transaction, and relays publish them in order per
//! key. **[`sweep`]** moves on what has been in a state for too long. [`migrate`] creates the tables that the crate brings.
//!
//! **At the door.** A [`token`] is issued with a form and used up before the work; [`idempotency`] keeps the answer for whoever
//! sends a request again; a [`lease`] is for one at a time across machines, and whoever has lost it can no longer write.
//!
//! **Generic code** says `B: Backend` and nothing else; `&pool`, `&mut connection` and `&mut tx` are taken where they
//! make sense ([`Access`], [`Own`], [`Session`]).
//!
//! **Events.** Every outcome is a `tracing` event with the target `onward`: `lifecycle`, `transition`, `key`, `cause`,
//! `request_id`, `attempts`, `outcome`. Debug level for what was settled, info for what comes again, warn for what a
//! person has to look at, error for faults. No fact but the cause is ever shown.
//!
//! # Features
//!
//! | feature | what it brings |
//! |---|---|
//! | `sqlite` (default), `postgres`, `mysql` | databases, in any combination |
//! | `uuid`, `chrono`, `time`, `rust_decimal`, `json` | column types |
//! | `mysql-rsa`, `tls-…` | passed on to sqlx |
//! | `redis` | tokens, claims and leases in Redis |
//! | `testkit` | handles without a database, for tests |
#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(unreachable_pub)]

mod amendment;
mod attempt;
mod backend;
mod boundary;
mod clock;
mod course;
mod creation;
mod declare;
mod digest;
mod error;
mod fault;
mod forget;
mod handle;
mod headers;
mod hex;
mod holders;
pub mod idempotency;
pub mod inbox;
pub mod journal;
pub mod lease;
mod lifecycle;
mod migration;
mod note;
mod observe;
mod once;
pub mod outbox;
mod outcome;
mod owner;
mod pause;
mod plan;
mod policy;
mod query;
#[cfg(feature = "redis")]
pub mod redis;
mod row;
mod serialize;
mod session;
mod single_try;
mod statement;
pub mod stock;
pub mod sweep;
#[cfg(feature = "testkit")]
pub mod testkit;
mod together;
pub mod token;
mod transaction;
mod transition;
mod uncommitted;
mod won;
mod write;
mod writer;

pub use amendment::Amendment;
pub use attempt::Attempt;
pub use backend::{Backend, Supports};
pub use creation::Creation;
pub use error::{BoxError, Error, ErrorKind};
pub use handle::{Handle, Page};
pub use lifecycle::{Column, Description, Fact, Lifecycle, State, StateInfo, StatusType, TransitionInfo};
pub use migration::{Migration, migrate, migrations};
pub use once::{Once, forget_once, once};
pub use outcome::{Answer, Clash, Conflict, Outcome};
pub use policy::Policy;
pub use session::{Access, Own, Session};
pub use sqlx;
pub use transaction::{Transaction, begin};
pub use transition::Transition;
pub use uncommitted::Uncommitted;
pub use won::Won;

/// What the output of `lifecycle!` needs; no part of the public surface.
#[doc(hidden)]
pub mod __private {
    pub use crate::{
        error::BoxError,
        handle::{Seal, Snapshot, columns, debug_handle, find, from_row, list, load, lock},
        journal::history,
        lifecycle::{Source, Version},
        row::{Columns, Stored, StoredState, bind_code, bind_text, bind_version, no_such_fact},
        serialize::{deserialize_name, serialize_handle, text},
        statement::{Dialect, StatementCache, Statements},
    };

    pub use onward_macros::lifecycle;
    pub use {serde, sqlx, strum};
}

/// How it came to be as it is, and what changed.
#[cfg(any(doc, doctest))]
pub mod _documentation {
    #[doc = include_str!("../DESIGN.md")]
    pub mod design {}
    #[doc = include_str!("../CHANGELOG.md")]
    pub mod changelog {}
    #[doc = include_str!("../docs/once.md")]
    pub mod once {}
}
