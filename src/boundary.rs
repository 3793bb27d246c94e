//! Where a transaction of ours begins and ends on a connection.

use crate::backend::Backend;
use sqlx::SqlSafeStr as _;
use sqlx_core::transaction::TransactionManager;

/// Begins on a connection that is in no transaction.
pub(crate) async fn open<B: Backend>(
    connection: &mut B::Connection,
    fence: &B::Fence,
) -> Result<(), sqlx::Error> {
    <B::TransactionManager as TransactionManager>::begin(connection, Some(B::BEGIN.into_sql_str())).await?;
    B::raise(fence, connection).await
}

/// Rolls back and leaves the connection as it was found; after an error it must not be used any more.
pub(crate) async fn close<B: Backend>(
    connection: &mut B::Connection,
    fence: &B::Fence,
) -> Result<(), sqlx::Error> {
    roll_back::<B>(connection).await?;
    B::lower(fence);
    after::<B>(connection).await
}

async fn roll_back<B: Backend>(connection: &mut B::Connection) -> Result<(), sqlx::Error> {
    if B::EMBEDDED {
        unwind::<B>(connection).await?;
        // A COMMIT or ROLLBACK whose reply nobody took makes sqlx ignore the next rollback by drop; let it be this one.
        <B::TransactionManager as TransactionManager>::start_rollback(connection);
    } else if depth::<B>(connection) == 1 {
        <B::TransactionManager as TransactionManager>::rollback(connection).await?;
    } else {
        // The work has left a transaction of its own open, or has made sqlx end ours.
        return Err(sqlx::Error::BeginFailed);
    }
    Ok(())
}

/// A short transaction of ours around two statements, in which nobody else's work runs: it needs neither savepoint
/// nor fence. On a borrowed connection it is rolled back before the next statement if its future was dropped.
pub(crate) struct Pair<'c, B: Backend> {
    pub(crate) connection: &'c mut B::Connection,
    ended: bool,
}

impl<'c, B: Backend> Pair<'c, B> {
    pub(crate) async fn open(connection: &'c mut B::Connection) -> Result<Self, sqlx::Error> {
        let sql = Some(B::BEGIN_PAIR.into_sql_str());
        <B::TransactionManager as TransactionManager>::begin(connection, sql).await?;
        Ok(Self { connection, ended: false })
    }

    pub(crate) async fn commit(&mut self) -> Result<(), sqlx::Error> {
        <B::TransactionManager as TransactionManager>::commit(self.connection).await?;
        self.ended = true;
        Ok(())
    }

    pub(crate) async fn roll_back(mut self) -> Result<(), sqlx::Error> {
        roll_back::<B>(self.connection).await?;
        self.ended = true;
        Ok(())
    }
}

impl<B: Backend> Drop for Pair<'_, B> {
    fn drop(&mut self) {
        if !self.ended && depth::<B>(self.connection) > 0 {
            <B::TransactionManager as TransactionManager>::start_rollback(self.connection);
        }
    }
}

/// Rolls back whatever is open. SQLite may have ended it by itself, savepoints and all, while sqlx still counts them;
/// so they are set up again, empty, to be counted down.
async fn unwind<B: Backend>(connection: &mut B::Connection) -> Result<(), sqlx::Error> {
    // What is on its way, a rollback by drop among it, changes the count.
    sqlx::Connection::ping(&mut *connection).await?;
    let open = depth::<B>(connection);
    if open == 1 && <B::TransactionManager as TransactionManager>::rollback(connection).await.is_ok() {
        return Ok(());
    }
    let _ = B::command(connection, "ROLLBACK").await;
    for level in 0..open {
        match level {
            0 => B::command(connection, "BEGIN").await?,
            _ => B::savepoint(connection, level).await?,
        }
    }
    while depth::<B>(connection) > 0 {
        <B::TransactionManager as TransactionManager>::rollback(connection).await?;
    }
    Ok(())
}

/// How many transactions and savepoints sqlx counts on it.
pub(crate) fn depth<B: Backend>(connection: &B::Connection) -> usize {
    <B::TransactionManager as TransactionManager>::get_transaction_depth(connection)
}

/// The same, once nothing is on its way any more: on SQLite a dropped transaction is rolled back by a thread.
pub(crate) async fn settled_depth<B: Backend>(connection: &mut B::Connection) -> usize {
    if B::EMBEDDED && depth::<B>(connection) > 0 {
        let _ = sqlx::Connection::ping(&mut *connection).await;
    }
    depth::<B>(connection)
}

/// Sets back what the beginning has set.
pub(crate) async fn after<B: Backend>(connection: &mut B::Connection) -> Result<(), sqlx::Error> {
    match B::AFTER {
        Some(sql) => B::command(connection, sql).await,
        None => Ok(()),
    }
}
