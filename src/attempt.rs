//! A step about to be tried, and the ways to try it.

use crate::{
    backend::Backend,
    course::{Course, Decided},
    error::{BoxError, Error, ErrorKind},
    journal::Stamp,
    outcome::Outcome,
    plan::{Plan, PlanOn},
    policy::Policy,
    session::{Own, Session},
    uncommitted::Uncommitted,
    won::Won,
};
use sqlx::Pool;
use std::future::Future;

/// A step about to be tried. Nothing happens until one of these runs it:
///
/// - [`apply`](Attempt::apply): on its own;
/// - [`begin`](Attempt::begin): with more work in the same transaction, until `commit`;
/// - [`apply_with`](Attempt::apply_with): with more work in a closure that may run again;
/// - [`apply_in`](Attempt::apply_in): inside a transaction of the caller's.
#[must_use = "nothing happens until `apply`, `begin`, `apply_with` or `apply_in`"]
pub struct Attempt<P> {
    pub(crate) plan: P,
    pub(crate) policy: Policy,
    pub(crate) stamp: Stamp,
}

impl<P> Attempt<P> {
    pub(crate) fn new(plan: P) -> Self {
        Self { plan, policy: Policy::return_current(), stamp: Stamp::default() }
    }

    /// What to do when this attempt loses; by default the current state is returned, which is right for money.
    ///
    /// It holds where the transaction is ours; inside a caller's transaction nothing is ever tried again.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/order.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), onward::BoxError> {
    /// # let (db, order) = example().await?;
    /// use onward::Policy;
    ///
    /// let amended = order.amend(|row| row.amount_cents += 10).policy(Policy::retry(3)).apply(&db).await?.applied()?;
    /// assert_eq!(amended.amount_cents, 510);
    /// # Ok(())
    /// # }
    /// ```
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// The request that asks for this, for the `tracing` events of this attempt and for the journal.
    ///
    /// In a journal it is unique: a request does one step of one row. The same step of the same row again is a
    /// [`Duplicate`](Outcome::Duplicate), also of `amend`, unless it names another cause; anything else is the conflict
    /// [`UniqueTaken(Some("request_id"))`](crate::Clash::UniqueTaken). There it, the actor and the cause have at most 512
    /// bytes each; longer ones are the error [`TooLong`](crate::ErrorKind::TooLong).
    pub fn request_id(mut self, id: impl Into<String>) -> Self {
        self.stamp.request = Some(id.into());
        self
    }

    /// Who does this, for the journal: a person, a job, a provider.
    pub fn actor(mut self, actor: impl Into<String>) -> Self {
        self.stamp.actor = Some(actor.into());
        self
    }

    /// The business fact that asks for this step, where the declaration has no `by`; the journal keeps it.
    ///
    /// As with `by`, the same step for the same cause is a repeat, for another one it is
    /// [`OtherCause`](crate::Clash::OtherCause), and a cause moves one row only. A reason that several rows share is no
    /// cause; make it a fact.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/journalled.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), onward::BoxError> {
    /// # let (db, order) = example().await?;
    /// let order = order.cancel().cause("letter 8812").actor("clerk 7").apply(&db).await?.applied()?;
    ///
    /// let history = AnyOrder::history(&db, order.id).await?;
    /// assert_eq!(history.entries[1].cause.as_deref(), Some("letter 8812"));
    /// assert_eq!(history.entries[1].actor.as_deref(), Some("clerk 7"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// An attempt that gives a cause to a transition that has one, or where no journal would keep it, fails with
    /// [`NotDeclared`](crate::ErrorKind::NotDeclared).
    pub fn cause(mut self, cause: impl Into<String>) -> Self {
        self.stamp.cause = Some(cause.into());
        self
    }
}

impl<P: Plan> Attempt<P> {
    /// Tries the step on its own: one statement for a winner, one more for a loser.
    ///
    /// `db` is `&pool` or `&mut connection`; inside a transaction use [`apply_in`](Attempt::apply_in). On a pool it is safe
    /// to drop at any await; a connection of yours on which it was dropped must be closed, except on SQLite.
    ///
    /// # Errors
    ///
    /// Faults only; a lost race is an [`Outcome`]. [`Busy`](crate::ErrorKind::Busy) when engine conflicts used up the restarts,
    /// [`CommitUnknown`](crate::ErrorKind::CommitUnknown) when a reply was lost and trying again could not settle it,
    /// [`Unreadable`](crate::ErrorKind::Unreadable), [`NoEffect`](crate::ErrorKind::NoEffect), [`VersionLimit`](crate::ErrorKind::VersionLimit), [`Database`](crate::ErrorKind::Database),
    /// [`InTransaction`](crate::ErrorKind::InTransaction) for a connection that is inside one. A `BEGIN` that was sent as plain SQL
    /// is not seen: inside of such a transaction this would say `Applied` before its COMMIT.
    pub fn apply<'a, D>(self, db: D) -> impl Future<Output = Result<Outcome<P::Won>, Error>> + Send
    where
        D: Own<'a>,
        P: PlanOn<D::Db>,
    {
        let mut db = db.access();
        // What a future captures it does not move again.
        let mut course = Course::new(self);
        async move {
            course.identify()?;
            match course.decide(&mut db, false).await? {
                Decided::Won(connection) => {
                    if let Some(connection) = connection {
                        connection.release();
                    }
                    course.applied().map(Outcome::Applied)
                }
                Decided::WonBefore => course.applied().map(Outcome::Applied),
                Decided::Lost(loss) => Ok((*loss).into()),
                Decided::Refused => Ok(course.refused()),
            }
        }
    }

    /// Wins the row in a transaction of its own and leaves it open for more work, until [`Won::commit`].
    ///
    /// The transaction takes its connection from the pool, so the pool needs a free one.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/order.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), onward::BoxError> {
    /// # let (db, order) = example().await?;
    /// use onward::{Outcome::Applied, sqlx};
    ///
    /// let Applied(mut won) = order.pay("T-1".into()).begin(&db).await? else { return Ok(()) };
    /// let (tx, paid) = won.parts();
    /// sqlx::query("UPDATE stock SET available = available - 1 WHERE ? > 0").bind(paid.id).execute(tx).await?;
    /// let paid: Order<Paid> = won.commit().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`apply`](Attempt::apply).
    pub fn begin<B>(self, pool: &Pool<B>) -> impl Future<Output = Result<Outcome<Won<B, P>>, Error>> + Send
    where
        B: Backend,
        P: PlanOn<B>,
    {
        async move {
            let mut course = Course::new(self);
            course.identify()?;
            match course.start(pool).await? {
                Decided::Won(transaction) => {
                    let next = course.next()?;
                    Ok(Outcome::Applied(Won::new(pool.clone(), transaction, next, course)))
                }
                // Nothing of it was ever sent to be committed.
                Decided::WonBefore => Err(course.failed(Error::new(ErrorKind::CommitUnknown, ""))),
                Decided::Lost(loss) => Ok((*loss).into()),
                Decided::Refused => Ok(course.refused()),
            }
        }
    }

    /// Wins the row in a transaction of its own, runs the work in it and commits.
    ///
    /// The work is a closure such as `async move |tx, paid| { … }`. It runs only once the row is won, and **runs
    /// again** when the engine gave the transaction up (a deadlock, a serialization failure), so it does nothing
    /// that a rollback does not undo: what leaves the database goes into an
    /// [`outbox`](crate::outbox).
    ///
    /// In a spawned task or a handler the closure must own what it uses (`async move`, with clones): one that borrows
    /// makes rustc say "`Send` is not general enough". [`begin`](Attempt::begin) has no such limit.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/order.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), onward::BoxError> {
    /// # let (db, order) = example().await?;
    /// use onward::sqlx;
    ///
    /// #[derive(Debug, thiserror::Error)]
    /// #[error(transparent)]
    /// struct NoStock(#[from] sqlx::Error);
    ///
    /// let outcome = order
    ///     .pay("T-1".into())
    ///     .apply_with(&db, async move |tx, _paid| -> Result<(), NoStock> {
    ///         sqlx::query("UPDATE stock SET available = available - 1").execute(tx).await?;
    ///         Ok(())
    ///     })
    ///     .await?;
    /// assert_eq!(outcome.as_str(), "applied");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`apply`](Attempt::apply), and [`Effect`](crate::ErrorKind::Effect) with the work's own error
    /// ([`Error::effect`]), after which nothing of it was kept; [`TransactionLost`](crate::ErrorKind::TransactionLost)
    /// if the transaction had ended inside the work, and then only what ran before a COMMIT of the work's own, or
    /// before DDL on MySQL, may have been kept.
    pub async fn apply_with<B, W, E>(self, pool: &Pool<B>, mut work: W) -> Result<Outcome<P::Won>, Error>
    where
        B: Backend,
        P: PlanOn<B>,
        W: AsyncFnMut(&mut B::Connection, &P::Won) -> Result<(), E>,
        E: Into<BoxError>,
    {
        let mut course = Course::new(self);
        course.identify()?;
        loop {
            let mut transaction = match course.start(pool).await? {
                Decided::Won(transaction) => transaction,
                // With its work: both were committed together.
                Decided::WonBefore => return course.applied().map(Outcome::Applied),
                Decided::Lost(loss) => return Ok((*loss).into()),
                Decided::Refused => return Ok(course.refused()),
            };
            let next = course.next()?;
            let done = match work(&mut transaction, &next).await {
                Ok(()) => transaction.try_commit().await,
                Err(error) => Err(transaction.undo(error.into()).await),
            };
            match done {
                Ok(()) => return Ok(Outcome::Applied(course.won(next))),
                Err(fault) => {
                    if Box::pin(course.restart(pool, fault)).await? {
                        return course.applied().map(Outcome::Applied);
                    }
                }
            }
        }
    }

    /// Tries the step inside a transaction of the caller's, once; what is won becomes a handle after the caller's
    /// commit, see [`Uncommitted`].
    ///
    /// A unique violation that the step provokes does not kill the transaction.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/order.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), onward::BoxError> {
    /// # let (db, order) = example().await?;
    /// let mut tx = onward::begin(&db).await?;
    /// let paid = order.pay("T-1".into()).apply_in(&mut tx).await?.applied()?;
    /// let shipped = paid.then_in(&mut tx, |paid| paid.ship("parcel".into())).await?.applied()?;
    /// tx.commit().await?;
    /// let shipped: Order<Shipped> = shipped.committed();
    /// assert_eq!(shipped.trade_no, "T-1");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`RestartTransaction`](crate::ErrorKind::RestartTransaction) when the engine gave the transaction up: everything in it must be done
    /// again. Else as for [`apply`](Attempt::apply).
    pub fn apply_in<S>(
        self,
        tx: &mut S,
    ) -> impl Future<Output = Result<Outcome<Uncommitted<P::Won>>, Error>> + Send
    where
        S: Session,
        P: PlanOn<S::Db>,
    {
        async move {
            let mut course = Course::new(self);
            course.identify()?;
            match course.decide_in(tx).await? {
                Decided::Won(()) => course.applied().map(|won| Outcome::Applied(Uncommitted::new(won))),
                Decided::WonBefore => Err(course.failed(Error::new(ErrorKind::CommitUnknown, ""))),
                Decided::Lost(loss) => Ok((*loss).into()),
                Decided::Refused => Ok(course.refused()),
            }
        }
    }
}
