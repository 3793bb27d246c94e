//! What people look at: entries by status and by business key, given back or closed.

use crate::{
    backend::Backend,
    error::{Error, ErrorKind},
    handle::Page,
    inbox::{
        Inbox,
        entry::{Entry, Status, TABLE, message, select},
        message::Message,
    },
    note,
    query::{Done, Query, Sql, alone},
    session::Access,
};
use std::future::Future;

static BY_STATUS: Sql = Sql::read(select!("WHERE source = ? AND status = ? AND id > ? ORDER BY id LIMIT ?"));
static BY_KEY: Sql =
    Sql::read(select!("WHERE source = ? AND business_key = ? AND id > ? ORDER BY id LIMIT ?"));
static ONE: Sql = Sql::read(select!(all "WHERE source = ? AND id = ?"));
static GIVE_BACK: Sql = Sql::write(
    "UPDATE onward_inbox SET status = 'received', version = version + 1, attempts = 0, next_at = {now} \
     WHERE source = ? AND id = ? AND status = 'needs_attention'",
);
static CLOSE: Sql = Sql::write(
    "UPDATE onward_inbox SET status = 'closed', version = version + 1, done_at = {now}, note = ? \
     WHERE source = ? AND id = ? AND status = 'needs_attention'",
);

impl Inbox {
    /// One page of the entries that stand there, by their numbers; `after` is `next` of the page before.
    ///
    /// `inbox.list(&db, Status::NeedsAttention, None, 50)` is what a person has to look at.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Busy`], [`ErrorKind::Database`]. An entry that this build cannot read is an error in its place.
    pub fn list<'a, D: Access<'a>>(
        &self,
        db: D,
        status: Status,
        after: Option<i64>,
        limit: u32,
    ) -> impl Future<Output = Result<Page<Entry, i64>, Error>> + Send {
        self.page(db, &BY_STATUS, status.as_str().to_owned(), after, limit)
    }

    /// One page of the entries with this business key, likewise: all that came about an order.
    ///
    /// # Errors
    ///
    /// As for [`list`](Inbox::list).
    pub fn about<'a, D: Access<'a>>(
        &self,
        db: D,
        business_key: &str,
        after: Option<i64>,
        limit: u32,
    ) -> impl Future<Output = Result<Page<Entry, i64>, Error>> + Send {
        self.page(db, &BY_KEY, business_key.to_owned(), after, limit)
    }

    fn page<'a, D: Access<'a>>(
        &self,
        db: D,
        sql: &'static Sql,
        by: String,
        after: Option<i64>,
        limit: u32,
    ) -> impl Future<Output = Result<Page<Entry, i64>, Error>> + Send {
        let mut db = db.access();
        async move {
            let (from, most) = (after.unwrap_or(i64::MIN), i64::from(limit));
            let page = || Query::new(sql).text(&self.source).bind(&by).bind(&from).bind(&most);
            let found = alone(&mut db, TABLE, page).await.map_err(|error| error.step("list"))?;
            let last = found.rows.last().filter(|_| found.rows.len() == limit as usize);
            let next = last.map(|row| crate::query::required::<D::Db, i64>(row, 0, TABLE)).transpose()?;
            Ok(Page { rows: found.rows.iter().map(Entry::decode::<D::Db>).collect(), next })
        }
    }

    /// The entry with this number and its payload, if there is one.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unreadable`], [`ErrorKind::Busy`], [`ErrorKind::Database`].
    pub fn find<'a, D: Access<'a>>(
        &self,
        db: D,
        id: i64,
    ) -> impl Future<Output = Result<Option<(Entry, Message)>, Error>> + Send {
        let mut db = db.access();
        async move {
            let found = alone(&mut db, TABLE, || Query::new(&ONE).text(&self.source).bind(&id)).await?;
            let Some(row) = found.rows.first() else { return Ok(None) };
            Ok(Some((Entry::decode::<D::Db>(row)?, message::<D::Db>(row)?)))
        }
    }

    /// Gives an entry that needs attention back for another try, with a fresh count of attempts.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`] if there is none that needs attention under this number, [`ErrorKind::Busy`],
    /// [`ErrorKind::CommitUnknown`] if the reply was lost, [`ErrorKind::Database`].
    pub fn give_back<'a, D: Access<'a>>(
        &self,
        db: D,
        id: i64,
    ) -> impl Future<Output = Result<(), Error>> + Send {
        let mut db = db.access();
        async move {
            let given = alone(&mut db, TABLE, || Query::new(&GIVE_BACK).text(&self.source).bind(&id)).await;
            self.decided(given, id, "given_back")
        }
    }

    /// Closes an entry that needs attention, with a note on what was done about it.
    ///
    /// # Errors
    ///
    /// As for [`give_back`](Inbox::give_back).
    pub fn close<'a, D: Access<'a>>(
        &self,
        db: D,
        id: i64,
        note: &str,
    ) -> impl Future<Output = Result<(), Error>> + Send {
        let (mut db, note) = (db.access(), note::short(note));
        async move {
            let close = || Query::new(&CLOSE).text(&note).text(&self.source).bind(&id);
            self.decided(alone(&mut db, TABLE, close).await, id, "closed")
        }
    }

    fn decided<B: Backend>(
        &self,
        done: Result<Done<B>, Error>,
        id: i64,
        outcome: &'static str,
    ) -> Result<(), Error> {
        let failed = |error: Error| error.step(outcome).key(&id);
        if done.map_err(failed)?.changed == 0 {
            return Err(failed(Error::new(ErrorKind::NotFound, TABLE)));
        }
        tracing::info!(target: "onward", source = self.source, entry = id, outcome);
        Ok(())
    }
}
