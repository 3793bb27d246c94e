//! A guarded write on a connection, with its entry in the journal, both or neither, and under a lease if there is one.

use crate::{
    backend::Backend,
    boundary::{Pair, close, open},
    error::{Error, ErrorKind},
    fault::Fault,
    lease::Fence,
    plan::Prepared,
};

/// Whose transaction a write runs in.
pub(crate) enum Scope<B: Backend> {
    /// It stands on its own.
    Alone,
    /// One that we begin, behind this fence, and that stays open for the winner.
    Ours(B::Fence),
    /// The caller's.
    Theirs,
}

pub(crate) enum Written {
    Yes,
    No,
    /// A unique index refused it.
    Violated(sqlx::Error),
    /// Not even tried: the lease is somebody else's.
    Fenced,
}

/// Writes, and keeps the entry if there is one to be kept by a statement of its own.
pub(crate) async fn write<B: Backend>(
    connection: &mut B::Connection,
    scope: &Scope<B>,
    name: &'static str,
    lease: Option<&Fence>,
    write: Prepared<B>,
    entry: Option<Prepared<B>>,
) -> Result<Written, Fault> {
    match scope {
        Scope::Alone if entry.is_some() || lease.is_some() => {
            alone::<B>(connection, name, lease, write, entry).await
        }
        Scope::Ours(fence) => {
            open::<B>(connection, fence).await.map_err(Fault::of_open::<B>)?;
            let written = both::<B>(connection, name, lease, write, entry).await;
            if !matches!(written, Ok(Written::Yes)) {
                close::<B>(connection, fence).await.map_err(|error| Fault::Lost(error.into()))?;
            }
            written
        }
        Scope::Theirs if B::ABORTS_ON_ERROR || entry.is_some() || lease.is_some() => {
            B::command(connection, "SAVEPOINT onward_step").await.map_err(Fault::of::<B>)?;
            let written = both::<B>(connection, name, lease, write, entry).await;
            // The step may have failed, the caller's transaction lives on.
            let end = match &written {
                Ok(Written::Yes | Written::No | Written::Fenced) => "RELEASE SAVEPOINT onward_step",
                Ok(Written::Violated(_)) | Err(Fault::Other(_)) => {
                    "ROLLBACK TO SAVEPOINT onward_step; RELEASE SAVEPOINT onward_step"
                }
                Err(_) => return written,
            };
            B::command(connection, end).await.map_err(Fault::of::<B>)?;
            written
        }
        Scope::Alone | Scope::Theirs => write_alone::<B>(connection, name, write).await,
    }
}

/// A write without an entry that stands on its own.
pub(crate) async fn write_alone<B: Backend>(
    connection: &mut B::Connection,
    name: &'static str,
    write: Prepared<B>,
) -> Result<Written, Fault> {
    send::<B>(connection, name, write).await.map_err(Fault::of::<B>)?
}

/// Both in a short transaction.
async fn alone<B: Backend>(
    connection: &mut B::Connection,
    name: &'static str,
    lease: Option<&Fence>,
    write: Prepared<B>,
    entry: Option<Prepared<B>>,
) -> Result<Written, Fault> {
    let mut pair = Pair::<B>::open(connection).await.map_err(Fault::of_open::<B>)?;
    let written = match both::<B>(pair.connection, name, lease, write, entry).await {
        Ok(Written::Yes) => match pair.commit().await {
            Ok(()) => return Ok(Written::Yes),
            Err(error) => match Fault::of_commit::<B>(error) {
                // It may be committed, or still become so.
                fault @ Fault::Unanswered(_) => return Err(fault),
                fault => Err(fault),
            },
        },
        other => other,
    };
    pair.roll_back().await.map_err(|error| Fault::Lost(error.into()))?;
    written
}

/// Inside a transaction, where nothing holds before its commit: a lost reply there is no riddle.
async fn both<B: Backend>(
    connection: &mut B::Connection,
    name: &'static str,
    lease: Option<&Fence>,
    write: Prepared<B>,
    entry: Option<Prepared<B>>,
) -> Result<Written, Fault> {
    if let Some(lease) = lease
        && !lease.hold::<B>(connection).await.map_err(Fault::of_read::<B>)?
    {
        return Ok(Written::Fenced);
    }
    let written = send::<B>(connection, name, write).await.map_err(Fault::of_read::<B>)??;
    match (&written, entry) {
        (Written::Yes, Some(entry)) => match send::<B>(connection, name, entry).await {
            Ok(Ok(Written::No)) => {
                let note = "the journal did not keep the entry; does a trigger suppress it?";
                Err(Fault::Other(Error::new(ErrorKind::NoEffect, "").note(note)))
            }
            kept => kept.map_err(Fault::of_read::<B>)?,
        },
        _ => Ok(written),
    }
}

/// One statement, and how many rows it touched.
async fn send<B: Backend>(
    connection: &mut B::Connection,
    name: &'static str,
    (sql, arguments): Prepared<B>,
) -> Result<Result<Written, Fault>, sqlx::Error> {
    match B::execute(connection, sql, arguments).await {
        Ok(rows) => {
            tracing::trace!(target: "onward", step = name, rows, "written");
            Ok(match rows {
                0 => Ok(Written::No),
                1 => Ok(Written::Yes),
                _ => Err(Fault::Other(Error::new(ErrorKind::KeyNotUnique, ""))),
            })
        }
        Err(sqlx::Error::Database(error)) if error.is_unique_violation() => {
            Ok(Ok(Written::Violated(sqlx::Error::Database(error))))
        }
        Err(error) => Err(error),
    }
}
