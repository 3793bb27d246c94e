//! The one algorithm: guard, guarded write, reading again, classification; and around it retries and restarts.

use crate::{
    attempt::Attempt,
    backend::Backend,
    error::{Error, ErrorKind},
    fault::Fault,
    handle::Handle,
    lifecycle::Lifecycle,
    observe,
    outcome::{Clash, Conflict, Loss, Outcome},
    plan::{Plan, PlanOn, Prepared, Ready, Ruling, Verdict},
    policy::restarts,
    row::{Columns, Stored as _},
    session::{Db, Guarded},
    transaction::{Transaction, close, open},
};
use backon::ExponentialBackoff;
use sqlx::Pool;

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

/// What became of all tries; `W` is what holds the open transaction, if there is one.
pub(crate) enum Decided<A: Lifecycle, W> {
    Won(W),
    Refused,
    Lost(Loss<A>),
}

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
) -> Result<Tried<P::Any>, Fault> {
    let mut fresh = false;
    let mut repeated = false;
    loop {
        let ready = plan.ready();
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

        let (sql, arguments) = plan.reread(matches!(scope, Scope::Theirs)).map_err(Fault::Other)?;
        let rows = B::fetch(connection, sql, arguments).await.map_err(Fault::of_read::<B>)?;
        let Some(row) = rows.first() else {
            if !P::CREATES {
                return Ok(Tried::Lost(Loss::NotFound));
            }
            if let Some(loss) = holder::<B, P>(plan.holders(), connection, None).await? {
                return Ok(Tried::Lost(loss));
            }
            if repeated {
                let mut error = Error::new(ErrorKind::UniqueTaken, "");
                if let Some(violation) = violated {
                    error = error.source(violation);
                }
                return Err(Fault::Other(error));
            }
            // What refused it may have gone meanwhile.
            repeated = true;
            continue;
        };

        let Verdict { found, ruling } = plan.judge(row).map_err(Fault::Other)?;
        let clash = match ruling {
            Ruling::Duplicate => return Ok(Tried::Lost(Loss::Duplicate(found))),
            Ruling::Unmoved if ready == Ready::Go && violated.is_none() => {
                if repeated {
                    return Err(Fault::Other(Error::new(ErrorKind::NoEffect, "")));
                }
                repeated = true;
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
                let loss = holder::<B, P>(plan.holders(), connection, Some(row)).await?;
                let unnamed = || Loss::clash(found, Clash::UniqueTaken(None));
                return Ok(Tried::Lost(loss.unwrap_or_else(unnamed)));
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
    let savepoint = matches!(scope, Scope::Theirs) && B::ABORTS_ON_ERROR && plan.may_violate();
    if let Scope::Ours(fence) = scope {
        open::<B>(connection, fence).await.map_err(Fault::of_open::<B>)?;
    }
    if savepoint {
        B::command(connection, "SAVEPOINT onward_step").await.map_err(Fault::of::<B>)?;
    }
    let written = match B::execute(connection, sql, arguments).await {
        Ok(rows) => {
            tracing::trace!(target: "onward", step = plan.name(), rows, "written");
            Ok(if rows == 0 { Written::No } else { Written::Yes })
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
            close::<B>(connection, fence).await.map_err(Fault::of_read::<B>)?;
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

/// An attempt on its way: how often it was tried, and what is still allowed.
pub(crate) struct Course<P> {
    pub(crate) plan: P,
    request_id: Option<String>,
    tries: u32,
    retries: ExponentialBackoff,
    restarts: ExponentialBackoff,
    /// A write of ours whose reply was lost may have taken effect, or may still do so.
    unsure: Option<sqlx::Error>,
}

impl<P: Plan> Course<P> {
    pub(crate) fn new(attempt: Attempt<P>) -> Self {
        Self {
            plan: attempt.plan,
            request_id: attempt.request_id,
            tries: 1,
            retries: attempt.policy.backoff(),
            restarts: restarts(),
            unsure: None,
        }
    }

    /// Tries until it is won, or lost for good; alone, or in a transaction of ours.
    pub(crate) async fn decide<B: Backend>(
        &mut self,
        db: &mut Db<'_, B>,
        ours: bool,
    ) -> Result<Decided<P::Any, Option<Guarded<B>>>, Error>
    where
        P: PlanOn<B>,
    {
        loop {
            let mut lease = match db.acquire().await {
                Ok(lease) => lease,
                Err(error) => {
                    // Nothing was sent this time, but what was sent before may still be open.
                    let fault = match self.unsure {
                        Some(_) => Fault::Conflict(error.into()),
                        None => Fault::Other(Error::new(ErrorKind::Database, "").source(error)),
                    };
                    self.again(fault).await?;
                    continue;
                }
            };
            if !lease.is_pooled() && lease.depth() > 0 {
                return Err(self.failed(Error::new(ErrorKind::InTransaction, "")));
            }
            let scope = if ours { Scope::Ours(lease.fence()) } else { Scope::Alone };
            let tried = try_once::<B, P>(&mut self.plan, lease.connection(), &scope).await;
            match tried {
                Ok(Tried::Won) => return Ok(Decided::Won(lease.into_guarded())),
                Ok(Tried::Refused) => {
                    lease.release();
                    return Ok(Decided::Refused);
                }
                Ok(Tried::Lost(loss)) => {
                    lease.release();
                    if let Some(loss) = self.lost(loss).await? {
                        return Ok(Decided::Lost(loss));
                    }
                }
                Err(fault) => {
                    // A connection that did not answer is not given back; a borrowed one cannot be replaced.
                    let pooled = lease.is_pooled();
                    if fault.broke_the_connection() {
                        drop(lease);
                    } else {
                        lease.release();
                    }
                    let fault = match fault {
                        Fault::Unanswered(source) if !pooled => {
                            Fault::Other(Error::new(ErrorKind::CommitUnknown, "").source(source))
                        }
                        Fault::Lost(source) if !pooled => {
                            Fault::Other(Error::new(ErrorKind::Database, "").source(source))
                        }
                        fault => fault,
                    };
                    self.again(fault).await?;
                }
            }
        }
    }

    /// The same in a transaction of ours, which stays open for the winner.
    pub(crate) async fn start<B: Backend>(
        &mut self,
        pool: &Pool<B>,
    ) -> Result<Decided<P::Any, Transaction<B>>, Error>
    where
        P: PlanOn<B>,
    {
        Ok(match self.decide(&mut Db::Pool(pool), true).await? {
            Decided::Won(Some(connection)) => Decided::Won(Transaction::opened(connection)),
            Decided::Won(None) => return Err(self.failed(Error::new(ErrorKind::NotInTransaction, ""))),
            Decided::Refused => Decided::Refused,
            Decided::Lost(loss) => Decided::Lost(loss),
        })
    }

    /// Waits for the next try if the policy allows one after this loss; else the loss is final.
    async fn lost(&mut self, loss: Loss<P::Any>) -> Result<Option<Loss<P::Any>>, Error> {
        if self.unsure.is_some() && self.plan.may_be_ours(&loss) {
            return Err(self.unknown());
        }
        let loss = match loss {
            Loss::Conflict(conflict) if self.plan.retries(&conflict) => {
                let Some(delay) = self.retries.next() else {
                    return Ok(Some(self.counted(Loss::Conflict(conflict))));
                };
                self.unsure = None;
                self.tries += 1;
                if conflict.clash != Clash::Behind
                    && let Err(found) = self.plan.adopt(conflict.found)
                {
                    return Ok(Some(self.counted(Loss::clash(found, conflict.clash))));
                }
                tokio::time::sleep(delay).await;
                return Ok(None);
            }
            loss => loss,
        };
        Ok(Some(self.counted(loss)))
    }

    fn counted(&self, mut loss: Loss<P::Any>) -> Loss<P::Any> {
        if let Loss::Conflict(conflict) = &mut loss {
            conflict.attempts = self.tries;
        }
        observe::loss(&self.plan, self.request_id.as_deref(), self.tries, &loss);
        loss
    }

    /// Waits for a restart of the whole after a fault, if it is of the kind that allows one and the budget does.
    pub(crate) async fn again(&mut self, fault: Fault) -> Result<(), Error> {
        let source = match fault {
            Fault::Other(error) if self.unsure.is_none() => return Err(self.failed(error)),
            Fault::Other(error) => {
                return Err(self.failed(Error::new(ErrorKind::CommitUnknown, "").source(error)));
            }
            Fault::Unanswered(source) => {
                // The same attempt on the same version is also the fence: if it takes effect, the first one never can.
                self.unsure = Some(source);
                None
            }
            Fault::Lost(source) => Some(source.into()),
            Fault::Conflict(source) => Some(source),
        };
        match (self.restarts.next(), source) {
            (Some(delay), _) => {
                tokio::time::sleep(delay).await;
                Ok(())
            }
            (None, Some(source)) if self.unsure.is_none() => {
                Err(self.failed(Error::new(ErrorKind::Busy, "").source(source)))
            }
            (None, _) => Err(self.unknown()),
        }
    }

    /// What one try in the caller's transaction means to the caller.
    pub(crate) fn theirs(
        &mut self,
        tried: Result<Tried<P::Any>, Fault>,
    ) -> Result<Decided<P::Any, ()>, Error> {
        match tried {
            Ok(Tried::Won) => Ok(Decided::Won(())),
            Ok(Tried::Refused) => Ok(Decided::Refused),
            Ok(Tried::Lost(loss)) => Ok(Decided::Lost(self.counted(loss))),
            Err(fault) => Err(self.failed(fault.into_error(ErrorKind::RestartTransaction, ""))),
        }
    }

    /// What holds if the write takes effect.
    pub(crate) fn next(&self) -> Result<P::Won, Error> {
        self.plan.won().map_err(|error| self.failed(error))
    }

    /// It took effect.
    pub(crate) fn applied(&self) -> Result<P::Won, Error> {
        self.next().map(|won| self.won(won))
    }

    pub(crate) fn won(&self, won: P::Won) -> P::Won {
        observe::applied(&self.plan, self.request_id.as_deref(), self.tries);
        won
    }

    pub(crate) fn refused<T: Handle<Any = P::Any>>(self) -> Outcome<T> {
        observe::refused(&self.plan, self.request_id.as_deref(), self.tries);
        self.plan.refused().into()
    }

    fn unknown(&mut self) -> Error {
        let mut error = Error::new(ErrorKind::CommitUnknown, "");
        if let Some(source) = self.unsure.take() {
            error = error.source(source);
        }
        self.failed(error)
    }

    /// The error with the names of what was tried.
    pub(crate) fn failed(&self, error: Error) -> Error {
        let error = error.table_or(P::Any::DESCRIPTION.table).step(self.plan.name()).key(self.plan.key());
        observe::failed(&self.plan, self.request_id.as_deref(), self.tries, &error);
        error
    }
}
