//! What people look at: events that could not be sent, and all of a key; given back or closed.

use crate::{
    error::{Error, ErrorKind},
    handle::Page,
    note,
    outbox::{
        Outbox,
        entry::{Entry, Status, TABLE, select},
        event::Event,
    },
    query::{Query, Sql, alone, required},
    session::{Access, Own},
};
use std::future::Future;

static ATTENTION: Sql = Sql::read(select!(
    "WHERE e.outbox = ? AND e.done_at IS NULL AND e.status = 'needs_attention' AND e.id > ? ORDER BY {behind:e.id} LIMIT ?"
));
static BY_KEY: Sql =
    Sql::read(select!("WHERE e.outbox = ? AND e.event_key = ? AND e.id > ? ORDER BY {behind:e.id} LIMIT ?"));
static ONE: Sql = Sql::read(select!(all "WHERE e.outbox = ? AND e.id = ?"));
static GIVE_BACK: Sql = Sql::write(
    "UPDATE onward_outbox SET status = 'pending', version = version + 1, attempts = 0, next_at = {now} \
     WHERE outbox = ? AND id = ? AND status = 'needs_attention'",
);

impl Outbox {
    /// One page of the events that a person has to look at, by their numbers; `after` is `next` of the page before.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Busy`], [`ErrorKind::Database`]. An entry that this build cannot read is an error in its place.
    pub fn needs_attention<'a, D: Access<'a>>(
        &self,
        db: D,
        after: Option<i64>,
        limit: u32,
    ) -> impl Future<Output = Result<Page<Entry, i64>, Error>> + Send {
        self.page(db, &ATTENTION, None, after, limit)
    }

    /// One page of the events of this key, likewise, whatever became of them.
    ///
    /// # Errors
    ///
    /// As for [`needs_attention`](Outbox::needs_attention).
    pub fn about<'a, D: Access<'a>>(
        &self,
        db: D,
        key: &str,
        after: Option<i64>,
        limit: u32,
    ) -> impl Future<Output = Result<Page<Entry, i64>, Error>> + Send {
        self.page(db, &BY_KEY, Some(key.to_owned()), after, limit)
    }

    fn page<'a, D: Access<'a>>(
        &self,
        db: D,
        sql: &'static Sql,
        key: Option<String>,
        after: Option<i64>,
        limit: u32,
    ) -> impl Future<Output = Result<Page<Entry, i64>, Error>> + Send {
        let mut db = db.access();
        async move {
            let (from, most) = (after.unwrap_or(i64::MIN), i64::from(limit));
            let page = || {
                let query = Query::new(sql).text(&self.name);
                let query = if let Some(key) = &key { query.bind(key) } else { query };
                query.bind(&from).bind(&most)
            };
            let found = alone(&mut db, TABLE, page).await.map_err(|error| error.step("list"))?;
            let last = found.rows.last().filter(|_| found.rows.len() == limit as usize);
            let next = last.map(|row| required::<D::Db, i64>(row, 0, TABLE)).transpose()?;
            Ok(Page { rows: found.rows.iter().map(Entry::decode::<D::Db>).collect(), next })
        }
    }

    /// The entry with this number and what it says, if there is one.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unreadable`], [`ErrorKind::Busy`], [`ErrorKind::Database`].
    pub fn find<'a, D: Access<'a>>(
        &self,
        db: D,
        id: i64,
    ) -> impl Future<Output = Result<Option<(Entry, Event)>, Error>> + Send {
        let mut db = db.access();
        async move {
            let found = alone(&mut db, TABLE, || Query::new(&ONE).text(&self.name).bind(&id)).await?;
            let Some(row) = found.rows.first() else { return Ok(None) };
            let entry = Entry::decode::<D::Db>(row)?;
            let event = entry.event::<D::Db>(row)?;
            Ok(Some((entry, event)))
        }
    }

    /// Gives an event that needs attention back for another try, with a fresh count of attempts. Later ones of its key
    /// follow once it is sent.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`] if there is none that needs attention under this number, [`ErrorKind::Busy`],
    /// [`ErrorKind::Database`].
    pub fn give_back<'a, D: Access<'a>>(
        &self,
        db: D,
        id: i64,
    ) -> impl Future<Output = Result<(), Error>> + Send {
        let mut db = db.access();
        async move {
            let given = alone(&mut db, TABLE, || Query::new(&GIVE_BACK).text(&self.name).bind(&id)).await;
            let given = given.map(|done| done.changed > 0);
            self.decided(given, id, "given_back")
        }
    }

    /// Closes an event that needs attention, with a note on why: it is **never sent**, and the next one of its key has
    /// its turn. `db` is `&pool` or `&mut connection`, and no transaction.
    ///
    /// # Errors
    ///
    /// As for [`give_back`](Outbox::give_back); [`ErrorKind::InTransaction`] for a connection that is inside one.
    pub fn close<'a, D: Own<'a>>(
        &self,
        db: D,
        id: i64,
        note: &str,
    ) -> impl Future<Output = Result<(), Error>> + Send {
        let mut db = db.access();
        async move {
            db.outside(TABLE).await?;
            let found = alone(&mut db, TABLE, || Query::new(&ONE).text(&self.name).bind(&id)).await?;
            let entry = found.rows.first().map(Entry::decode::<D::Db>).transpose()?;
            let closed = match entry {
                Some(entry) => self.finish(&mut db, &entry, Status::Closed, Some(&note::short(note))).await,
                None => Ok(false),
            };
            self.decided(closed, id, "closed")
        }
    }

    fn decided(&self, done: Result<bool, Error>, id: i64, outcome: &'static str) -> Result<(), Error> {
        let failed = |error: Error| error.step(outcome).key(&id);
        if !done.map_err(failed)? {
            return Err(failed(Error::new(ErrorKind::NotFound, TABLE)));
        }
        tracing::info!(target: "onward", outbox = self.name, entry = id, outcome);
        self.wake();
        Ok(())
    }
}
