//! The journal: one entry for each write that took effect, kept in the same transaction, and never changed.
//!
//! It can say what the row alone cannot: whose payment moved it, whether a write whose reply was lost took effect,
//! and what happened before. A lifecycle has one if its declaration ends with `journal in "order_journal";`. Then:
//!
//! - `AnyOrder::history(&db, id)` reads a row's [`History`].
//! - Repeats are told from conflicts after any later step, and steps without `by` by their names.
//! - [`request_id`](crate::Attempt::request_id) is unique; [`cause`](crate::Attempt::cause) and
//!   [`actor`](crate::Attempt::actor) are kept.
//! - A COMMIT whose reply was lost is settled, instead of being unknown.
//!
//! The table is made by [`Description::journal_table`](crate::Description::journal_table). Nobody else may write to it,
//! and no trigger may keep an entry out. What happened before it was switched on is not in it, and that something is not
//! in it proves nothing about that time.

mod evidence;
mod fence;
mod history;
mod sql;
mod table;

pub(crate) use evidence::{Evidence, Refusal, Taken};
pub(crate) use fence::{Fenced, settle};
pub use history::{Entry, History, Stay, Step};
pub(crate) use sql::JournalStatements;

#[doc(hidden)]
pub use history::history;

use crate::{
    backend::{Backend, Supports},
    error::{BoxError, Error, ErrorKind},
    hex::hex,
    lease::Fence,
    lifecycle::Lifecycle,
    plan::{Plan, Prepared},
    query::{KEY, fits},
    row::{Stored, arguments, unbound},
    statement::{Bind, Statement},
};
use std::time::SystemTime;

/// What an entry says beside key, guards, version and time, in the order of the journal's columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    Version,
    Transition,
    From,
    To,
    Cause,
    /// The cause again, if it may have moved one row only.
    SoleCause,
    Actor,
    Request,
    Attempt,
}

/// What an attempt brings to its entry that its plan does not know.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct Stamp {
    /// Told apart from every other attempt, ever; empty where nothing is journalled.
    pub(crate) attempt: String,
    pub(crate) actor: Option<String>,
    pub(crate) request: Option<String>,
    /// For a transition that has no cause of its own.
    pub(crate) cause: Option<String>,
    /// What must still be held where it writes; most attempts have none.
    pub(crate) lease: Option<Box<Fence>>,
}

/// 128 bits as text: 80 of them random, behind the milliseconds since 1970, so that an index grows at its end.
#[expect(
    clippy::disallowed_methods,
    reason = "a clock that is wrong costs a place in the index, nothing else"
)]
pub(crate) fn fresh_identity() -> Result<String, Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes[6..]).map_err(|error| {
        Error::new(ErrorKind::Database, "")
            .note("the system gives no random numbers")
            .source(error.to_string())
    })?;
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    // The lowest 48 bits.
    bytes[..6].copy_from_slice(&since.as_millis().to_be_bytes()[10..]);
    Ok(hex(&bytes))
}

/// What a plan knows of the entry of its write.
#[doc(hidden)]
#[derive(Debug)]
pub struct Logged {
    pub(crate) transition: &'static str,
    /// States by their places; a creation comes from nowhere.
    pub(crate) from: Option<usize>,
    pub(crate) to: usize,
    /// The version that the row has since.
    pub(crate) version: i64,
    /// The cause, and whether it may have moved this row only.
    pub(crate) cause: Option<(String, bool)>,
}

/// What a clash on the request id is called.
pub(crate) const REQUEST: &str = "request_id";

/// The names of entries that no transition makes.
pub(crate) const CREATE: &str = "create";
pub(crate) const AMEND: &str = "amend";
pub(crate) const FENCE: &str = "fence";

impl Logged {
    /// What a plan knows, if there is a journal to keep it.
    pub(crate) fn kept<P: Plan>(plan: &P, stamp: &Stamp) -> Option<Self> {
        P::Any::DESCRIPTION.journal.map(|_| plan.logged(stamp))
    }

    /// Refuses what does not fit: cut off, two causes could become one.
    pub(crate) fn fits<A: Lifecycle>(&self, stamp: &Stamp) -> Result<(), Error> {
        let journal = A::DESCRIPTION.journal.unwrap_or_default();
        let cause = self.cause.as_ref().map(|(cause, _)| cause);
        let names =
            [("cause", cause), ("request id", stamp.request.as_ref()), ("actor", stamp.actor.as_ref())];
        let mut given = names.into_iter().filter_map(|(what, name)| Some((what, name?)));
        given.try_for_each(|(what, name)| fits(name, KEY, what, journal))
    }

    /// Binds what only a statement with an entry has.
    pub(crate) fn bind_kept<B: Backend, A: Stored<B>>(
        logged: Option<&Self>,
        arguments: &mut B::Arguments,
        bind: Bind,
        row: &A::Row,
        stamp: &Stamp,
    ) -> Result<(), BoxError> {
        match logged {
            Some(logged) => logged.bind::<B, A>(arguments, bind, row, stamp),
            None => Err(unbound(bind)),
        }
    }

    /// Binds the key, a guard or a field.
    pub(crate) fn bind<B: Backend, A: Stored<B>>(
        &self,
        arguments: &mut B::Arguments,
        bind: Bind,
        row: &A::Row,
        stamp: &Stamp,
    ) -> Result<(), BoxError> {
        let state = |state: usize| A::DESCRIPTION.states[state].text.to_owned();
        let text = match bind {
            Bind::Column(column) => return A::bind_column(arguments, row, column),
            Bind::Logged(Field::Version) => return <B as Supports<i64>>::bind(arguments, &self.version),
            Bind::Logged(Field::Transition) => Some(self.transition.to_owned()),
            Bind::Logged(Field::From) => self.from.map(state),
            Bind::Logged(Field::To) => Some(state(self.to)),
            Bind::Logged(Field::Cause) => self.cause.as_ref().map(|(cause, _)| cause.clone()),
            Bind::Logged(Field::SoleCause) => {
                self.cause.as_ref().filter(|(_, sole)| *sole).map(|(cause, _)| cause.clone())
            }
            Bind::Logged(Field::Actor) => stamp.actor.clone(),
            Bind::Logged(Field::Request) => stamp.request.clone(),
            Bind::Logged(Field::Attempt) => Some(stamp.attempt.clone()),
            _ => return Err(unbound(bind)),
        };
        <B as Supports<String>>::bind_option(arguments, &text)
    }
}

/// The statements of the journal, if the lifecycle has one.
pub(crate) fn statements<B: Backend, A: Lifecycle>() -> Option<&'static JournalStatements> {
    A::statements(B::DIALECT).journal.as_ref()
}

/// A statement that binds nothing but what an entry holds.
pub(crate) fn prepare<B: Backend, P: Plan<Any: Stored<B>>>(
    statement: &'static Statement,
    plan: &P,
    stamp: &Stamp,
) -> Result<Prepared<B>, Error> {
    let logged = plan.logged(stamp);
    let arguments = arguments::<B>(statement, |arguments, bind| {
        logged.bind::<B, P::Any>(arguments, bind, plan.row(), stamp)
    })?;
    Ok((&statement.sql, arguments))
}

/// The entry, where a statement of its own must follow the write.
pub(crate) fn entry<B: Backend, P: Plan<Any: Stored<B>>>(
    plan: &P,
    stamp: &Stamp,
) -> Result<Option<Prepared<B>>, Error> {
    let statement = statements::<B, P::Any>().and_then(|journal| journal.entry.as_ref());
    statement.map(|statement| prepare::<B, P>(statement, plan, stamp)).transpose()
}

/// Parts of a composite cause as one text, from which no other parts give the same.
pub(crate) fn joined(parts: &[String]) -> Option<String> {
    match parts {
        [] => None,
        [whole] => Some(whole.clone()),
        parts => {
            let escaped = parts.iter().map(|part| part.replace('\\', "\\\\").replace(',', "\\,"));
            Some(escaped.collect::<Vec<_>>().join(","))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_composite_cause_has_one_text_and_no_other_has_it() {
        let text = |parts: &[&str]| joined(&parts.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>());
        assert_eq!(text(&[]), None);
        assert_eq!(text(&["a,b"]).as_deref(), Some("a,b"));
        assert_eq!(text(&["wx", "T-1"]).as_deref(), Some("wx,T-1"));
        assert_ne!(text(&["a,", "b"]), text(&["a", ",b"]));
        assert_ne!(text(&["a\\", ",b"]), text(&["a\\,", "b"]));
    }

    #[test]
    fn identities_differ() {
        let (a, b) = (fresh_identity().unwrap_or_default(), fresh_identity().unwrap_or_default());
        assert_eq!((a.len(), b.len()), (32, 32));
        assert_ne!(a, b);
    }
}
