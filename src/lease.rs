//! Leases: one at a time, across machines, for a while.
//!
//! For work that several workers should not do at the same time, such as a nightly settlement or a call to a provider that
//! bears no second one. Whoever has the lease goes on; it is renewed in the background until it is given back or lost, and
//! taken over by somebody else when its holder has died.
//!
//! **A lease is not what keeps work from being done twice.** A holder that was stopped for long enough (a halted machine, a
//! network that was cut) believes that it still has what somebody else has by now, and no clock can keep it from that. What
//! keeps the late one from writing is the lease's number, its *fence*: each holder's is greater than all before it, also
//! after the lease was given back. So:
//!
//! - **Write under the fence.** [`.fenced(&lease)`](crate::Attempt::fenced) on an attempt, or
//!   [`hold_in`](Lease::hold_in) in a transaction of your own: the lease's row is locked by a write and its number compared
//!   before the rest, in the same transaction. Nobody can take the lease over until that transaction ends, and the late
//!   original is refused ([`Clash::Fenced`](crate::Clash::Fenced)), even if it was waiting for that lock already.
//! - **Always check the state again inside.** That nobody else has the lease does not say that nobody else has done the
//!   work: the holder before may have come to its end just before it died. States that only move forward, request ids and
//!   unique keys are the last word; the lease only saves work, waiting and conflicts.
//! - **Stop when it is lost.** [`lost`](Lease::lost) is a cancellation token: of a renewal that finds the lease taken it tells
//!   at once, and of one that gets no answer while a tenth of the time is left, before anybody else can have it.
//! - **Let it last two to three times as long as the job takes**, 30 seconds by default, so that a job is rarely interrupted
//!   and a dead holder's work soon taken up. Keep transactions that hold it shorter than a third of that: renewing waits for
//!   their lock.
//!
//! For one row, a lease is the wrong thing: transitions, [`lock`](crate::lifecycle!) and [`once`](crate::once()) are exact by
//! themselves. It does not order work, and nobody is promised a turn.
//!
//! Time is told by the store's clock and, at the holder's, by a clock that only measures spans, and that began before the
//! request was sent: what the clocks and time zones of clients say makes no difference. On a cluster each node has a clock of
//! its own, and where they differ a lease may be taken over early or late by as much. Then nothing is done twice either: the
//! holder before is told by its next renewal, and is fenced.
//!
//! # Where
//!
//! In the database (`Leases::new(&pool)`; the table comes with [`migrate`](crate::migrate)), or in Redis, with numbers
//! from the database (`InRedis`, feature `redis`): a Redis that is restarted has forgotten who holds what, so that two may
//! believe that they do, and only the newer one can write. All that want a lease of one name draw their numbers from one
//! database: the numbers of two say nothing about each other. Where attempts run in another database than the one that gives
//! the numbers, its own `onward_lease` keeps the highest number that was seen there. Never delete rows from that table.
//!
//! Renewing needs a connection of the pool. Where jobs use all of them, give the leases a pool of their own.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/journalled.rs"));
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), onward::BoxError> {
//! # let (db, _) = example().await?;
//! use onward::lease::Leases;
//! use std::time::Duration;
//! onward::migrate(&db).await?;
//! let leases = Leases::new(&db);
//!
//! // Waits for it for a second; `None` if somebody else has it all the time.
//! let Some(lease) = leases.wait_for("cancel unpaid orders", Duration::from_secs(1)).await? else { return Ok(()) };
//! assert!(leases.acquire("cancel unpaid orders").await?.is_none());
//!
//! let job = async {
//!     // The state as it is now, whoever had the lease before.
//!     let Some(order) = AnyOrder::find(&db, 1).await? else { return Ok(()) };
//!     let outcome = order.cancel().fenced(&lease).apply(&db).await?;
//!     assert_eq!(outcome.as_str(), "applied");
//!     Ok::<(), onward::BoxError>(())
//! };
//! // `None` if the lease was lost: then the job is dropped where it stands.
//! lease.lost().run_until_cancelled(job).await.transpose()?;
//! lease.release().await?; // or drop it
//! # Ok(())
//! # }
//! ```

mod fenced;
mod keep;
#[cfg(feature = "redis")]
mod redis;
mod sql;

#[cfg(feature = "redis")]
pub use self::redis::InRedis;
pub(crate) use fenced::Fence;
pub use tokio_util::sync::CancellationToken;

use crate::{
    error::{Error, ErrorKind},
    policy::Policy,
    query::{KEY, fits},
};
use keep::keep;
use std::{future::Future, time::Duration};
use tokio::{
    sync::{oneshot, watch},
    time::Instant,
};

const TABLE: &str = "onward_lease";

/// Where leases are kept: `&pool`, or `&InRedis`.
pub trait LeaseStore: sealed::Store {}

mod sealed {
    use super::{Duration, Error, Future};

    pub trait Store: Clone + Send + Sync + 'static {
        /// Takes it unless somebody else has it, and gives it a number. What is there by this owner's name already is its own.
        fn take(
            &self,
            name: &str,
            owner: &str,
            lasting: Duration,
        ) -> impl Future<Output = Result<Option<i64>, Error>> + Send;

        /// From now on for as long again; `false` if it is the owner's no more.
        fn renew(
            &self,
            name: &str,
            owner: &str,
            lasting: Duration,
        ) -> impl Future<Output = Result<bool, Error>> + Send;

        /// Gives it back, if it is the owner's.
        fn release(&self, name: &str, owner: &str) -> impl Future<Output = Result<(), Error>> + Send;
    }
}
pub(crate) use sealed::Store;

/// Acquires leases; see the [module](self).
#[derive(Debug, Clone)]
pub struct Leases<S> {
    store: S,
    lasting: Duration,
}

/// Further away than any lease lasts: clocks end somewhere.
const LONGEST: Duration = Duration::from_hours(24 * 365 * 100);

impl<S: LeaseStore> Leases<S> {
    /// Leases that last 30 seconds.
    pub fn new(store: &S) -> Self {
        Self { store: store.clone(), lasting: Duration::from_secs(30) }
    }

    /// How long a lease lasts from when it was acquired or renewed: two to three times as long as the job takes. It is
    /// renewed after each third of that.
    pub fn lasting(self, lasting: Duration) -> Self {
        Self { lasting: lasting.clamp(Duration::from_millis(1), LONGEST), ..self }
    }

    /// Acquires the lease of this name, of at most 512 bytes; `None` if somebody else has it.
    ///
    /// Where it has run out while its holder is in a transaction that holds it, this waits for the end of that transaction.
    /// Dropped, it leaves nothing behind: a lease that comes too late is given back.
    ///
    /// # Errors
    ///
    /// [`TooLong`](ErrorKind::TooLong), [`Busy`](ErrorKind::Busy), [`Database`](ErrorKind::Database) if the store cannot
    /// be reached, [`CommitUnknown`](ErrorKind::CommitUnknown) if it stopped answering. **Do no work then**; what was taken all the
    /// same runs out.
    pub fn acquire(&self, name: &str) -> impl Future<Output = Result<Option<Lease>, Error>> + Send + use<S> {
        let (leases, name) = (self.clone(), name.to_owned());
        async move { leases.try_to_acquire(&name).await }
    }

    /// Acquires it as soon as it is free; `None` if that takes longer than `timeout`. Whoever waits asks again and again,
    /// at least twice a second, and not in the order in which they came. Nothing is had in no time: to ask once there is
    /// [`acquire`](Leases::acquire).
    ///
    /// # Errors
    ///
    /// As for [`acquire`](Leases::acquire), at the first of them.
    pub fn wait_for(
        &self,
        name: &str,
        timeout: Duration,
    ) -> impl Future<Output = Result<Option<Lease>, Error>> + Send + use<S> {
        const PAUSE: Duration = Duration::from_millis(250);
        let (leases, name) = (self.clone(), name.to_owned());
        async move {
            let waits = async {
                let mut delays = Policy::retry(u32::MAX).delays(Duration::from_millis(20), PAUSE).backoff();
                loop {
                    let acquired = leases.try_to_acquire(&name).await;
                    if !matches!(acquired, Ok(None)) {
                        return acquired;
                    }
                    tokio::time::sleep(delays.next().unwrap_or(PAUSE)).await;
                }
            };
            tokio::time::timeout(timeout, waits).await.unwrap_or(Ok(None))
        }
    }

    async fn try_to_acquire(&self, name: &str) -> Result<Option<Lease>, Error> {
        let failed = |error: Error| error.table_or(TABLE).step("lease").key(&name);
        fits(name, KEY, "name", TABLE).map_err(failed)?;
        let (give, given) = oneshot::channel();
        // On a task of its own, which outlives this future if it must, to give back what nobody wants any more.
        tokio::spawn(keep(self.store.clone(), name.to_owned(), self.lasting, give));
        given.await.unwrap_or_else(|_| Err(gone())).map_err(failed)
    }
}

/// The task that keeps a lease ends before its holder only with the runtime.
fn gone() -> Error {
    Error::new(ErrorKind::Busy, TABLE).note("the runtime is shutting down; what was taken runs out by itself")
}

/// Asks for the end of a lease, and wants to know how that went.
type Farewell = oneshot::Sender<Result<(), Error>>;

/// A lease that was acquired. It is renewed by a task of its own, also while its holder is busy, until it is
/// [given back](Lease::release), dropped or [lost](Lease::lost).
///
/// On a runtime with a single thread that task runs only while its holder awaits: work that blocks goes to
/// [`spawn_blocking`](tokio::task::spawn_blocking) there.
#[derive(Debug)]
#[must_use = "given back when dropped"]
pub struct Lease {
    fence: Fence,
    until: watch::Receiver<Instant>,
    end: oneshot::Sender<Farewell>,
}

impl Lease {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.fence.name
    }

    /// Its number: greater than that of every holder before, in microseconds since 1970 or so. To fence what `onward` does
    /// not write, keep the highest number that was seen beside it, and refuse smaller ones in the statement that writes.
    pub fn fence(&self) -> i64 {
        self.fence.number
    }

    /// Cancelled when the lease is lost, or its holder can no longer be sure of it: at once when a renewal finds it taken or
    /// gone or a write under its fence is refused, and when a tenth of its time is left and no renewal has been answered. A
    /// lease that is lost is not renewed again.
    ///
    /// `lost().run_until_cancelled(job)` drops the job then.
    pub fn lost(&self) -> CancellationToken {
        self.fence.lost.clone()
    }

    /// Whether its holder can be sure that nobody else has it. The answer may be over as soon as it is given: what is written
    /// is written under the [fence](Lease::hold_in).
    pub fn is_held(&self) -> bool {
        !self.fence.lost.is_cancelled() && Instant::now() < *self.until.borrow()
    }

    /// Gives it back. Where it is somebody else's by now, it does nothing.
    ///
    /// A lease that is dropped instead is given back by its task, as long as the runtime runs. One whose process ends runs
    /// out by itself.
    ///
    /// # Errors
    ///
    /// [`Busy`](ErrorKind::Busy), [`Database`](ErrorKind::Database), [`CommitUnknown`](ErrorKind::CommitUnknown): then it runs out by itself.
    pub fn release(self) -> impl Future<Output = Result<(), Error>> + Send {
        async move {
            let Self { fence, end, .. } = self;
            let (ask, told) = oneshot::channel();
            let told = match end.send(ask) {
                Ok(()) => told.await.unwrap_or_else(|_| Err(gone())),
                Err(_) => Err(gone()),
            };
            told.map_err(|error| error.table_or(TABLE).step("release").key(&fence.name))
        }
    }
}
