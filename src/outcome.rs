//! What became of an attempt, and what to answer.

use crate::{
    error::{Error, ErrorKind},
    handle::Handle,
    lifecycle::Lifecycle,
};

/// What became of an attempt. A lost race is a value here, not an error; every losing variant carries what is true *now*.
///
/// [`answer`](Outcome::answer) folds it into what a callback handler has to decide;
/// [`applied`](Outcome::applied) turns it into a `Result` for code that only wants `?`.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/order.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), onward::BoxError> {
/// # let (db, order) = example().await?;
/// use onward::{Clash, Outcome};
///
/// match order.pay("T-1".into()).check(|order| order.amount_cents == 500).apply(&db).await? {
///     Outcome::Applied(paid) => assert_eq!(paid.trade_no, "T-1"),
///     Outcome::Duplicate(found) => println!("paid before, now {}", found.status()),
///     Outcome::Refused(found) => println!("{} cents are due", found.amount_cents),
///     Outcome::Conflict(conflict) if conflict.clash == Clash::OtherCause => println!("a second payment"),
///     Outcome::Conflict(conflict) => println!("it is {} now", conflict.found.status()),
///     Outcome::NotFound => println!("no such order"),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a lost race is a value here, not an error: match on it, or use `answer()` or `applied()`"]
pub enum Outcome<T: Handle> {
    /// This attempt moved the row.
    Applied(T),
    /// The row took this very step before, for the same cause: answer as the first time.
    Duplicate(T::Any),
    /// The guard given to `check` said no, on the row as it is now.
    Refused(T::Any),
    /// Something else happened to the row.
    Conflict(Conflict<T::Any>),
    /// There is no such row.
    NotFound,
}

/// How an attempt lost.
#[derive(Debug)]
#[non_exhaustive]
pub struct Conflict<A: Lifecycle> {
    /// The row as it is now. When a new row clashed with another row ([`Clash::UniqueTaken`], [`Clash::OtherContent`]): that row.
    pub found: A,
    /// Why the attempt lost.
    pub clash: Clash,
    /// For [`Clash::CauseTaken`] and [`Clash::UniqueTaken`]: the key of the row that has it, if it could be read.
    pub holder: Option<A::Key>,
    /// How many attempts were made in all.
    pub attempts: u32,
}

/// Why an attempt lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Clash {
    /// The row took this step for **another** cause: a second real payment is not a repeat.
    OtherCause,
    /// The cause already moved **another** row: one payment does not settle two orders.
    CauseTaken,
    /// The row is still in the same state, with a newer version.
    Stale,
    /// The row is in another state from which this step is possible.
    Moved,
    /// The row went another way, from which this step is no longer possible.
    Aside,
    /// What was found is older than what the handle knows (a lagging node, a failover, a restored backup),
    /// or the row is in a state from which the step can still become possible.
    Behind,
    /// A row with this key exists and has other content.
    OtherContent,
    /// Another row has this value in the named unique column; `None` is a unique index that was not declared.
    UniqueTaken(Option<&'static str>),
    /// Somebody else has taken over the lease that was given to [`fenced`](crate::Attempt::fenced).
    Fenced,
}

/// What a callback handler decides on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answer {
    /// Applied now or before: answer success.
    Settled,
    /// Money may be owed: record it durably, then answer success, or the provider retries for days.
    Escalate,
    /// Not yet: answer failure, let it come again.
    Later,
}

impl Clash {
    /// What a callback handler does about it.
    pub fn answer(self) -> Answer {
        match self {
            Self::Stale | Self::Moved | Self::Behind | Self::Fenced => Answer::Later,
            Self::OtherCause | Self::CauseTaken | Self::Aside | Self::OtherContent | Self::UniqueTaken(_) => {
                Answer::Escalate
            }
        }
    }

    /// A stable name for logs and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OtherCause => "other_cause",
            Self::CauseTaken => "cause_taken",
            Self::Stale => "stale",
            Self::Moved => "moved",
            Self::Aside => "aside",
            Self::Behind => "behind",
            Self::OtherContent => "other_content",
            Self::UniqueTaken(_) => "unique_taken",
            Self::Fenced => "fenced",
        }
    }
}

impl<T: Handle> Outcome<T> {
    /// Folds the outcome into what a callback handler decides on.
    ///
    /// | outcome | answer |
    /// |---|---|
    /// | applied, duplicate | [`Settled`](Answer::Settled) |
    /// | other cause, cause taken, aside, refused, other content, unique taken | [`Escalate`](Answer::Escalate) |
    /// | not found, behind, stale, moved, fenced | [`Later`](Answer::Later) |
    pub fn answer(&self) -> Answer {
        match self {
            Self::Applied(_) | Self::Duplicate(_) => Answer::Settled,
            Self::Refused(_) => Answer::Escalate,
            Self::Conflict(conflict) => conflict.clash.answer(),
            Self::NotFound => Answer::Later,
        }
    }

    /// The handle if this attempt moved the row.
    ///
    /// # Errors
    ///
    /// Every other outcome, as an [`Error`] whose kind is [`ErrorKind::Duplicate`], [`ErrorKind::Refused`],
    /// [`ErrorKind::Conflict`] or [`ErrorKind::NotFound`].
    pub fn applied(self) -> Result<T, Error> {
        let (kind, found) = match self {
            Self::Applied(won) => return Ok(won),
            Self::Duplicate(found) => (ErrorKind::Duplicate, Some(found)),
            Self::Refused(found) => (ErrorKind::Refused, Some(found)),
            Self::Conflict(c) => (ErrorKind::Conflict(c.clash), Some(c.found)),
            Self::NotFound => (ErrorKind::NotFound, None),
        };
        let description = T::Any::DESCRIPTION;
        let mut error = Error::new(kind, description.table);
        if let Some(found) = found {
            let at = description.states[found.state()].text;
            error = error.key(found.key()).note(format!("found in `{at}` at version {}", found.version()));
        }
        Err(error)
    }

    /// A stable name for logs and metrics.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Applied(_) => "applied",
            Self::Duplicate(_) => "duplicate",
            Self::Refused(_) => "refused",
            Self::Conflict(conflict) => conflict.clash.as_str(),
            Self::NotFound => "not_found",
        }
    }
}

/// An outcome of which nothing was won.
#[doc(hidden)]
#[derive(Debug)]
pub enum Loss<A: Lifecycle> {
    Duplicate(A),
    Refused(A),
    Conflict(Conflict<A>),
    NotFound,
}

impl<A: Lifecycle> Loss<A> {
    pub(crate) fn clash(found: A, clash: Clash) -> Self {
        Self::Conflict(Conflict { found, clash, holder: None, attempts: 1 })
    }

    /// Another row has what the attempt would bring.
    pub(crate) fn held(found: A, clash: Clash, holder: A::Key) -> Self {
        Self::Conflict(Conflict { found, clash, holder: Some(holder), attempts: 1 })
    }
}

impl<T: Handle> From<Loss<T::Any>> for Outcome<T> {
    fn from(loss: Loss<T::Any>) -> Self {
        match loss {
            Loss::Duplicate(found) => Self::Duplicate(found),
            Loss::Refused(found) => Self::Refused(found),
            Loss::Conflict(conflict) => Self::Conflict(conflict),
            Loss::NotFound => Self::NotFound,
        }
    }
}
