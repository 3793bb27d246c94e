//! What the journal says about an attempt that did not simply win.

use super::{Logged, Stamp, prepare, statements};
use crate::{
    backend::{Backend, Supports},
    error::{Error, ErrorKind},
    fault::Fault,
    lifecycle::Lifecycle,
    plan::Plan,
    row::{Columns, Stored},
};

/// The entries that concern an attempt.
#[derive(Debug)]
pub(crate) struct Evidence<K> {
    entries: Vec<Seen<K>>,
}

#[derive(Debug)]
struct Seen<K> {
    key: K,
    version: i64,
    transition: String,
    from: Option<String>,
    to: String,
    cause: Option<String>,
    sole_cause: Option<String>,
    request: Option<String>,
    attempt: String,
}

/// Whether the row took the step of an attempt, as far as the journal knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    /// For the same cause, or by the same request.
    Repeat,
    OtherCause,
    /// Nobody can say for which cause.
    UnknownCause,
    /// Another step led into the target.
    AnotherStep,
    Unknown,
}

/// Why a unique index has refused an attempt, as far as the journal knows.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refusal<K> {
    /// The same request has done this very thing.
    Repeat,
    /// The cause moved another row.
    CauseTaken(K),
    /// The request did something else, to this row or another.
    RequestTaken(K),
    /// The journal knows a version of the row that the row has not reached.
    Ahead,
    Unknown,
}

impl<K: PartialEq + Clone> Evidence<K> {
    /// Asks the journal, if there is one; `locked` inside a caller's transaction.
    pub(crate) async fn read<B: Backend, P>(
        plan: &mut P,
        stamp: &Stamp,
        connection: &mut B::Connection,
        locked: bool,
    ) -> Result<Option<Self>, Fault>
    where
        P: Plan<Any: Stored<B> + Lifecycle<Key = K>>,
    {
        let Some(journal) = statements::<B, P::Any>() else { return Ok(None) };
        let statement = &journal.evidence[usize::from(locked)];
        let (sql, arguments) = prepare::<B, P>(statement, plan, stamp).map_err(Fault::Other)?;
        let rows = B::fetch(connection, sql, arguments).await.map_err(Fault::of_read::<B>)?;
        let entries = rows.iter().map(seen::<B, P::Any>).collect::<Result<_, _>>().map_err(Fault::Other)?;
        Ok(Some(Self { entries }))
    }

    /// Whether this very attempt took effect.
    pub(crate) fn is_ours(&self, stamp: &Stamp) -> bool {
        self.entries.iter().any(|entry| entry.attempt == stamp.attempt)
    }

    /// Whether the row took this very step by the same request or, where it may take the step more than once, for the
    /// same cause.
    pub(crate) fn is_repeat<P>(&self, plan: &P, stamp: &Stamp) -> bool
    where
        P: Plan<Any: Lifecycle<Key = K>>,
    {
        let logged = plan.logged(stamp);
        let again = logged.from == Some(logged.to);
        let cause = logged.cause.as_ref().map(|(cause, _)| cause);
        self.entries.iter().filter(|entry| entry.key == *plan.key() && entry.is_step(&logged)).any(|entry| {
            let same = cause.is_some() && entry.cause.as_ref() == cause;
            // A request that names another cause than before is no repeat.
            let other = cause.is_some() && entry.cause.is_some() && !same;
            (entry.is_request(stamp) && !other) || (again && same)
        })
    }

    /// Of a row that is no longer where the step begins.
    pub(crate) fn taken<P>(&self, plan: &P, stamp: &Stamp) -> Taken
    where
        P: Plan<Any: Lifecycle<Key = K>>,
    {
        let logged = plan.logged(stamp);
        let to = P::Any::DESCRIPTION.states[logged.to].text;
        if self.is_repeat(plan, stamp) {
            return Taken::Repeat;
        }
        let here = || self.entries.iter().filter(|entry| entry.key == *plan.key());
        let entered =
            |entry: &&Seen<K>| entry.to == to && entry.from.as_deref().is_some_and(|from| from != to);
        match (here().find(entered), &logged.cause) {
            (None, _) => Taken::Unknown,
            (Some(entry), _) if !entry.is_step(&logged) => Taken::AnotherStep,
            (Some(_), None) => Taken::Repeat,
            (Some(entry), Some((cause, _))) => match &entry.cause {
                None => Taken::UnknownCause,
                Some(logged) if logged == cause => Taken::Repeat,
                Some(_) => Taken::OtherCause,
            },
        }
    }

    /// Of a row at `version` from which the step is possible, or of one that does not exist.
    pub(crate) fn refusal<P>(&self, plan: &P, stamp: &Stamp, version: Option<i64>) -> Refusal<K>
    where
        P: Plan<Any: Lifecycle<Key = K>>,
    {
        let logged = plan.logged(stamp);
        let is_here = |entry: &&Seen<K>| entry.key == *plan.key();
        let here = || self.entries.iter().filter(is_here);
        if here().any(|entry| Some(entry.version) > version) {
            return Refusal::Ahead;
        }
        if self.is_repeat(plan, stamp) {
            return Refusal::Repeat;
        }
        let cause = logged.cause.as_ref().filter(|(_, sole)| *sole).map(|(cause, _)| cause);
        let has_cause = |entry: &&Seen<K>| cause.is_some() && entry.sole_cause.as_ref() == cause;
        let steps = self.entries.iter().filter(|entry| entry.is_step(&logged));
        if let Some(entry) = steps.filter(has_cause).find(|entry| !is_here(entry)) {
            return Refusal::CauseTaken(entry.key.clone());
        }
        match self.entries.iter().find(|entry| entry.is_request(stamp)) {
            Some(entry) => Refusal::RequestTaken(entry.key.clone()),
            None => Refusal::Unknown,
        }
    }
}

impl<K> Seen<K> {
    fn is_step(&self, logged: &Logged) -> bool {
        self.transition == logged.transition
    }

    fn is_request(&self, stamp: &Stamp) -> bool {
        self.request.is_some() && self.request == stamp.request
    }
}

fn seen<B: Backend, A: Stored<B>>(row: &B::Row) -> Result<Seen<A::Key>, Error> {
    let text = |column| B::get_text(row, column).map_err(|error| unreadable::<A>(column, error));
    let required = |column| Ok::<_, Error>(text(column)?.unwrap_or_default());
    let version = <B as Supports<i64>>::get(row, 1).map_err(|error| unreadable::<A>(1, error))?;
    Ok(Seen {
        key: A::decode_key(&Columns::selected(row))?,
        version: version.unwrap_or_default(),
        transition: required(2)?,
        from: text(3)?,
        to: required(4)?,
        cause: text(5)?,
        sole_cause: text(6)?,
        request: text(8)?,
        attempt: required(9)?,
    })
}

/// A column of the journal, by its place in what is selected, that cannot be read.
pub(super) fn unreadable<A: Lifecycle>(column: usize, error: sqlx::Error) -> Error {
    let name = super::sql::COLUMNS.get(column.wrapping_sub(1)).map_or(super::sql::AT, |(name, _)| name);
    Error::new(ErrorKind::Unreadable, A::DESCRIPTION.journal.unwrap_or_default())
        .note(format!("column `{name}` cannot be read: {error}"))
        .source(error)
}
