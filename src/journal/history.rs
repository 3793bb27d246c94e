//! What the journal knows of one row, as typed history.

use super::{AMEND, CREATE, FENCE, evidence::unreadable, statements};
use crate::{
    backend::{Backend, Supports},
    error::{Error, ErrorKind},
    lifecycle::Lifecycle,
    row::{Stored, arguments, unbound},
    session::Access,
    statement::Bind,
};
use std::{
    fmt,
    future::Future,
    time::{Duration, SystemTime},
};
use strum::VariantArray as _;

/// What the journal knows of one row, the oldest entry first; `AnyOrder::history` reads it.
///
/// It begins where the journal was switched on. That something is not in it proves nothing about the time before its
/// first entry.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/journalled.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), onward::BoxError> {
/// # let (db, order) = example().await?;
/// let _ = order.pay("T-1".into()).actor("alipay").apply(&db).await?.applied()?;
///
/// let history = AnyOrder::history(&db, 1).await?;
/// let paid = history.taken(OrderTransition::Pay).unwrap();
/// assert_eq!((paid.cause.as_deref(), paid.actor.as_deref()), (Some("T-1"), Some("alipay")));
/// assert_eq!(paid.step.to_string(), "pay");
/// for stay in history.stays() {
///     println!("{} for {:?}", stay.status, stay.time());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct History<A: Lifecycle> {
    /// One entry for each write that took effect.
    pub entries: Vec<Entry<A>>,
}

/// One write that took effect.
#[derive(Debug)]
#[non_exhaustive]
pub struct Entry<A: Lifecycle> {
    /// The version that the row has had since.
    pub version: i64,
    /// What was done.
    pub step: Step<A::Transition>,
    /// The state before; `None` for a new row.
    pub from: Option<A::Status>,
    /// The state since.
    pub to: A::Status,
    /// The business fact that asked for it. For a composite cause its parts, separated by commas.
    pub cause: Option<String>,
    /// Who did it, as given to [`Attempt::actor`](crate::Attempt::actor).
    pub actor: Option<String>,
    /// The request, as given to [`Attempt::request_id`](crate::Attempt::request_id).
    pub request_id: Option<String>,
    /// Which attempt it was: each has an id of its own.
    pub attempt_id: String,
    /// When, by the database's clock: to the microsecond, on SQLite to the millisecond.
    pub at: SystemTime,
}

/// What an entry of the journal says was done.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step<T> {
    /// The row was created.
    Create,
    /// A declared transition.
    Transition(T),
    /// Columns were changed by `amend`.
    Amend,
    /// The version was raised, so that an attempt whose reply was lost could take effect no more. Its cause is that
    /// attempt's id.
    Fence,
    /// A transition that this build does not declare.
    Other(String),
}

/// As it stands in the journal.
impl<T: fmt::Display> fmt::Display for Step<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Create => f.pad(CREATE),
            Self::Transition(step) => step.fmt(f),
            Self::Amend => f.pad(AMEND),
            Self::Fence => f.pad(FENCE),
            Self::Other(name) => f.pad(name),
        }
    }
}

/// How long a row was in a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stay<S> {
    /// The state.
    pub status: S,
    /// Since when.
    pub since: SystemTime,
    /// Until when; `None` for the state that the row is in.
    pub until: Option<SystemTime>,
}

impl<S> Stay<S> {
    /// How long it was there; `None` if it still is. Zero where the database's clock went back in between.
    pub fn time(&self) -> Option<Duration> {
        self.until.map(|until| until.duration_since(self.since).unwrap_or_default())
    }
}

impl<A: Lifecycle> History<A> {
    /// The states that the row was in, in order, and for how long.
    pub fn stays(&self) -> Vec<Stay<A::Status>> {
        let mut stays: Vec<Stay<A::Status>> = Vec::new();
        for entry in &self.entries {
            match stays.last_mut() {
                Some(last) if last.status == entry.to => continue,
                Some(last) => last.until = Some(entry.at),
                None => {}
            }
            stays.push(Stay { status: entry.to, since: entry.at, until: None });
        }
        stays
    }

    /// The entry of a transition, if the row has taken it.
    pub fn taken(&self, transition: A::Transition) -> Option<&Entry<A>> {
        self.entries.iter().find(|entry| matches!(&entry.step, Step::Transition(step) if *step == transition))
    }
}

#[doc(hidden)]
pub fn history<'a, A, D>(
    db: D,
    key: A::Key,
    guards: A::Guards,
) -> impl Future<Output = Result<History<A>, Error>> + Send
where
    D: Access<'a>,
    A: Stored<D::Db>,
{
    let db = db.access();
    async move {
        let failed = |error: Error| error.step("history").key(&key);
        let journal = A::DESCRIPTION.journal.unwrap_or_default();
        let Some(statements) = statements::<D::Db, A>() else {
            return Err(failed(Error::new(ErrorKind::NotDeclared, A::DESCRIPTION.table)));
        };
        let arguments = arguments::<D::Db>(&statements.history, |arguments, bind| match bind {
            Bind::Place(0) => A::bind_key(arguments, &key),
            Bind::Place(part) => A::bind_guard(arguments, &guards, part - 1),
            _ => Err(unbound(bind)),
        });
        let rows = db.fetch(&statements.history.sql, arguments.map_err(failed)?).await;
        let rows = rows.map_err(|fault| failed(fault.into_error(ErrorKind::Busy, journal)))?;
        let entries = rows.iter().map(read::<D::Db, A>).collect::<Result<_, _>>().map_err(failed)?;
        Ok(History { entries })
    }
}

fn read<B: Backend, A: Stored<B>>(row: &B::Row) -> Result<Entry<A>, Error> {
    let text = |column| B::get_text(row, column).map_err(|error| unreadable::<A>(column, error));
    let number = |column| {
        let number =
            <B as Supports<i64>>::get(row, column).map_err(|error| unreadable::<A>(column, error))?;
        number.ok_or_else(|| unreadable::<A>(column, sqlx::Error::Decode("it is null".into())))
    };
    let state = |column| {
        let text = text(column)?;
        let status = |text: String| {
            let place = A::DESCRIPTION.states.iter().position(|state| state.text == text);
            let status = place.and_then(|place| A::Status::VARIANTS.get(place)).copied();
            status.ok_or_else(|| {
                unreadable::<A>(column, sqlx::Error::Decode(format!("`{text}` is no known status").into()))
            })
        };
        text.map(status).transpose()
    };
    let from = state(3)?;
    let to = state(4)?.ok_or_else(|| unreadable::<A>(4, sqlx::Error::Decode("it is null".into())))?;
    let name = text(2)?.unwrap_or_default();
    let declared = A::DESCRIPTION.transitions.iter().position(|transition| transition.name == name);
    let declared = declared.and_then(|place| A::Transition::VARIANTS.get(place)).copied();
    let step = match (name.as_str(), declared) {
        (CREATE, _) => Step::Create,
        (AMEND, _) => Step::Amend,
        (FENCE, _) => Step::Fence,
        (_, Some(transition)) => Step::Transition(transition),
        (_, None) => Step::Other(name),
    };
    Ok(Entry {
        version: number(1)?,
        step,
        from,
        to,
        cause: text(5)?,
        actor: text(7)?,
        request_id: text(8)?,
        attempt_id: text(9)?.unwrap_or_default(),
        at: point_in_time(number(10)?),
    })
}

fn point_in_time(micros: i64) -> SystemTime {
    let distance = Duration::from_micros(micros.unsigned_abs());
    let at = match micros {
        0.. => SystemTime::UNIX_EPOCH.checked_add(distance),
        _ => SystemTime::UNIX_EPOCH.checked_sub(distance),
    };
    at.unwrap_or(SystemTime::UNIX_EPOCH)
}
