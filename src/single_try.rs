//! One try on one connection: guard, guarded write, reading again, classification.

use crate::{
    backend::Backend,
    error::{Error, ErrorKind},
    fault::Fault,
    journal::{AMEND, Evidence, Logged, REQUEST, Refusal, Stamp, Taken, entry},
    lifecycle::Lifecycle,
    outcome::{Clash, Loss},
    plan::{Plan, PlanOn, Prepared, Ready, Ruling, Verdict},
    row::{Columns, Stored as _, at_key},
    statement::Dialect,
    write::{Scope, Written, write, write_alone},
};

/// What became of one try.
pub(crate) enum Tried<A: Lifecycle> {
    Won,
    /// An earlier write of this attempt, whose reply was lost, took effect: the journal has its entry.
    WonBefore,
    /// The guard said no to the row at hand.
    Refused,
    Lost(Box<Loss<A>>),
}

/// Boxed, since a winner would carry its place about.
fn lost<A: Lifecycle>(loss: Loss<A>) -> Tried<A> {
    Tried::Lost(Box::new(loss))
}

/// How often a write is repeated that an index has refused although no row can be found that has the value.
const REPEATS: u32 = 3;

/// One try on one connection.
///
/// What most attempts never come to is boxed: a future is moved about as a whole.
pub(crate) async fn try_once<B: Backend, P: PlanOn<B>>(
    plan: &mut P,
    stamp: &Stamp,
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
        let mut fenced = false;
        match ready {
            Ready::Go => match write_planned::<B, P>(plan, stamp, connection, scope).await? {
                Written::Yes => return Ok(Tried::Won),
                Written::No => {}
                Written::Violated(error) => violated = Some(error),
                Written::Fenced => fenced = true,
            },
            Ready::Refused if fresh => return Ok(Tried::Refused),
            // Before a refusal, and where the step is not possible from what we hold: what is true now?
            Ready::Refused | Ready::Elsewhere => {}
        }

        let theirs = matches!(scope, Scope::Theirs);
        if theirs && ready != Ready::Go {
            Box::pin(lock_file::<B, P>(connection)).await?;
        }
        let (sql, arguments) = plan.reread(theirs).map_err(Fault::Other)?;
        let rows = B::fetch(connection, sql, arguments).await.map_err(Fault::of_read::<B>)?;
        if rows.len() > 1 {
            return Err(Fault::Other(Error::new(ErrorKind::KeyNotUnique, "")));
        }
        let Some(row) = rows.first() else {
            if fenced && P::CREATES {
                // No row could be shown.
                return Err(Fault::Other(Error::new(ErrorKind::Conflict(Clash::Fenced), "")));
            }
            let last = repeats == REPEATS;
            let missing = missing::<B, P>(plan, stamp, connection, theirs, fencing, violated, last);
            match Box::pin(missing).await? {
                Some(tried) => return Ok(tried),
                None => repeats += 1,
            }
            continue;
        };

        let Verdict { found, mut ruling } = plan.judge(row).map_err(Fault::Other)?;
        if (fencing || violated.is_some() || asks_journal(plan, stamp, ruling))
            && let Some(evidence) = Box::pin(Evidence::read::<B, P>(plan, stamp, connection, theirs)).await?
        {
            if fencing && evidence.is_ours(stamp) {
                return Ok(Tried::WonBefore);
            }
            match heard(plan, stamp, &evidence, ruling, found.version(), violated.is_some()) {
                // Its entry may be that of a write which came between the two reads; then the row has moved by now.
                Ok(Ruling::Clash(Clash::Behind)) if violated.is_some() && repeats < REPEATS => {
                    repeats += 1;
                    continue;
                }
                Ok(heard) => ruling = heard,
                Err((clash, holder)) => {
                    return Ok(lost(Loss::held(found, clash, holder)));
                }
            }
        }
        let clash = match ruling {
            Ruling::Duplicate => return Ok(lost(Loss::Duplicate(found))),
            // The step is still possible, but not from here.
            Ruling::Unmoved | Ruling::Clash(Clash::Stale | Clash::Moved) if fenced => Clash::Fenced,
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
                    Err(found) => return Ok(lost(Loss::clash(found, clash))),
                }
            }
            if violated.is_some() {
                if let Some(loss) = Box::pin(holder::<B, P>(plan.holders(), connection, Some(row))).await? {
                    return Ok(lost(loss));
                }
                if ruling == Ruling::Unmoved && repeats < REPEATS {
                    // What refused it may have gone meanwhile.
                    repeats += 1;
                    continue;
                }
                return Ok(lost(Loss::clash(found, Clash::UniqueTaken(None))));
            }
        }
        return Ok(lost(Loss::clash(found, clash)));
    }
}

/// There is no row; `None` if what refused a new one may have gone meanwhile, unless this is the last try.
async fn missing<B: Backend, P: PlanOn<B>>(
    plan: &mut P,
    stamp: &Stamp,
    connection: &mut B::Connection,
    theirs: bool,
    fencing: bool,
    violated: Option<sqlx::Error>,
    last: bool,
) -> Result<Option<Tried<P::Any>>, Fault> {
    let mut refusal = Refusal::Unknown;
    if (fencing || violated.is_some())
        && let Some(evidence) = Evidence::read::<B, P>(plan, stamp, connection, theirs).await?
    {
        if fencing && evidence.is_ours(stamp) {
            return Ok(Some(Tried::WonBefore));
        }
        refusal = evidence.refusal(plan, stamp, None);
        // Its entry may be that of a row which came between the two reads.
        if refusal == Refusal::Ahead && P::CREATES && !last {
            return Ok(None);
        }
    }
    if !P::CREATES {
        return Ok(Some(lost(Loss::NotFound)));
    }
    let loss = match taken_elsewhere::<B, P>(plan, refusal, connection).await? {
        Some(loss) => Some(loss),
        None => holder::<B, P>(plan.holders(), connection, None).await?,
    };
    if loss.is_none() && last {
        let mut error = Error::new(ErrorKind::UniqueTaken, "");
        if let Some(violation) = violated {
            error = error.source(violation);
        }
        return Err(Fault::Other(error));
    }
    Ok(loss.map(lost))
}

async fn write_planned<B: Backend, P: PlanOn<B>>(
    plan: &mut P,
    stamp: &Stamp,
    connection: &mut B::Connection,
    scope: &Scope<B>,
) -> Result<Written, Fault> {
    if let Some(logged) = Logged::kept(plan, stamp) {
        logged.fits::<P::Any>(stamp).map_err(Fault::Other)?;
    }
    let prepared = plan.write(stamp).map_err(Fault::Other)?;
    let entry = entry::<B, P>(plan, stamp).map_err(Fault::Other)?;
    match (scope, entry, stamp.lease.as_deref()) {
        (Scope::Alone, None, None) => write_alone::<B>(connection, plan.name(), prepared).await,
        (_, entry, lease) => {
            Box::pin(write::<B>(connection, scope, plan.name(), lease, prepared, entry)).await
        }
    }
}

/// Whether the row alone leaves open what the journal may know.
fn asks_journal<P: Plan>(plan: &P, stamp: &Stamp, ruling: Ruling) -> bool {
    P::Any::DESCRIPTION.journal.is_some()
        && match ruling {
            // Nothing in a row tells one amendment from another.
            Ruling::Unmoved | Ruling::Clash(Clash::Stale | Clash::Moved) => {
                plan.name() == AMEND && (stamp.request.is_some() || stamp.cause.is_some())
            }
            Ruling::Clash(Clash::Aside) => true,
            // Being in the target counts, unless the journal says that another step led there.
            Ruling::Duplicate => !P::CREATES && plan.cause().is_none(),
            Ruling::Clash(_) => false,
        }
}

/// The ruling once the journal is heard, or who has taken what the attempt would bring.
fn heard<P: Plan>(
    plan: &P,
    stamp: &Stamp,
    evidence: &Evidence<<P::Any as Lifecycle>::Key>,
    ruling: Ruling,
    version: i64,
    violated: bool,
) -> Result<Ruling, (Clash, <P::Any as Lifecycle>::Key)> {
    match ruling {
        Ruling::Clash(Clash::Aside) | Ruling::Duplicate if !P::CREATES => {
            let by_state_alone = ruling == Ruling::Duplicate && plan.cause().is_none();
            Ok(match evidence.taken(plan, stamp) {
                Taken::Repeat => Ruling::Duplicate,
                Taken::OtherCause if by_state_alone || ruling != Ruling::Duplicate => {
                    Ruling::Clash(Clash::OtherCause)
                }
                Taken::UnknownCause | Taken::AnotherStep if by_state_alone => Ruling::Clash(Clash::Aside),
                _ => ruling,
            })
        }
        Ruling::Unmoved | Ruling::Clash(Clash::Stale | Clash::Moved) if violated => {
            match evidence.refusal(plan, stamp, Some(version)) {
                Refusal::Repeat => Ok(Ruling::Duplicate),
                Refusal::Ahead => Ok(Ruling::Clash(Clash::Behind)),
                Refusal::CauseTaken(key) => Err((Clash::CauseTaken, key)),
                Refusal::RequestTaken(key) => Err((Clash::UniqueTaken(Some(REQUEST)), key)),
                Refusal::Unknown => Ok(ruling),
            }
        }
        Ruling::Unmoved | Ruling::Clash(Clash::Stale | Clash::Moved) if evidence.is_repeat(plan, stamp) => {
            Ok(Ruling::Duplicate)
        }
        ruling => Ok(ruling),
    }
}

/// A new row that the journal refused: the row that has its request or its cause.
async fn taken_elsewhere<B: Backend, P: PlanOn<B>>(
    plan: &mut P,
    refusal: Refusal<<P::Any as Lifecycle>::Key>,
    connection: &mut B::Connection,
) -> Result<Option<Loss<P::Any>>, Fault> {
    let (clash, key) = match refusal {
        Refusal::CauseTaken(key) => (Clash::CauseTaken, key),
        Refusal::RequestTaken(key) => (Clash::UniqueTaken(Some(REQUEST)), key),
        Refusal::Ahead => {
            let note = "the journal knows this key already; was its row deleted? A new row needs a new key";
            return Err(Fault::Other(Error::new(ErrorKind::UniqueTaken, "").note(note)));
        }
        Refusal::Repeat | Refusal::Unknown => return Ok(None),
    };
    let (sql, arguments) = at_key::<B, P::Any>(&key, plan.row()).map_err(Fault::Other)?;
    let rows = B::fetch(connection, sql, arguments).await.map_err(Fault::of_read::<B>)?;
    let Some(row) = rows.first() else { return Ok(None) };
    let found = P::Any::decode(&Columns::selected(row)).map_err(Fault::Other)?;
    Ok(Some(Loss::held(found, clash, key)))
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
        return Ok(Some(Loss::held(found, clash, key)));
    }
    Ok(None)
}
