//! Faults only: one opaque error with a kind. Lost races are outcomes, not errors.

use crate::outcome::Clash;
use std::{borrow::Cow, fmt};

/// Any boxed error.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A fault: what happened is in its [`kind`](Error::kind), never in its text.
///
/// Its text names the transition, the table and the key, and says what to do. One opaque type, so that kinds can be
/// added; one kind per way out, so that callers can decide.
pub struct Error(Box<Inner>);

#[derive(Debug, thiserror::Error)]
#[error("{place}: {kind}{note}", place = Place(self), kind = .kind.sentence(), note = Note(.note.as_deref()))]
struct Inner {
    kind: ErrorKind,
    table: &'static str,
    step: Option<&'static str>,
    key: Option<String>,
    note: Option<Cow<'static, str>>,
    source: Option<BoxError>,
}

/// What kind of fault it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The database or the connection answered with an error; nothing was applied. The source says which.
    Database,
    /// Engine conflicts (deadlock, serialization failure, busy) used up the restarts; nothing was applied. Try later.
    Busy,
    /// The engine gave up the caller's transaction: roll back, then do *everything* in it again.
    RestartTransaction,
    /// Whether it was applied is not known: the reply to the write was lost, or a cluster lost its majority while it
    /// committed. Read again before anything else.
    CommitUnknown,
    /// The transaction had ended behind our back: an error was swallowed, or the work ended it. All of it was rolled
    /// back, except for what ran before a COMMIT of the work's own, or before DDL on MySQL: read the row again.
    /// [`Error::effect`] gives the work's own error, if it returned one.
    TransactionLost,
    /// The caller's own work failed; the transaction was rolled back. [`Error::effect`] gives the work's error.
    Effect,
    /// The row is in the state and at the version that was expected, yet the write changed nothing (a trigger?).
    NoEffect,
    /// This build cannot read the row: an unknown status, a null version, a missing fact. Nothing was written to it.
    Unreadable,
    /// The version has reached the largest value of its type; the row was left as it is.
    VersionLimit,
    /// A trigger, or an index that is not declared, refused the new row.
    UniqueTaken,
    /// More than one row has this key: several rows were moved, unless the transaction was ours, which was rolled back.
    KeyNotUnique,
    /// `amend` may not change the key or a guard column.
    KeyChanged,
    /// The attempt or the call needs something that the declaration does not have, such as a journal.
    NotDeclared,
    /// A row lock, `apply_in`, `once`, stock, an event and a mark in the inbox make sense only inside a transaction begun with
    /// sqlx or `onward::begin`.
    NotInTransaction,
    /// The connection given to `apply` is inside a transaction; there `apply_in` is the right call. Likewise one that is
    /// given to the inbox to store a message, which must outlive the transaction, or to the outbox to close an event.
    InTransaction,
    /// The claim on an entry of the inbox, or on a key, has run out and was taken over, or is closed, answered or forgotten:
    /// roll back.
    ClaimLost,
    /// A source, message id, business key or topic, or a cause, request id or actor for the journal, is longer than its
    /// column; nothing was stored or applied.
    TooLong,
    /// `load`: the row has not reached this state yet; come back later.
    Behind,
    /// `load`: the row has left this state behind; the message is late or repeated.
    Past,
    /// `load`: the row went another way.
    Aside,
    /// There is no such row.
    NotFound,
    /// From [`Outcome::applied`](crate::Outcome::applied): it was a repeat.
    Duplicate,
    /// From [`Outcome::applied`](crate::Outcome::applied): the guard said no.
    Refused,
    /// From [`Outcome::applied`](crate::Outcome::applied): the attempt lost. [`Clash::Fenced`] also from
    /// [`Lease::hold_in`](crate::lease::Lease::hold_in), and of a row that was to be created.
    Conflict(Clash),
}

impl ErrorKind {
    /// A stable name for logs and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Database => "database",
            Self::Busy => "busy",
            Self::RestartTransaction => "restart_transaction",
            Self::CommitUnknown => "commit_unknown",
            Self::TransactionLost => "transaction_lost",
            Self::Effect => "effect",
            Self::NoEffect => "no_effect",
            Self::Unreadable => "unreadable",
            Self::VersionLimit => "version_limit",
            Self::UniqueTaken => "unique_taken",
            Self::KeyNotUnique => "key_not_unique",
            Self::KeyChanged => "key_changed",
            Self::NotDeclared => "not_declared",
            Self::NotInTransaction => "not_in_transaction",
            Self::InTransaction => "in_transaction",
            Self::ClaimLost => "claim_lost",
            Self::TooLong => "too_long",
            Self::Behind => "behind",
            Self::Past => "past",
            Self::Aside => "aside",
            Self::NotFound => "not_found",
            Self::Duplicate => "duplicate",
            Self::Refused => "refused",
            Self::Conflict(clash) => clash.as_str(),
        }
    }

    /// What happened and what to do.
    fn sentence(self) -> &'static str {
        match self {
            Self::Database => {
                "the database answered with an error, which is the source of this one; nothing was applied"
            }
            Self::Busy => "the database was too busy to decide; nothing was applied, try later",
            Self::RestartTransaction => {
                "the engine gave up this transaction; roll back and do everything in it again"
            }
            Self::CommitUnknown => {
                "whether it was applied is not known: the reply was lost, or the database itself cannot tell; read the row before anything else"
            }
            Self::TransactionLost => "the transaction had ended inside the work",
            Self::Effect => "the work in the same transaction failed; all of it was rolled back",
            Self::NoEffect => {
                "the update had no effect although state and version are as expected; does a trigger suppress it?"
            }
            Self::Unreadable => "this build cannot read the row",
            Self::VersionLimit => "the version has reached the limit of its integer type; widen the column",
            Self::UniqueTaken => {
                "the new row was refused by a trigger, or by an index that is not declared; declare its column `unique` to have the clash named"
            }
            Self::KeyNotUnique => "more than one row has this key; make it the primary key of the table",
            Self::KeyChanged => "an amendment may not change the key or a guard column",
            Self::NotDeclared => "the declaration has nothing for what was asked",
            Self::NotInTransaction => {
                "the connection is in no transaction; begin one with sqlx or `onward::begin`"
            }
            Self::InTransaction => "the connection is inside a transaction",
            Self::ClaimLost => {
                "the claim is not held any more: it has run out and was taken over, or is settled; roll back"
            }
            Self::TooLong => "a name is too long for its column; nothing was stored or applied",
            Self::Behind => "the row is not there yet; come back later",
            Self::Past => "the row has been there and gone on; the message is late or repeated",
            Self::Aside => "the row went another way",
            Self::NotFound => "there is no such row",
            Self::Duplicate => "not applied: the row took this step before",
            Self::Refused => "not applied: the guard said no",
            Self::Conflict(clash) => match clash {
                Clash::OtherCause => "not applied: the row took this step for another cause",
                Clash::CauseTaken => "not applied: the cause has moved another row",
                Clash::Stale => "not applied: the row has a newer version",
                Clash::Moved => "not applied: the row has moved on to another source of this step",
                Clash::Aside => "not applied: the row went another way",
                Clash::Behind => "not applied: the row is not there yet",
                Clash::OtherContent => "not created: the key is taken by a row with other content",
                Clash::UniqueTaken(_) => "not applied: another row has this unique value",
                Clash::Fenced => "not applied: somebody else has taken over the lease",
            },
        }
    }
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, table: &'static str) -> Self {
        Self(Box::new(Inner { kind, table, step: None, key: None, note: None, source: None }))
    }

    pub(crate) fn table_or(mut self, table: &'static str) -> Self {
        if self.0.table.is_empty() {
            self.0.table = table;
        }
        self
    }

    /// The same error, now known to mean that a transaction had ended before its time.
    pub(crate) fn into_transaction_lost(mut self) -> Self {
        self.0.kind = ErrorKind::TransactionLost;
        self.note(
            "an error was ignored in it, or a statement in it commits by itself as DDL does on MySQL: what ran before \
             such a statement may have been committed, all else was rolled back",
        )
    }

    pub(crate) fn step(mut self, step: &'static str) -> Self {
        self.0.step.get_or_insert(step);
        self
    }

    pub(crate) fn key(mut self, key: &impl fmt::Debug) -> Self {
        self.0.key.get_or_insert_with(|| format!("{key:?}"));
        self
    }

    pub(crate) fn note(mut self, note: impl Into<Cow<'static, str>>) -> Self {
        self.0.note = Some(note.into());
        self
    }

    pub(crate) fn source(mut self, source: impl Into<BoxError>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// The same error with the source of another.
    pub(crate) fn source_of(mut self, other: Self) -> Self {
        self.0.source = other.0.source;
        self
    }

    /// What kind of fault it is.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The table that it concerns; empty for a fault that concerns none.
    pub fn table(&self) -> &'static str {
        self.0.table
    }

    /// The transition or other step that was tried, if there was one.
    pub fn transition(&self) -> Option<&'static str> {
        self.0.step
    }

    /// The key of the row, as text, if it is known.
    pub fn row_key(&self) -> Option<&str> {
        self.0.key.as_deref()
    }

    /// The error that the caller's own work returned, if this is one and it is of this type.
    pub fn effect<E: std::error::Error + 'static>(&self) -> Option<&E> {
        match self.0.kind {
            ErrorKind::Effect | ErrorKind::TransactionLost => self.0.source.as_ref()?.downcast_ref(),
            _ => None,
        }
    }

    /// Nothing was applied, and nothing that was sent can take effect any more. Of
    /// [`CommitUnknown`](ErrorKind::CommitUnknown), [`TransactionLost`](ErrorKind::TransactionLost) and
    /// [`KeyNotUnique`](ErrorKind::KeyNotUnique) nobody can say so, and a [`Duplicate`](ErrorKind::Duplicate) says that it was applied.
    pub fn is_known_not_applied(&self) -> bool {
        !matches!(
            self.0.kind,
            ErrorKind::CommitUnknown
                | ErrorKind::TransactionLost
                | ErrorKind::KeyNotUnique
                | ErrorKind::Duplicate
                | ErrorKind::Past
        )
    }

    /// Nothing was applied, and the same call may well succeed a little later.
    pub fn is_transient(&self) -> bool {
        let full = || self.0.source.as_ref().and_then(|source| source.downcast_ref());
        matches!(self.0.kind, ErrorKind::Busy | ErrorKind::RestartTransaction | ErrorKind::Behind)
            || matches!(full(), Some(sqlx::Error::PoolTimedOut))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({:?}: {})", self.0.kind, self.0)?;
        match &self.0.source {
            Some(source) => write!(f, " <- {source:?}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

struct Place<'a>(&'a Inner);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(inner) = self;
        if let Some(step) = inner.step {
            write!(f, "`{step}` on ")?;
        }
        f.write_str(if inner.table.is_empty() { "database" } else { inner.table })?;
        match &inner.key {
            Some(key) => write!(f, " {key}"),
            None => Ok(()),
        }
    }
}

struct Note<'a>(Option<&'a str>);

impl fmt::Display for Note<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(note) => write!(f, " ({note})"),
            None => Ok(()),
        }
    }
}
