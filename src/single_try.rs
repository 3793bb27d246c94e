//! One try on one connection: guard, guarded write, reading again, classification.

use crate::{
    backend::Backend,
    boundary::{close, open},
    error::{Error, ErrorKind},
    fault::Fault,
    lifecycle::Lifecycle,
    outcome::{Clash, Conflict, Loss},
    plan::{PlanOn, Prepared, Ready, Ruling, Verdict},
    row::{Columns, Stored as _},
    statement::Dialect,
};

/// Whose transaction a try runs in.
pub(crate) enum Scope<B: Backend> {
    /// Each statement on its own.
    Alone,
    /// One that we begin, behind this fence, and that stays open for the winner.
    Ours(B::Fence),
    /// The caller's.
    Theirs,
}

/// What became of one try.
pub(crate) enum Tried<A: Lifecycle> {
    Won,
    /// The guard said no to the row at hand.
    Refused,
    Lost(Loss<A>),
}

/// How often a write is repeated that an index has refused although no row can be found that has the value.
const REPEATS: u32 = 3;

enum Written {
    Yes,
    No,
    /// A unique index refused it.
    Violated(sqlx::Error),
}

/// One try on one connection.
pub(crate) async fn try_once<B: Backend, P: PlanOn<B>>(
    plan: &mut P,
    connection: &mut B::Connection,
    scope: &Scope<B>,
    fencing: bool,
) -> Result<Tried<P::Any>, Fault> {
    let mut fresh = false;
    let mut repeats = 0;
    loop {
        // A write whose reply was lost is sent again as it was, whatever the guard says meanwhile: only if this one
        // takes effect, that one never can.
        let ready = if fencing {
            Ready::Go
        } else {
            plan.prepare();
            plan.ready()
        };
        let mut violated = None;
        match ready {
            Ready::Go => match write::<B, P>(plan, connection, scope).await? {
                Written::Yes => return Ok(Tried::Won),
                Written::No => {}
                Written::Violated(error) => violated = Some(error),
            },
            Ready::Refused if fresh => return Ok(Tried::Refused),
            // Before a refusal, and where the step is not possible from what we hold: what is true now?
            Ready::Refused | Ready::Elsewhere => {}
        }

        let theirs = matches!(scope, Scope::Theirs);
        if theirs && ready != Ready::Go {
            lock_file::<B, P>(connection).await?;
        }
        let (sql, arguments) = plan.reread(theirs).map_err(Fault::Other)?;
        let rows = B::fetch(connection, sql, arguments).await.map_err(Fault::of_read::<B>)?;
        let Some(row) = rows.first() else {
            if !P::CREATES {
                return Ok(Tried::Lost(Loss::NotFound));
            }
            if let Some(loss) = holder::<B, P>(plan.holders(), connection, None).await? {
                return Ok(Tried::Lost(loss));
            }
            if repeats == REPEATS {
                let mut error = Error::new(ErrorKind::UniqueTaken, "");
                if let Some(violation) = violated {
                    error = error.source(violation);
                }
                return Err(Fault::Other(error));
            }
            // What refused it may have gone meanwhile.
            repeats += 1;
            continue;
        };

        let Verdict { found, ruling } = plan.judge(row).map_err(Fault::Other)?;
        let clash = match ruling {
            Ruling::Duplicate => return Ok(Tried::Lost(Loss::Duplicate(found))),
            Ruling::Unmoved if ready == Ready::Go && violated.is_none() => {
                if repeats > 0 {
                    return Err(Fault::Other(Error::new(ErrorKind::NoEffect, "")));
                }
                repeats += 1;
                continue;
            }
            // Not written, or refused by an index: what was found is as good as a newer version.
            Ruling::Unmoved => Clash::Stale,
            Ruling::Clash(clash) => clash,
        };
        if matches!(clash, Clash::Stale | Clash::Moved) {
            if ready != Ready::Go {
                match plan.adopt(found) {
                    Ok(()) => {
                        fresh = true;
                        continue;
                    }
                    Err(found) => return Ok(Tried::Lost(Loss::clash(found, clash))),
                }
            }
            if violated.is_some() {
                if let Some(loss) = holder::<B, P>(plan.holders(), connection, Some(row)).await? {
                    return Ok(Tried::Lost(loss));
                }
                if ruling == Ruling::Unmoved && repeats < REPEATS {
                    // What refused it may have gone meanwhile.
                    repeats += 1;
                    continue;
                }
                return Ok(Tried::Lost(Loss::clash(found, Clash::UniqueTaken(None))));
            }
        }
        return Ok(Tried::Lost(Loss::clash(found, clash)));
    }
}

async fn write<B: Backend, P: PlanOn<B>>(
    plan: &mut P,
    connection: &mut B::Connection,
    scope: &Scope<B>,
) -> Result<Written, Fault> {
    let (sql, arguments) = plan.write().map_err(Fault::Other)?;
    let savepoint = matches!(scope, Scope::Theirs) && B::ABORTS_ON_ERROR;
    if let Scope::Ours(fence) = scope {
        open::<B>(connection, fence).await.map_err(Fault::of_open::<B>)?;
    }
    if savepoint {
        B::command(connection, "SAVEPOINT onward_step").await.map_err(Fault::of::<B>)?;
    }
    let written = match B::execute(connection, sql, arguments).await {
        Ok(rows) => {
            tracing::trace!(target: "onward", step = plan.name(), rows, "written");
            match rows {
                0 => Ok(Written::No),
                1 => Ok(Written::Yes),
                _ => Err(Fault::Other(Error::new(ErrorKind::KeyNotUnique, ""))),
            }
        }
        Err(sqlx::Error::Database(error)) if error.is_unique_violation() => {
            Ok(Written::Violated(sqlx::Error::Database(error)))
        }
        // In a transaction of ours nothing holds before its commit, so a lost reply there is no riddle.
        Err(error) if matches!(scope, Scope::Ours(_)) => Err(Fault::of_read::<B>(error)),
        Err(error) => Err(Fault::of::<B>(error)),
    };
    match (scope, &written) {
        (Scope::Ours(fence), Ok(Written::No | Written::Violated(_)) | Err(_)) => {
            close::<B>(connection, fence).await.map_err(|error| Fault::Lost(error.into()))?;
        }
        (Scope::Theirs, Ok(Written::Yes | Written::No)) if savepoint => {
            B::command(connection, "RELEASE SAVEPOINT onward_step").await.map_err(Fault::of::<B>)?;
        }
        // The step failed, the caller's transaction lives on.
        (Scope::Theirs, Ok(Written::Violated(_)) | Err(Fault::Other(_))) if savepoint => {
            let undo = "ROLLBACK TO SAVEPOINT onward_step; RELEASE SAVEPOINT onward_step";
            B::command(connection, undo).await.map_err(Fault::of::<B>)?;
        }
        _ => {}
    }
    written
}

/// On SQLite: makes the caller's transaction a writing one, so that it shows what is committed now, or learns that it
/// cannot. The other databases lock the row.
async fn lock_file<B: Backend, P: PlanOn<B>>(connection: &mut B::Connection) -> Result<(), Fault> {
    if B::DIALECT == Dialect::Sqlite {
        let sql = &P::Any::statements(B::DIALECT).lock_file;
        B::execute(connection, sql, B::Arguments::default()).await.map_err(Fault::of_read::<B>)?;
    }
    Ok(())
}

/// The row that has the value which a unique index refused; `here` is the attempt's own row.
async fn holder<B: Backend, P: PlanOn<B>>(
    lookups: Result<Vec<(Clash, Prepared<B>)>, Error>,
    connection: &mut B::Connection,
    here: Option<&B::Row>,
) -> Result<Option<Loss<P::Any>>, Fault> {
    for (clash, (sql, arguments)) in lookups.map_err(Fault::Other)? {
        let rows = B::fetch(connection, sql, arguments).await.map_err(Fault::of_read::<B>)?;
        let Some(row) = rows.first() else { continue };
        let columns = Columns::<B, P::Any>::selected(row);
        let key = P::Any::decode_key(&columns).map_err(Fault::Other)?;
        let found = match here {
            Some(here) => P::Any::decode(&Columns::selected(here)),
            None => P::Any::decode(&columns),
        };
        let found = found.map_err(Fault::Other)?;
        return Ok(Some(Loss::Conflict(Conflict { found, clash, holder: Some(key), attempts: 1 })));
    }
    Ok(None)
}
