//! An attempt on its way: tries, retries by the policy, restarts after engine conflicts and lost replies.

use crate::{
    attempt::Attempt,
    backend::Backend,
    boundary::{depth, settled_depth},
    error::{Error, ErrorKind},
    fault::Fault,
    handle::Handle,
    journal::{Fenced, Stamp, fresh_identity, settle},
    lifecycle::Lifecycle,
    observe,
    outcome::{Clash, Loss, Outcome},
    plan::{Plan, PlanOn},
    policy::{Policy, restarts},
    session::{Db, Guarded, Session, is_inside},
    single_try::{Tried, try_once},
    transaction::Transaction,
    write::Scope,
};
use backon::ExponentialBackoff;
use sqlx::Pool;

/// What became of all tries; `W` is what holds the open transaction, if there is one.
pub(crate) enum Decided<A: Lifecycle, W> {
    Won(W),
    /// By an earlier write whose reply was lost.
    WonBefore,
    Refused,
    Lost(Box<Loss<A>>),
}

/// An attempt on its way: how often it was tried, and what is still allowed.
pub(crate) struct Course<P> {
    pub(crate) plan: P,
    stamp: Stamp,
    tries: u32,
    policy: Policy,
    /// The delays that are left; most attempts never ask for one.
    retries: Option<Box<ExponentialBackoff>>,
    restarts: Option<Box<ExponentialBackoff>>,
    /// A write of ours whose reply was lost may have taken effect, or may still do so.
    unsure: Option<sqlx::Error>,
}

impl<P: Plan> Course<P> {
    pub(crate) fn new(attempt: Attempt<P>) -> Self {
        Self {
            plan: attempt.plan,
            stamp: attempt.stamp,
            tries: 1,
            policy: attempt.policy,
            retries: None,
            restarts: None,
            unsure: None,
        }
    }

    /// Gives the attempt its identity where one is kept, and refuses a cause that has no place.
    pub(crate) fn identify(&mut self) -> Result<(), Error> {
        let journalled = P::Any::DESCRIPTION.journal.is_some();
        if self.stamp.cause.is_some() && (!journalled || self.plan.cause().is_some()) {
            let note = if journalled {
                "the transition has a cause of its own"
            } else {
                "there is no journal to keep a cause"
            };
            return Err(self.failed(Error::new(ErrorKind::NotDeclared, "").note(note)));
        }
        if journalled {
            self.stamp.attempt = fresh_identity().map_err(|error| self.failed(error))?;
        }
        Ok(())
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
        // What was begun before this call may have lost its connection.
        let mut broken = self.restarts.is_some();
        loop {
            let acquired = if broken { Box::pin(db.acquire_answering()).await } else { db.acquire().await };
            let mut lease = match acquired {
                Ok(lease) => lease,
                Err(error) => {
                    // Nothing was sent this time, but what was sent before may still be open. A pool that waited in
                    // vain is not asked again: that takes half a minute by default.
                    let waited = matches!(error, sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed);
                    match self.unsure {
                        Some(_) if waited => return Err(self.unknown()),
                        Some(_) => Box::pin(self.again(Fault::Lost(error.into()))).await?,
                        None => return Err(self.failed(Error::new(ErrorKind::Database, "").source(error))),
                    }
                    continue;
                }
            };
            let inside = depth::<B>(lease.connection()) > 0 && !lease.is_pooled();
            if inside && settled_depth::<B>(lease.connection()).await > 0 {
                return Err(self.failed(
                    Error::new(ErrorKind::InTransaction, "")
                        .note("use `apply_in`, which never tries again there"),
                ));
            }
            let scope = if ours { Scope::Ours(lease.fence()) } else { Scope::Alone };
            let fencing = self.unsure.is_some();
            let tried =
                try_once::<B, P>(&mut self.plan, &self.stamp, lease.connection(), &scope, fencing).await;
            match tried {
                Ok(Tried::Won) => {
                    // Whatever was sent before can take effect no more.
                    if !ours || B::LOCKS_EXCLUDE {
                        self.unsure = None;
                    }
                    return Ok(Decided::Won(lease.into_guarded()));
                }
                Ok(Tried::WonBefore) => {
                    self.unsure = None;
                    lease.release();
                    return Ok(Decided::WonBefore);
                }
                Ok(Tried::Refused) => {
                    lease.release();
                    return Ok(Decided::Refused);
                }
                Ok(Tried::Lost(loss)) => {
                    lease.release();
                    if let Some(loss) = Box::pin(self.lost(loss)).await? {
                        return Ok(Decided::Lost(loss));
                    }
                }
                Err(fault) => {
                    // A borrowed connection cannot be replaced by another one.
                    let pooled = lease.is_pooled();
                    broken = fault.broke_the_connection::<B>();
                    lease.release_after(&fault);
                    let fault = match fault {
                        Fault::Unanswered(source) if !pooled => {
                            Fault::Other(Error::new(ErrorKind::CommitUnknown, "").source(source))
                        }
                        fault @ Fault::Lost(_) if !pooled => {
                            Fault::Other(fault.into_error(ErrorKind::Database, ""))
                        }
                        fault => fault,
                    };
                    Box::pin(self.again(fault)).await?;
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
            Decided::WonBefore => Decided::WonBefore,
            Decided::Refused => Decided::Refused,
            Decided::Lost(loss) => Decided::Lost(loss),
        })
    }

    /// Waits for the next try if the policy allows one after this loss; else the loss is final.
    async fn lost(&mut self, mut loss: Box<Loss<P::Any>>) -> Result<Option<Box<Loss<P::Any>>>, Error> {
        if self.unsure.is_some() && self.may_be_ours(&loss) {
            return Err(self.unknown());
        }
        let retries = matches!(&*loss, Loss::Conflict(conflict) if self.plan.retries(conflict));
        let left = || self.retries.get_or_insert_with(|| Box::new(self.policy.backoff())).next();
        let Some(delay) = retries.then(left).flatten() else {
            self.count(&mut loss);
            return Ok(Some(loss));
        };
        self.unsure = None;
        self.tries += 1;
        if let Loss::Conflict(conflict) = *loss
            && conflict.clash != Clash::Behind
            && let Err(found) = self.plan.adopt(conflict.found)
        {
            let mut loss = Box::new(Loss::clash(found, conflict.clash));
            self.count(&mut loss);
            return Ok(Some(loss));
        }
        tokio::time::sleep(delay).await;
        Ok(None)
    }

    /// Whether an earlier write whose reply was lost may be behind this, or may still take effect.
    fn may_be_ours(&self, loss: &Loss<P::Any>) -> bool {
        if P::Any::DESCRIPTION.journal.is_none() {
            return self.plan.may_be_ours(loss);
        }
        // The journal was asked, and does not have it; what is left is a row that shows less than was known.
        match loss {
            Loss::NotFound => true,
            Loss::Conflict(conflict) => match conflict.clash {
                Clash::Behind => true,
                Clash::CauseTaken | Clash::UniqueTaken(_) => self.plan.may_be_ours(loss),
                _ => false,
            },
            Loss::Duplicate(_) | Loss::Refused(_) => false,
        }
    }

    /// After a COMMIT whose reply was lost.
    pub(crate) async fn settle<B: Backend>(&mut self, pool: &Pool<B>) -> Option<Fenced>
    where
        P: PlanOn<B>,
    {
        settle::<B, P>(&mut self.plan, &self.stamp, pool).await
    }

    /// After a transaction of ours that was not committed: waits for a restart, unless an earlier one, whose reply was
    /// lost, turns out to have taken effect.
    pub(crate) async fn restart<B: Backend>(&mut self, pool: &Pool<B>, fault: Fault) -> Result<bool, Error>
    where
        P: PlanOn<B>,
    {
        if self.unsure.is_some() && matches!(fault, Fault::Other(_) | Fault::Broken(_)) {
            match self.settle(pool).await {
                Some(Fenced::Never) => self.unsure = None,
                Some(Fenced::Applied) => return Ok(true),
                None => {}
            }
        }
        self.again(fault).await.map(|()| false)
    }

    fn count(&self, loss: &mut Loss<P::Any>) {
        if let Loss::Conflict(conflict) = loss {
            conflict.attempts = self.tries;
        }
        observe::loss(&self.plan, &self.stamp, self.tries, loss);
    }

    /// Waits for a restart of the whole after a fault, if it is of the kind that allows one and the budget does.
    async fn again(&mut self, fault: Fault) -> Result<(), Error> {
        let source = match fault {
            Fault::Other(error) | Fault::Broken(error) if self.unsure.is_none() => {
                return Err(self.failed(error));
            }
            Fault::Other(error) | Fault::Broken(error) => {
                return Err(self.failed(Error::new(ErrorKind::CommitUnknown, "").source(error)));
            }
            Fault::Unanswered(source) => {
                // The same attempt on the same version is also the fence: if it takes effect, the first one never can.
                self.unsure = Some(source);
                None
            }
            Fault::Lost(source) | Fault::Conflict(source) => Some(source),
        };
        match (self.restarts.get_or_insert_with(|| Box::new(restarts())).next(), source) {
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

    /// One try in the caller's transaction.
    pub(crate) async fn decide_in<S: Session>(&mut self, tx: &mut S) -> Result<Decided<P::Any, ()>, Error>
    where
        P: PlanOn<S::Db>,
    {
        let connection = tx.connection();
        if !is_inside::<S>(connection).await {
            return Err(self.failed(Error::new(ErrorKind::NotInTransaction, "")));
        }
        match try_once::<S::Db, P>(&mut self.plan, &self.stamp, connection, &Scope::Theirs, false).await {
            Ok(Tried::Won) => Ok(Decided::Won(())),
            Ok(Tried::WonBefore) => Ok(Decided::WonBefore),
            Ok(Tried::Refused) => Ok(Decided::Refused),
            Ok(Tried::Lost(mut loss)) => {
                self.count(&mut loss);
                Ok(Decided::Lost(loss))
            }
            Err(fault) => Err(self.failed(fault.into_error(ErrorKind::RestartTransaction, ""))),
        }
    }

    /// What holds if the write takes effect.
    pub(crate) fn next(&self) -> Result<P::Won, Error> {
        self.plan.won().map_err(|error| self.failed(error))
    }

    /// It took effect, and nothing is left to do.
    pub(crate) fn applied(self) -> Result<P::Won, Error> {
        observe::applied(&self.plan, &self.stamp, self.tries);
        let step = self.plan.name();
        self.plan.into_won().map_err(|error| error.step(step))
    }

    pub(crate) fn won(&self, won: P::Won) -> P::Won {
        observe::applied(&self.plan, &self.stamp, self.tries);
        won
    }

    pub(crate) fn refused<T: Handle<Any = P::Any>>(self) -> Outcome<T> {
        self.told_refused();
        self.plan.refused().into()
    }

    pub(crate) fn told_refused(&self) {
        observe::refused(&self.plan, &self.stamp, self.tries);
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
        observe::failed(&self.plan, &self.stamp, self.tries, &error);
        error
    }
}
