//! What nobody could verify: kept for a while, never processed.

use crate::{
    clock,
    error::Error,
    inbox::{Inbox, message::Message},
    query::{KEY, Query, SOURCE, Sql, alone, fits, required},
    session::{Db, Own},
};
use std::future::Future;

const TABLE: &str = "onward_unverified";

static KEEP: Sql = Sql::insert_once(
    "INSERT INTO onward_unverified (source, digest, business_key, headers, body, received_at) \
     VALUES (?, ?, ?, ?, ?, {now})",
);
static COUNT: Sql = Sql::read("SELECT COUNT(*) FROM onward_unverified WHERE source = ?");
static EXPIRE: Sql = Sql::write("DELETE FROM onward_unverified WHERE source = ? AND received_at < {later}");

/// What became of a message that nobody could verify. It is never processed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unverified {
    /// It is kept for a while.
    Kept,
    /// The same bytes are kept already.
    Known,
    /// There are too many; this one was not kept.
    Full,
}

impl Inbox {
    /// Keeps a message that is **not verified**, by the digest of its bytes and for a while, so that a person can see
    /// what came. It takes no message id and is never processed.
    ///
    /// Where verifying needs the network, set the message aside first, verify it, then [`store`](Inbox::store) it.
    /// Body and headers are cut to [`unverified_bytes`](Inbox::unverified_bytes) each. Callers at the same moment may
    /// go over [`unverified_limit`](Inbox::unverified_limit) by their own number.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::TooLong`](crate::ErrorKind::TooLong) for the source, [`ErrorKind::Busy`](crate::ErrorKind::Busy),
    /// [`ErrorKind::Database`](crate::ErrorKind::Database), [`ErrorKind::CommitUnknown`](crate::ErrorKind::CommitUnknown) if
    /// the reply was lost.
    pub fn set_aside<'a, D: Own<'a>>(
        &self,
        db: D,
        message: &Message,
    ) -> impl Future<Output = Result<Unverified, Error>> + Send {
        let mut db = db.access();
        async move {
            fits(&self.source, SOURCE, "source", TABLE)?;
            if self.unverified(&mut db).await? >= self.unverified_limit {
                self.expire(&mut db).await?;
                if self.unverified(&mut db).await? >= self.unverified_limit {
                    tracing::warn!(target: "onward", source = self.source, outcome = "unverified_full");
                    return Ok(Unverified::Full);
                }
            }
            let digest = message.sha256();
            let cut = message.cut(self.unverified_bytes, KEY);
            let keep = || {
                Query::new(&KEEP)
                    .text(&self.source)
                    .bind(&digest)
                    .option(cut.business_key())
                    .bind(&cut.headers_text())
                    .bind(&cut.body().to_vec())
            };
            let kept = alone(&mut db, TABLE, keep).await.map_err(|error| error.step("set_aside"))?;
            tracing::info!(target: "onward", source = self.source, outcome = "unverified");
            Ok(if kept.changed > 0 { Unverified::Kept } else { Unverified::Known })
        }
    }

    async fn unverified<B: crate::Backend>(&self, db: &mut Db<'_, B>) -> Result<u32, Error> {
        let count = alone(db, TABLE, || Query::new(&COUNT).text(&self.source)).await?;
        let count = count.rows.first().map(|row| required::<B, i64>(row, 0, TABLE)).transpose()?;
        Ok(u32::try_from(count.unwrap_or_default()).unwrap_or(u32::MAX))
    }

    /// Deletes those that are too old.
    pub(crate) async fn expire<B: crate::Backend>(&self, db: &mut Db<'_, B>) -> Result<u64, Error> {
        let age = -clock::millis(self.unverified_for);
        let expired = alone(db, TABLE, || Query::new(&EXPIRE).text(&self.source).bind(&age)).await;
        expired.map(|done| done.changed)
    }
}
