//! A row that is won and not committed yet, with its open transaction.

use crate::{
    backend::Backend,
    course::Course,
    error::{BoxError, Error, ErrorKind},
    fault::Fault,
    handle::Handle,
    journal::Fenced,
    plan::{Plan, PlanOn},
    session::Session,
    transaction::Transaction,
};
use sqlx::Pool;

/// A row that is won in an open transaction. Do more work in it, then [`commit`](Won::commit).
///
/// Dropping it rolls back. [`parts`](Won::parts) gives the connection and the handle-to-be side by side.
#[must_use = "rolled back when dropped: call `commit` or `rollback`"]
pub struct Won<B: Backend, P: Plan> {
    pool: Pool<B>,
    transaction: Transaction<B>,
    next: P::Won,
    course: Course<P>,
}

impl<B: Backend, P: Plan> Won<B, P> {
    pub(crate) fn new(pool: Pool<B>, transaction: Transaction<B>, next: P::Won, course: Course<P>) -> Self {
        Self { pool, transaction, next, course }
    }

    /// The connection, for more work, and the row as it will be once this is committed.
    pub fn parts(&mut self) -> (&mut B::Connection, &P::Won) {
        (&mut self.transaction, &self.next)
    }

    /// Commits; only now there is a handle.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::RestartTransaction`] if the engine gave it up: it was not applied. [`ErrorKind::TransactionLost`] if
    /// it had ended inside the work: not applied either, unless the work ended it with a COMMIT or, on MySQL, with DDL.
    /// [`ErrorKind::CommitUnknown`] if the reply was lost: read the row, or attempt the same again.
    ///
    /// Where the lifecycle has a journal, a lost reply is settled: either it took effect, and this is `Ok`, or the
    /// row's version is raised so that it never can, and this is [`ErrorKind::RestartTransaction`]. It stays unknown only if
    /// that gets no answer within 15 seconds, if the row is not there any more, or if it was to be created and is not there:
    /// then there is no version to raise.
    pub async fn commit(mut self) -> Result<P::Won, Error>
    where
        P: PlanOn<B>,
    {
        match self.transaction.try_commit().await {
            Ok(()) => Ok(self.course.won(self.next)),
            Err(Fault::Unanswered(source)) => match self.course.settle(&self.pool).await {
                Some(Fenced::Applied) => Ok(self.course.won(self.next)),
                settled => {
                    let kind = if settled.is_some() {
                        ErrorKind::RestartTransaction
                    } else {
                        ErrorKind::CommitUnknown
                    };
                    Err(self.course.failed(Error::new(kind, "").source(source)))
                }
            },
            Err(fault) => Err(self.course.failed(fault.into_error(ErrorKind::RestartTransaction, ""))),
        }
    }

    /// Rolls back because the work failed.
    pub(crate) async fn undo(self, error: BoxError) -> Fault {
        self.transaction.undo(error).await
    }

    /// Rolls back and gives back the handle that the attempt started from.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::TransactionLost`] if the work has ended the transaction by itself, by a COMMIT of its own or by
    /// DDL on MySQL, so that something was kept: read the row again.
    pub async fn rollback(self) -> Result<P::Back, Error> {
        match self.transaction.try_rollback(false).await {
            Ok(()) => self.course.plan.back(),
            Err(fault) => Err(self.course.failed(fault.into_error(ErrorKind::RestartTransaction, ""))),
        }
    }
}

impl<B: Backend, P: Plan> Handle for Won<B, P> {
    type Any = P::Any;
}

impl<B: Backend, P: Plan> Session for Won<B, P> {
    type Db = B;
    const BEGUN: bool = true;

    fn connection(&mut self) -> &mut B::Connection {
        &mut self.transaction
    }
}

impl<B: Backend, P: Plan<Won: std::fmt::Debug>> std::fmt::Debug for Won<B, P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Won").field(&self.next).finish()
    }
}
