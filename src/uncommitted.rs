//! What was won inside a transaction of the caller's.

use crate::{
    attempt::Attempt, error::Error, handle::Handle, outcome::Outcome, plan::PlanOn, session::Session,
};
use std::{future::Future, ops::Deref};

/// A row that was moved inside a transaction of the caller's. Its facts can be read; there is no handle before the
/// caller's commit.
#[derive(Debug)]
#[must_use = "call `committed()` after your commit to have the handle"]
pub struct Uncommitted<H>(H);

impl<H: Handle> Uncommitted<H> {
    pub(crate) fn new(handle: H) -> Self {
        Self(handle)
    }

    /// The handle. Call this only after the transaction's commit has returned `Ok`.
    pub fn committed(self) -> H {
        self.0
    }

    /// A further step of the same row in the same transaction.
    ///
    /// `step` makes the attempt: `paid.then_in(&mut tx, |paid| paid.ship(tracking_no))`.
    ///
    /// # Errors
    ///
    /// As for [`Attempt::apply_in`].
    pub fn then_in<S, P>(
        self,
        tx: &mut S,
        step: impl FnOnce(H) -> Attempt<P>,
    ) -> impl Future<Output = Result<Outcome<Uncommitted<P::Won>>, Error>> + Send
    where
        S: Session,
        P: PlanOn<S::Db, Any = H::Any>,
    {
        step(self.0).apply_in(tx)
    }
}

impl<H> Deref for Uncommitted<H> {
    type Target = H;

    fn deref(&self) -> &H {
        &self.0
    }
}

impl<H: Handle> Handle for Uncommitted<H> {
    type Any = H::Any;
}
