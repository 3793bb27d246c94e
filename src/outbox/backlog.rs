//! How far the relays are behind, by one query.

use crate::{
    backend::{Backend, Supports},
    clock,
    error::Error,
    outbox::{Outbox, entry::TABLE},
    query::{Query, Sql, alone, required},
    session::Access,
};
use std::{future::Future, time::Duration};

static BACKLOG: Sql = Sql::read(
    "SELECT COUNT(*), COUNT(CASE WHEN status = 'needs_attention' THEN 1 END), {micros:MIN(written_at)}, \
     {micros:MIN(CASE WHEN next_at <= {now} THEN next_at END)}, {micros:{now}} \
     FROM onward_outbox WHERE outbox = ? AND done_at IS NULL",
);

/// What is not sent yet, by the database's clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Backlog {
    /// Events that are neither sent nor closed.
    pub unsent: u64,
    /// Those of them that a person has to look at.
    pub needs_attention: u64,
    /// How long ago the oldest of them was written; zero if there is none.
    pub oldest: Duration,
    /// How long the one that is due longest has been waiting for a relay; zero if the relays keep up.
    pub lag: Duration,
}

impl Outbox {
    /// How many events are not sent yet, how old the oldest is, and how far the relays are behind.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Busy`](crate::ErrorKind::Busy), [`ErrorKind::Database`](crate::ErrorKind::Database).
    pub fn backlog<'a, D: Access<'a>>(&self, db: D) -> impl Future<Output = Result<Backlog, Error>> + Send {
        let mut db = db.access();
        async move {
            let found = alone(&mut db, TABLE, || Query::new(&BACKLOG).text(&self.name)).await;
            let found = found.map_err(|error| error.step("backlog"))?;
            found.rows.first().map_or(Ok(Backlog::default()), decode::<D::Db>)
        }
    }
}

fn decode<B: Backend>(row: &B::Row) -> Result<Backlog, Error> {
    let count =
        |column| required::<B, i64>(row, column, TABLE).map(|count| u64::try_from(count).unwrap_or(0));
    let now = clock::time(required::<B, _>(row, 4, TABLE)?);
    let since = |column| {
        let time = <B as Supports<i64>>::get(row, column).ok().flatten().map(clock::time);
        time.and_then(|time| now.duration_since(time).ok()).unwrap_or_default()
    };
    Ok(Backlog { unsent: count(0)?, needs_attention: count(1)?, oldest: since(2), lag: since(3) })
}
