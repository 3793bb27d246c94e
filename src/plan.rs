//! What the one algorithm asks of each kind of attempt: a transition, an amendment, a creation.

use crate::{
    backend::Backend,
    error::Error,
    handle::Handle,
    journal::{Logged, Stamp},
    lifecycle::{Lifecycle, Source},
    outcome::{Clash, Conflict, Loss},
    row::Stored,
};

/// An attempt of some kind, without a database.
#[doc(hidden)]
pub trait Plan: Send + Sized {
    type Any: Lifecycle;
    /// What is won.
    type Won: Handle<Any = Self::Any> + Send;
    /// What a rollback gives back.
    type Back: Send;
    /// A row that is not there is no loss but the point of it.
    const CREATES: bool;

    fn name(&self) -> &'static str;
    fn key(&self) -> &<Self::Any as Lifecycle>::Key;
    /// The row that it concerns; its key and guards stay the same.
    fn row(&self) -> &<Self::Any as Lifecycle>::Row;
    /// The declared cause as text, and whether it may move one row only.
    fn cause(&self) -> Option<(String, bool)>;
    /// What the journal says of its write.
    fn logged(&self, stamp: &Stamp) -> Logged;
    /// Computes what is to be written from the row at hand, where that is the caller's wish.
    fn prepare(&mut self) {}
    fn ready(&self) -> Ready;
    /// Goes on from a fresh row, if the step is possible from there.
    fn adopt(&mut self, found: Self::Any) -> Result<(), Self::Any>;
    /// Whether a later try can succeed where this one lost.
    fn retries(&self, conflict: &Conflict<Self::Any>) -> bool;
    /// Whether an earlier write of this attempt, whose reply was lost, may be behind this outcome.
    fn may_be_ours(&self, loss: &Loss<Self::Any>) -> bool;
    /// What holds once the write has taken effect.
    fn won(&self) -> Result<Self::Won, Error>;
    /// Likewise, once nothing of the attempt is needed any more.
    fn into_won(self) -> Result<Self::Won, Error>;
    fn back(self) -> Result<Self::Back, Error>;
    /// The row at hand, to which the guard said no.
    fn refused(self) -> Loss<Self::Any>;
}

/// The same on a database.
#[doc(hidden)]
pub trait PlanOn<B: Backend>: Plan<Any: Stored<B>> {
    fn write(&mut self, stamp: &Stamp) -> Result<Prepared<B>, Error>;
    /// The row as it is now; locked, where only that shows what is committed.
    fn reread(&self, locked: bool) -> Result<Prepared<B>, Error>;
    fn judge(&self, row: &B::Row) -> Result<Verdict<Self::Any>, Error>;
    /// After a unique violation: where to look for the row that has the value.
    fn holders(&self) -> Result<Vec<(Clash, Prepared<B>)>, Error>;
}

/// A guard of the caller's.
pub(crate) type Check<'c, F> = Box<dyn Fn(&F) -> bool + Send + 'c>;

/// A text and its values.
pub(crate) type Prepared<B> = (&'static str, <B as sqlx::Database>::Arguments);

/// Where an attempt stands before it writes.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ready {
    /// The step is possible from the row at hand, and the guard agrees.
    Go,
    /// It is possible, but the guard says no.
    Refused,
    /// It is not possible from the row at hand.
    Elsewhere,
}

/// Where an attempt from `F` stands with the row at hand, if the step is possible from its state.
pub(crate) fn asked<F: Source>(from: &F::Any, check: Option<&Check<'_, F>>) -> Ready {
    match (F::view(from), check) {
        (None, _) => Ready::Elsewhere,
        (Some(from), Some(check)) if !check(from) => Ready::Refused,
        _ => Ready::Go,
    }
}

/// Whether an attempt from `F` can succeed later where it lost like this.
pub(crate) fn worth_another_try<F: Source>(conflict: &Conflict<F::Any>) -> bool {
    match conflict.clash {
        Clash::Stale | Clash::Moved => F::view(&conflict.found).is_some(),
        Clash::Behind => true,
        _ => false,
    }
}

/// What a row that was found says about an attempt.
#[doc(hidden)]
#[derive(Debug)]
pub struct Verdict<A> {
    pub(crate) found: A,
    pub(crate) ruling: Ruling,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ruling {
    /// It took this step, for the same cause.
    Duplicate,
    /// State and version are as expected.
    Unmoved,
    Clash(Clash),
}
