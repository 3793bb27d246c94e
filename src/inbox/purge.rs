//! What is done goes after a while, in batches, and only after it was exported.

use crate::{
    backend::Backend,
    clock,
    error::{BoxError, Error},
    fault::Fault,
    inbox::{
        Inbox,
        entry::{Entry, TABLE, message, select},
        message::Message,
    },
    policy::restarts,
    query::{Query, Sql, alone, required},
    session::Db,
    transaction::Transaction,
};
use sqlx::Pool;
use std::future::Future;

static OLD: Sql =
    Sql::read(select!(all "WHERE source = ? AND id > ? AND done_at < {later} ORDER BY id LIMIT 100"));
static DELETE: Sql = Sql::write("DELETE FROM onward_inbox WHERE id = ? AND version = ?");

/// What a purge did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Purged {
    /// Entries that were exported and deleted.
    pub deleted: u64,
    /// Entries whose export failed: they stay, and come again next time.
    pub kept: u64,
    /// Messages that nobody could verify, deleted by age.
    pub unverified: u64,
}

impl Inbox {
    /// Deletes what has been done for longer than [`keep_for`](Inbox::keep_for) (30 days), in batches, and what could
    /// not be verified by its own age. What is open (received, claimed, failed, needs attention) stays however old it
    /// is.
    ///
    /// `export` sees each entry before it is deleted; if it fails, the entry stays. It may see an entry again, when the
    /// process ends between the two. Without an export: `inbox.purge(&db, async |_, _| Ok::<_, BoxError>(()))`.
    ///
    /// **A message that comes again after its entry has gone is new**: the lifecycle's cause still tells it for a repeat.
    ///
    /// # Errors
    ///
    /// [`Busy`](crate::ErrorKind::Busy), [`CommitUnknown`](crate::ErrorKind::CommitUnknown) if a reply was lost,
    /// [`Database`](crate::ErrorKind::Database), [`Unreadable`](crate::ErrorKind::Unreadable). What was deleted by then stays deleted.
    pub fn purge<B, X, F, E>(
        &self,
        pool: &Pool<B>,
        mut export: X,
    ) -> impl Future<Output = Result<Purged, Error>> + Send
    where
        B: Backend,
        X: FnMut(Entry, Message) -> F + Send,
        F: Future<Output = Result<(), E>> + Send,
        E: Into<BoxError>,
    {
        async move {
            let mut db = Db::Pool(pool);
            let mut purged = Purged { unverified: self.expire(&mut db).await?, ..Purged::default() };
            let (age, mut after) = (-clock::millis(self.keep_for), i64::MIN);
            loop {
                let old = || Query::new(&OLD).text(&self.source).bind(&after).bind(&age);
                let old = alone(&mut db, TABLE, old).await?;
                let Some(last) = old.rows.last() else { return Ok(purged) };
                after = required::<B, _>(last, 0, TABLE)?;
                let mut exported = Vec::new();
                for row in &old.rows {
                    let entry = Entry::decode::<B>(row)?;
                    let (id, version, message_id) = (entry.id, entry.version, entry.message_id.clone());
                    match export(entry, message::<B>(row)?).await {
                        Ok(()) => exported.push((id, version)),
                        Err(error) => {
                            purged.kept += 1;
                            drop(error);
                            tracing::warn!(target: "onward", source = self.source, message_id, outcome = "export_failed");
                        }
                    }
                }
                purged.deleted += delete(pool, &exported).await?;
            }
        }
    }
}

/// A batch in one transaction, as a whole again after engine conflicts.
async fn delete<B: Backend>(pool: &Pool<B>, entries: &[(i64, i64)]) -> Result<u64, Error> {
    if entries.is_empty() {
        return Ok(0);
    }
    let mut restarts = restarts();
    loop {
        match (try_delete(pool, entries).await, restarts.next()) {
            (Ok(deleted), _) => return Ok(deleted),
            (Err(Fault::Conflict(_)), Some(delay)) => tokio::time::sleep(delay).await,
            (Err(fault), _) => return Err(fault.into_error_of_write(TABLE).step("purge")),
        }
    }
}

async fn try_delete<B: Backend>(pool: &Pool<B>, entries: &[(i64, i64)]) -> Result<u64, Fault> {
    let mut transaction = Transaction::begin(pool).await?;
    let mut deleted = 0;
    for (id, version) in entries {
        let delete = Query::<B>::new(&DELETE).bind(id).bind(version);
        match delete.run(&mut transaction).await {
            Ok(done) => deleted += done.changed,
            Err(error) => {
                transaction.rollback().await;
                return Err(Fault::of_read::<B>(error));
            }
        }
    }
    transaction.try_commit().await?;
    Ok(deleted)
}
