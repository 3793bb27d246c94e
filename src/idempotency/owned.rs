//! A claim that is ours, and how it ends.

use super::{ClaimStore, Reply, TABLE, held::Held};
use crate::{
    digest::digest,
    error::{Error, ErrorKind},
    hex::hex,
};
use std::{fmt, future::Future, sync::Arc};

/// What an error of `finish` is called.
const FINISH: &str = "finish";

/// The right to work under a key for a while. A clone is the same right, for a closure that owns what it uses.
///
/// Dropped, it stays in progress until it runs out.
#[derive(Clone)]
#[must_use = "the key stays in progress until it is finished or released, or until the claim runs out"]
pub struct Owned<S> {
    pub(super) store: S,
    pub(super) held: Arc<Held>,
}

impl<S> Owned<S> {
    pub(super) fn new(store: S, held: Held) -> Self {
        Self { store, held: Arc::new(held) }
    }

    /// Under which request id the work is done, by whoever owns the key: 64 hexadecimal digits, made of the business and
    /// the key.
    pub fn request_id(&self) -> &str {
        self.held.request_id.get_or_init(|| hex(&digest(&[&self.held.business, &self.held.key])))
    }

    /// Somebody else has it, or it is settled.
    pub(super) fn lost(&self) -> Error {
        tracing::warn!(target: "onward", business = self.held.business, outcome = "claim_lost", "claim");
        Error::new(ErrorKind::ClaimLost, TABLE)
    }

    pub(super) fn failed(&self, step: &'static str) -> impl Fn(Error) -> Error {
        move |error| error.table_or(TABLE).step(step).key(&self.held.key)
    }
}

impl<S: ClaimStore> Owned<S> {
    /// Stores the answer, a failure as well as a success, on its own: after the commit of work that is done elsewhere, or
    /// after a rollback. Work in the same database is finished by [`finish_in`](Owned::finish_in).
    ///
    /// Once the time is over it still counts, unless somebody has taken over.
    ///
    /// # Errors
    ///
    /// [`ClaimLost`](ErrorKind::ClaimLost) if it was taken over, answered otherwise or forgotten: nothing was stored, and what the
    /// work did stands. [`Busy`](ErrorKind::Busy), [`Database`](ErrorKind::Database), [`CommitUnknown`](ErrorKind::CommitUnknown).
    pub fn finish(&self, reply: &Reply) -> impl Future<Output = Result<(), Error>> + Send {
        let reply = reply.clone();
        async move {
            let failed = self.failed(FINISH);
            match self.store.finish(&self.held, &reply).await {
                Ok(true) => Ok(()),
                Ok(false) => Err(failed(self.lost())),
                Err(error) => Err(failed(error)),
            }
        }
    }

    /// Frees the key, so that the next request with it, whatever its payload, does the work: **only if nothing was done, and
    /// nothing that was sent can take effect any more**. After an error of the work this is for
    /// [`release_after`](Owned::release_after) to decide.
    ///
    /// What is not ours any more, or has an answer, is left as it is.
    ///
    /// # Errors
    ///
    /// [`Busy`](ErrorKind::Busy), [`Database`](ErrorKind::Database), [`CommitUnknown`](ErrorKind::CommitUnknown): it may be in progress until it runs out.
    pub fn release(&self) -> impl Future<Output = Result<(), Error>> + Send {
        async move { self.store.release(&self.held).await.map_err(self.failed("release")) }
    }

    /// Frees the key if the work failed and is known not to be applied, and says so. Otherwise it stays in progress until it
    /// runs out; then whoever takes over finds out what became of it, by the same [`request_id`](Owned::request_id).
    ///
    /// Roll a transaction of your own back first: one that has come to [`finish_in`](Owned::finish_in) holds the key, and this would
    /// wait for it. An error of [`finish`](Owned::finish) is none of the work, which is done by then: after it the key is never freed.
    ///
    /// # Errors
    ///
    /// As for [`release`](Owned::release).
    pub fn release_after(
        &self,
        error: &Error,
    ) -> impl Future<Output = Result<bool, Error>> + Send + use<'_, S> {
        let of_finish = (error.table(), error.transition()) == (TABLE, Some(FINISH));
        let nothing_done = error.is_known_not_applied() && !of_finish;
        async move {
            if nothing_done {
                self.release().await?;
            }
            Ok(nothing_done)
        }
    }
}

impl<S> fmt::Debug for Owned<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Owned").field("business", &self.held.business).finish_non_exhaustive()
    }
}
