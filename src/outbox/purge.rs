//! What is done goes after a while, in batches.

use crate::{
    error::Error,
    forget::forget,
    outbox::{Outbox, entry::TABLE},
    query::Sql,
    session::Own,
};
use std::future::Future;

static OLDEST: Sql = Sql::write(
    "DELETE FROM onward_outbox WHERE outbox = ? AND done_at <= (SELECT x.at FROM (SELECT done_at AS at \
     FROM onward_outbox WHERE outbox = ? AND done_at < {later} ORDER BY done_at LIMIT 1 OFFSET 999) AS x)",
);
static OLD: Sql = Sql::write("DELETE FROM onward_outbox WHERE outbox = ? AND done_at < {later}");

impl Outbox {
    /// Deletes what has been sent or closed for longer than [`keep_for`](Outbox::keep_for) (7 days), in batches, and says
    /// how many events that were. What is not done stays however old it is.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Busy`](crate::ErrorKind::Busy), [`ErrorKind::Database`](crate::ErrorKind::Database). What was deleted
    /// by then stays deleted.
    pub fn purge<'a, D: Own<'a>>(&self, db: D) -> impl Future<Output = Result<u64, Error>> + Send {
        let mut db = db.access();
        async move {
            let purged = forget(&mut db, TABLE, [&OLDEST, &OLD], &self.name, self.keep_for).await;
            purged.map_err(|error| error.step("purge"))
        }
    }
}
