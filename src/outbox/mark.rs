//! What became of an event, marked under its claim alone; the next one of its key then has its turn.

use crate::{
    backend::Backend,
    clock,
    error::Error,
    outbox::{
        Outbox,
        entry::{Entry, Status, TABLE},
    },
    query::{Query, Sql, alone, required},
    session::Db,
    together::{Steps, together},
};
use std::time::Duration;

static SENT: Sql = Sql::write(
    "UPDATE onward_outbox SET status = 'sent', version = version + 1, owner = NULL, next_at = NULL, done_at = {now}, \
     note = ? WHERE outbox = ? AND id = ? AND version = ?",
);
static CLOSED: Sql = Sql::write(
    "UPDATE onward_outbox SET status = 'closed', version = version + 1, done_at = {now}, note = ? \
     WHERE outbox = ? AND id = ? AND version = ? AND status = 'needs_attention'",
);
static ATTENTION: Sql = Sql::write(
    "UPDATE onward_outbox SET status = 'needs_attention', version = version + 1, owner = NULL, next_at = NULL, \
     note = ? WHERE id = ? AND version = ?",
);
static AGAIN: Sql = Sql::write(
    "UPDATE onward_outbox SET status = 'failed', version = version + 1, owner = NULL, next_at = {later}, note = ? \
     WHERE id = ? AND version = ?",
);
static NEXT: Sql = Sql::read(
    "SELECT o.id FROM onward_outbox o WHERE o.outbox = ? AND o.event_key = ? AND o.done_at IS NULL \
     ORDER BY {behind:o.id} LIMIT 1",
);
static TURN: Sql = Sql::write(
    "UPDATE onward_outbox SET next_at = {now}, version = version + 1 \
     WHERE id = ? AND status IN ('pending', 'failed', 'claimed') AND next_at IS NULL",
);

impl Outbox {
    /// Finishes an event, as sent or as closed; says whether it stood as it was known.
    pub(crate) async fn finish<B: Backend>(
        &self,
        db: &mut Db<'_, B>,
        entry: &Entry,
        status: Status,
        note: Option<&str>,
    ) -> Result<bool, Error> {
        let sql = if status == Status::Sent { &SENT } else { &CLOSED };
        let finish = Finish { outbox: &self.name, entry, sql, note };
        together(db, TABLE, &finish).await.map_err(|error| error.step(status.as_str()).key(&entry.id))
    }

    /// Tries again after a while, or hands it to a person; likewise.
    pub(crate) async fn fail<B: Backend>(
        &self,
        db: &mut Db<'_, B>,
        entry: &Entry,
        delay: Option<Duration>,
        note: &str,
    ) -> Result<bool, Error> {
        let fail = || {
            let query = match delay {
                Some(delay) => Query::new(&AGAIN).bind(&clock::millis(delay)),
                None => Query::new(&ATTENTION),
            };
            query.text(note).bind(&entry.id).bind(&entry.version)
        };
        let failed = alone(db, TABLE, fail).await;
        failed.map(|done| done.changed > 0).map_err(|error| error.step("failed").key(&entry.id))
    }
}

struct Finish<'a> {
    outbox: &'a str,
    entry: &'a Entry,
    sql: &'static Sql,
    note: Option<&'a str>,
}

impl<B: Backend> Steps<B> for Finish<'_> {
    async fn run(&self, connection: &mut B::Connection) -> Result<bool, sqlx::Error> {
        let Entry { id, version, key, .. } = self.entry;
        let done = Query::<B>::new(self.sql).option(self.note).text(self.outbox).bind(id).bind(version);
        if done.run(connection).await?.changed == 0 {
            return Ok(false);
        }
        // A statement of its own: whoever put another one behind this one had its lock, so it is seen now. And one that
        // takes no lock: it does not wait for those who are writing events of this key.
        let next = Query::<B>::new(&NEXT).text(self.outbox).text(key).run(connection).await?;
        if let Some(row) = next.rows.first() {
            let next: i64 =
                required::<B, _>(row, 0, TABLE).map_err(|error| sqlx::Error::Decode(error.into()))?;
            Query::<B>::new(&TURN).bind(&next).run(connection).await?;
        }
        Ok(true)
    }
}
