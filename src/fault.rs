//! What an error of the database means for the attempt that met it. Told by codes and types, never by text.

use crate::{
    backend::Backend,
    error::{BoxError, Error, ErrorKind},
};

#[derive(Debug)]
pub(crate) enum Fault {
    /// The engine undid it for concurrency's sake: the whole can be tried again.
    Conflict(BoxError),
    /// The reply was lost: what the statement did is not known.
    Unanswered(sqlx::Error),
    /// The connection is gone or out of step, but nothing was applied: the whole can be tried again on another one.
    Lost(BoxError),
    /// Anything else; nothing was applied.
    Other(Error),
    /// Likewise, and the connection is in no state to be used again.
    Broken(Error),
}

const MISSING_TABLE: &str = "a table is missing, and the source says which: a lifecycle's own is made by your migrations, \
                             its journal by the SQL of `DESCRIPTION.journal_table()`, those that onward brings by \
                             `onward::migrate(&pool)`";

impl Fault {
    pub(crate) fn of<B: Backend>(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::Database(e) if B::is_conflict(&**e) => Self::Conflict(error.into()),
            sqlx::Error::Database(e) if B::is_cut(&**e) => Self::Unanswered(error),
            sqlx::Error::Io(_)
            | sqlx::Error::Protocol(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::WorkerCrashed => Self::Unanswered(error),
            sqlx::Error::Database(e) if B::is_missing_table(&**e) => {
                Self::Other(Error::new(ErrorKind::Database, "").note(MISSING_TABLE).source(error))
            }
            _ => Self::Other(Error::new(ErrorKind::Database, "").source(error)),
        }
    }

    /// Of a statement after which nothing holds yet: a lost reply is reason to try again, and no riddle.
    pub(crate) fn of_read<B: Backend>(error: sqlx::Error) -> Self {
        match Self::of::<B>(error) {
            Self::Unanswered(source) => Self::Lost(source.into()),
            fault => fault,
        }
    }

    /// Of the beginning of a transaction, which may have got halfway.
    pub(crate) fn of_open<B: Backend>(error: sqlx::Error) -> Self {
        match Self::of_read::<B>(error) {
            Self::Conflict(busy) if B::EMBEDDED => Self::Conflict(busy),
            Self::Conflict(source) | Self::Lost(source) => Self::Lost(source),
            Self::Other(error) => Self::Broken(error),
            fault => fault,
        }
    }

    /// Of the caller's own work in a transaction that was then rolled back.
    pub(crate) fn of_work<B: Backend>(error: BoxError) -> Self {
        if Self::conflict_within::<B>(&error) {
            Self::Conflict(error)
        } else {
            Self::Other(Error::new(ErrorKind::Effect, "").source(error))
        }
    }

    /// At COMMIT an error that is not the engine's own answer leaves everything open.
    pub(crate) fn of_commit<B: Backend>(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::Database(e) if B::is_conflict(&**e) => Self::Conflict(error.into()),
            sqlx::Error::Database(e) if !B::is_cut(&**e) => {
                Self::Other(Error::new(ErrorKind::Database, "").source(error))
            }
            _ => Self::Unanswered(error),
        }
    }

    /// Whether an engine conflict is the cause of an error that the caller's own work returned.
    fn conflict_within<B: Backend>(error: &BoxError) -> bool {
        let mut next: Option<&(dyn std::error::Error + 'static)> = Some(&**error);
        while let Some(error) = next {
            if let Some(sqlx::Error::Database(e)) = error.downcast_ref() {
                return B::is_conflict(&**e);
            }
            if error.downcast_ref().map(Error::kind) == Some(ErrorKind::RestartTransaction) {
                return true;
            }
            next = error.source();
        }
        false
    }

    /// The same with the error of the work as its source.
    pub(crate) fn because_of(self, work: Self) -> Self {
        match (self, work) {
            (Self::Other(lost), Self::Other(effect)) => Self::Other(lost.source_of(effect)),
            (Self::Other(lost), Self::Conflict(source)) => Self::Other(lost.source(source)),
            (kept, _) => kept,
        }
    }

    pub(crate) fn is_unanswered(&self) -> bool {
        matches!(self, Self::Unanswered(_))
    }

    /// Whether the connection must not go back to its pool.
    pub(crate) fn broke_the_connection<B: Backend>(&self) -> bool {
        match self {
            Self::Unanswered(_) | Self::Lost(_) | Self::Broken(_) => true,
            Self::Conflict(source) => {
                matches!(source.downcast_ref(), Some(sqlx::Error::Database(e)) if B::is_away(&**e))
            }
            Self::Other(_) => false,
        }
    }

    /// As an error, where an engine conflict means `conflict` and a lost reply that nothing was applied.
    pub(crate) fn into_error(self, conflict: ErrorKind, table: &'static str) -> Error {
        match self {
            Self::Conflict(source) => Error::new(conflict, table).source(source),
            Self::Unanswered(source) => Error::new(ErrorKind::Database, table).source(source),
            Self::Lost(source) => Error::new(ErrorKind::Database, table).source(source),
            Self::Other(error) | Self::Broken(error) => error.table_or(table),
        }
    }

    /// Likewise of a write that stands alone, or of a COMMIT: there a lost reply leaves open whether it took effect.
    pub(crate) fn into_error_of_write(self, table: &'static str) -> Error {
        match self {
            Self::Unanswered(source) => Error::new(ErrorKind::CommitUnknown, table).source(source),
            fault => fault.into_error(ErrorKind::Busy, table),
        }
    }
}
