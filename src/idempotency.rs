//! Idempotency keys: whoever sends a request again is told what the first one was answered.
//!
//! ```text
//!                       claim ┌ nobody has it ───▶ Owned ── work ──▶ finished: the answer is stored
//!  a key, and a payload ──────┤                      ▲  └ failed ──▶ released, or the failure is stored
//!                             ├ its time is over ────┘ taken over
//!                             ├ somebody works on it ▶ InProgress   come back in a moment
//!                             ├ it was answered ─────▶ Answered     the same answer again
//!                             └ another payload ─────▶ OtherPayload refused
//! ```
//!
//! A key is claimed before the work, for a while (two minutes). Of many who come with it at once one works, and the others
//! are told so at once, rather than kept waiting. Whoever comes later gets the answer that is stored. An owner that died
//! is taken over once its claim has run out, and can finish nothing any more.
//!
//! # Where claims are kept
//!
//! **In the database of the work** (`&pool`; the table comes with [`migrate`](crate::migrate)) the answer is written in the
//! transaction of the work ([`Owned::finish_in`]): both are committed, or neither. Whose claim was taken over rolls back,
//! and so no work is done twice as long as the table stands. Times are those of the database's clock, never the client's; on
//! a cluster whose nodes' clocks differ, a claim is taken over early or late by as much, and still one owner alone can finish.
//!
//! **In Redis** (`redis::Redis`, feature `redis`) a claim is **advisory**: the answer is stored after the
//! commit ([`Owned::finish`]), and an owner that was taken over learns of it only then. It turns away nearly everybody, and
//! what is underneath must turn away the rest.
//!
//! Wherever they are, they can get lost. So the work carries [`Owned::request_id`] as the
//! [`request_id`](crate::Attempt::request_id) of an attempt whose lifecycle has a journal, or as the key of
//! [`once`](crate::once()): what was done under it is not done again. It says nothing of the payload, which was forgotten with
//! the claim: before you answer with what was done under it, see that it is what was asked for. If claims cannot be reached,
//! `claim` is an error, and **no work may be done**.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/journalled.rs"));
//! use onward::{Answer, BoxError, Outcome, idempotency::{Claim, Claims, Owned, Reply}, sqlx::{self, SqlitePool}};
//!
//! /// `POST /orders/1/payment` with an `Idempotency-Key`.
//! async fn on_request(db: &SqlitePool, key: &str, trade_no: &str) -> Result<Reply, BoxError> {
//!     let claims = Claims::new(db, "payment");
//!     Ok(match claims.claim(key, trade_no.as_bytes()).await? {
//!         Claim::Owned(owned) => pay(db, &owned, trade_no).await?,
//!         Claim::Answered(reply) => reply,
//!         Claim::InProgress { wait } => Reply::new(409, format!("try again in {wait:?}")),
//!         Claim::OtherPayload => Reply::new(422, "this key came with something else"),
//!     })
//! }
//!
//! async fn pay(db: &SqlitePool, owned: &Owned<SqlitePool>, trade_no: &str) -> Result<Reply, BoxError> {
//!     let Some(order) = AnyOrder::find(db, 1).await? else {
//!         owned.release().await?; // it may be created yet
//!         return Ok(Reply::new(404, ""));
//!     };
//!     let paid = Reply::new(200, "paid");
//!     let (claim, reply) = (owned.clone(), paid.clone());
//!     let attempt = order.pay(trade_no.into()).request_id(owned.request_id());
//!     let work = attempt.apply_with(db, async move |tx, _paid| {
//!         claim.finish_in(tx, &reply).await // last, and its error rolls everything back
//!     });
//!     let outcome = match work.await {
//!         Ok(outcome) => outcome,
//!         Err(error) => {
//!             owned.release_after(&error).await?; // not if it may have been applied
//!             return Err(error.into());
//!         }
//!     };
//!     let reply = match outcome {
//!         Outcome::Applied(_) => return Ok(paid), // stored with the payment
//!         Outcome::Duplicate(_) => paid,
//!         outcome if outcome.answer() == Answer::Later => {
//!             owned.release().await?; // the same request may yet succeed
//!             return Ok(Reply::new(503, ""));
//!         }
//!         _ => Reply::new(402, "cannot be paid"), // a failure that comes again likewise
//!     };
//!     owned.finish(&reply).await?;
//!     Ok(reply)
//! }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), BoxError> {
//! # let (db, _) = example().await?;
//! onward::migrate(&db).await?;
//!
//! for _ in 0..2 {
//!     assert_eq!(on_request(&db, "key-1", "T-1").await?, Reply::new(200, "paid"));
//! }
//! assert_eq!(on_request(&db, "key-1", "T-2").await?.status(), 422);
//! for _ in 0..2 {
//!     assert_eq!(on_request(&db, "key-2", "T-2").await?.status(), 402);
//! }
//! # Ok(())
//! # }
//! ```

mod held;
mod owned;
#[cfg(feature = "redis")]
mod redis;
mod reply;
mod sql;

pub use owned::Owned;
pub use reply::Reply;

use crate::{
    error::Error,
    journal::fresh_identity,
    query::{KEY, SOURCE, fits},
};
use held::{Found, Held};
use sha2::{Digest as _, Sha256};
use std::{future::Future, sync::OnceLock, time::Duration};

const TABLE: &str = "onward_claim";

/// Where claims are kept: `&pool`, or `&redis`.
pub trait ClaimStore: sealed::Store {}

mod sealed {
    use super::{Error, Found, Future, Held, Reply};

    pub trait Store: Clone + std::fmt::Debug + Send + Sync + 'static {
        /// Claims it, unless somebody else has; what this owner has claimed before is found so again.
        fn claim(&self, held: &Held) -> impl Future<Output = Result<Found, Error>> + Send;

        /// Stores the answer if it is still this owner's, and says whether it was; the same answer again is, too.
        fn finish(&self, held: &Held, reply: &Reply) -> impl Future<Output = Result<bool, Error>> + Send;

        /// Frees the key if it is still this owner's and has no answer.
        fn release(&self, held: &Held) -> impl Future<Output = Result<(), Error>> + Send;
    }
}
pub(crate) use sealed::Store;

/// The claims of one kind of business; settings only, so it is cheap to make and to clone.
#[derive(Debug, Clone)]
pub struct Claims<S> {
    store: S,
    business: String,
    expires: Duration,
    keeps: Duration,
}

/// What became of a claim.
#[derive(Debug)]
#[must_use = "the work belongs to the owner alone"]
pub enum Claim<S> {
    /// It is ours: do the work, and finish it.
    Owned(Owned<S>),
    /// Somebody else works on it, or died doing so. `wait` is a suggestion for when to come again: as long as it has taken so
    /// far, and never longer than the claim still holds.
    InProgress {
        /// Not before this.
        wait: Duration,
    },
    /// It is done, and this was the answer.
    Answered(Reply),
    /// The key came with another payload before: a mistake of whoever made the key.
    OtherPayload,
}

impl<S: ClaimStore> Claims<S> {
    /// For one kind of business (a route), of at most 64 bytes. Claims hold for two minutes, answers for a day.
    pub fn new(store: &S, business: impl Into<String>) -> Self {
        Self {
            store: store.clone(),
            business: business.into(),
            expires: Duration::from_mins(2),
            keeps: Duration::from_hours(24),
        }
    }

    /// How long a claim holds before the work may be taken over: longer than the longest work.
    pub fn expires(self, time: Duration) -> Self {
        Self { expires: time, ..self }
    }

    /// How long an answer is kept, and that of a claim whose owner died for as long beyond its end. **A key that is
    /// forgotten can be claimed again**: make it longer than whoever sends a request tries again.
    pub fn keeps(self, time: Duration) -> Self {
        Self { keeps: time, ..self }
    }

    /// Claims a key, of at most 512 bytes, for a payload. It is committed at once, before the work.
    ///
    /// The fingerprint is whatever makes two requests the same: the body, the path, who asks. Its hash is kept. Keys of
    /// different customers must differ: put the customer in front, or into the business.
    ///
    /// A reply that is lost is settled by asking again: who has it is kept beside it. A claim that is dropped runs out by itself.
    ///
    /// # Errors
    ///
    /// [`TooLong`](crate::ErrorKind::TooLong), [`Busy`](crate::ErrorKind::Busy), [`Database`](crate::ErrorKind::Database) if the store cannot be
    /// reached, [`CommitUnknown`](crate::ErrorKind::CommitUnknown) if it stopped answering: then it may be claimed, and runs out. **Do no
    /// work then**, and let the request come again.
    pub fn claim(
        &self,
        key: &str,
        fingerprint: &[u8],
    ) -> impl Future<Output = Result<Claim<S>, Error>> + Send + use<'_, S> {
        let key = key.to_owned();
        let fingerprint = Sha256::digest(fingerprint).to_vec();
        async move {
            let failed = |error: Error| error.table_or(TABLE).step("claim");
            fits(&self.business, SOURCE, "business", TABLE)
                .and_then(|()| fits(&key, KEY, "key", TABLE))
                .map_err(failed)?;
            let owner = fresh_identity().map_err(failed)?;
            let held = Held {
                business: self.business.clone(),
                key,
                fingerprint,
                owner,
                expires: self.expires,
                keeps: self.keeps,
                request_id: OnceLock::new(),
            };
            let found = self.store.claim(&held).await.map_err(|error| failed(error).key(&held.key))?;
            tracing::debug!(target: "onward", business = self.business, outcome = found.as_str(), "claim");
            Ok(match found {
                Found::Ours => Claim::Owned(Owned::new(self.store.clone(), held)),
                Found::InProgress { left } => Claim::InProgress { wait: wait(left, self.expires) },
                Found::Answered(reply) => Claim::Answered(reply),
                Found::OtherPayload => Claim::OtherPayload,
            })
        }
    }
}

/// The least that is suggested.
const MOMENT: Duration = Duration::from_millis(250);

/// That it takes as long again as it has taken is as good a guess as any.
fn wait(left: Duration, expires: Duration) -> Duration {
    expires.saturating_sub(left).max(MOMENT).min(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_told_to_wait_longer_than_the_claim_holds() {
        let wait =
            |left, expires| wait(Duration::from_millis(left), Duration::from_millis(expires)).as_millis();
        assert_eq!(wait(120_000, 120_000), 250);
        assert_eq!(wait(117_000, 120_000), 3_000);
        assert_eq!(wait(10_000, 120_000), 10_000);
        assert_eq!(wait(100, 120_000), 100);
        // Claimed by somebody who wanted it for longer.
        assert_eq!(wait(600_000, 120_000), 250);
    }
}
