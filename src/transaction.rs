//! Our own transactions: guarded against dropped futures, and unable to commit by halves.

use crate::{
    backend::Backend,
    boundary::{after, close, open, settled_depth},
    error::{BoxError, Error, ErrorKind},
    fault::Fault,
    session::{Guarded, Session},
};
use sqlx::Pool;
use sqlx_core::transaction::TransactionManager;
use std::ops::{Deref, DerefMut};

/// Begins a transaction on a connection of the pool that is safe to drop at any await.
///
/// sqlx's own `pool.begin()` is not: dropped midway, it can leave a pooled connection inside a transaction, and what
/// others write on that connection later is lost. On SQLite this begins `IMMEDIATE`, so that reading first and writing
/// later works.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/order.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), onward::BoxError> {
/// # let (db, order) = example().await?;
/// use onward::sqlx;
///
/// let mut tx = onward::begin(&db).await?;
/// let Some(order) = AnyOrder::lock(&mut tx, 1).await? else { return Ok(()) };
/// sqlx::query("UPDATE stock SET available = 9").execute(&mut *tx).await?;
/// let paid = order.pay("T-1".into()).apply_in(&mut tx).await?.applied()?;
/// tx.commit().await?;
/// assert_eq!(paid.committed().version(), 1);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`ErrorKind::Database`] if no connection could be had, [`ErrorKind::Busy`] if the database was locked for too long.
pub async fn begin<B: Backend>(pool: &Pool<B>) -> Result<Transaction<B>, Error> {
    let begun = Transaction::begin(pool).await;
    begun.map_err(|fault| fault.into_error(ErrorKind::Busy, ""))
}

/// A transaction that rolls back when it is dropped, and that commits as a whole or not at all.
///
/// User code can swallow an error after which the engine has rolled back everything, or run DDL that commits; what
/// follows would then be committed alone. A savepoint taken at the start proves at the end that the transaction is
/// still the same.
#[derive(Debug)]
#[must_use = "rolled back when dropped"]
pub struct Transaction<B: Backend> {
    connection: Guarded<B>,
}

impl<B: Backend> Transaction<B> {
    pub(crate) async fn begin(pool: &Pool<B>) -> Result<Self, Fault> {
        let mut connection = Guarded::acquire(pool).await.map_err(Fault::of::<B>)?;
        let fence = connection.fence();
        open::<B>(&mut connection, &fence).await.map_err(Fault::of::<B>)?;
        Ok(Self { connection })
    }

    /// Takes over a connection on which [`open`] has succeeded.
    pub(crate) fn opened(connection: Guarded<B>) -> Self {
        Self { connection }
    }

    /// Commits.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::RestartTransaction`] if the engine gave it up: nothing was committed.
    /// [`ErrorKind::TransactionLost`] if it had ended inside the work: nothing was committed but what ran before a
    /// COMMIT of the work's own, or before DDL on MySQL. [`ErrorKind::CommitUnknown`] if the reply was lost.
    pub async fn commit(self) -> Result<(), Error> {
        self.try_commit().await.map_err(|fault| match fault {
            Fault::Unanswered(source) => Error::new(ErrorKind::CommitUnknown, "").source(source),
            fault => fault.into_error(ErrorKind::RestartTransaction, ""),
        })
    }

    pub(crate) async fn try_commit(mut self) -> Result<(), Fault> {
        if settled_depth::<B>(&mut self.connection).await != 1 {
            self.rollback().await;
            let error = Error::new(ErrorKind::TransactionLost, "");
            return Err(Fault::Other(
                error.note("the work has left a transaction of its own open, or has ended this one"),
            ));
        }
        if let Err(source) = B::command(&mut self.connection, "RELEASE SAVEPOINT onward_tx").await {
            self.rollback().await;
            return Err(match Fault::of::<B>(source) {
                // Nothing was committed yet, so a lost connection means a lost transaction.
                Fault::Unanswered(source) => Fault::Lost(source.into()),
                Fault::Other(error) | Fault::Broken(error) => Fault::Other(error.into_transaction_lost()),
                fault => fault,
            });
        }
        B::lower(&self.connection.fence());
        match <B::TransactionManager as TransactionManager>::commit(&mut self.connection).await {
            Ok(()) => {
                // It is committed, whatever becomes of the connection.
                if after::<B>(&mut self.connection).await.is_ok() {
                    self.connection.release();
                }
                Ok(())
            }
            Err(error) => {
                let fault = Fault::of_commit::<B>(error);
                if !fault.is_unanswered() {
                    self.rollback().await;
                }
                Err(fault)
            }
        }
    }

    /// Rolls back, and says so if something in it had been kept already: by a COMMIT of the work's own, or by DDL.
    ///
    /// After an engine conflict the savepoint may be gone without anything having been kept.
    pub(crate) async fn try_rollback(mut self, conflict: bool) -> Result<(), Fault> {
        let asks = !B::EMBEDDED && (B::ABORTS_ON_ERROR || !conflict);
        let mut kept = Ok(());
        if asks {
            let undone = B::command(&mut self.connection, "ROLLBACK TO SAVEPOINT onward_tx").await;
            // A connection that is lost takes its transaction with it.
            if let Err(Fault::Other(error)) = undone.map_err(Fault::of::<B>) {
                kept = Err(Fault::Other(error.into_transaction_lost()));
            }
        }
        self.rollback().await;
        kept
    }

    /// Rolls back because the work failed, and says why. What was kept already matters more, and has that as its source.
    pub(crate) async fn undo(self, work: BoxError) -> Fault {
        let fault = Fault::of_work::<B>(work);
        match self.try_rollback(matches!(fault, Fault::Conflict(_))).await {
            Ok(()) => fault,
            Err(kept) => kept.because_of(fault),
        }
    }

    /// Rolls back. A connection that cannot be told any more is closed, and the database rolls back by itself.
    pub async fn rollback(mut self) {
        let fence = self.connection.fence();
        if close::<B>(&mut self.connection, &fence).await.is_ok() {
            self.connection.release();
        }
    }
}

impl<B: Backend> Deref for Transaction<B> {
    type Target = B::Connection;

    fn deref(&self) -> &B::Connection {
        &self.connection
    }
}

impl<B: Backend> DerefMut for Transaction<B> {
    fn deref_mut(&mut self) -> &mut B::Connection {
        &mut self.connection
    }
}

impl<B: Backend> Session for Transaction<B> {
    type Db = B;
    const BEGUN: bool = true;

    fn connection(&mut self) -> &mut B::Connection {
        &mut self.connection
    }
}
