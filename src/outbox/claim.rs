//! Claims on the oldest event of a key, committed before it is published.

use crate::{
    backend::Backend,
    clock,
    error::{Error, ErrorKind},
    outbox::{
        Outbox,
        delivery::Delivery,
        entry::{Entry, Status, TABLE, select},
        observe,
    },
    outcome::Answer,
    owner,
    query::{Query, SOURCE, Sql, alone, fits, required},
    session::Db,
    together::{Steps, together},
};
use std::{collections::BTreeMap, time::Instant};

static DUE: Sql =
    Sql::read(select!(oldest "WHERE e.outbox = ? AND e.next_at <= {now} ORDER BY e.next_at, e.id LIMIT 32"));
static CLAIM: Sql = Sql::write(
    "UPDATE onward_outbox SET status = 'claimed', version = version + 1, attempts = attempts + 1, owner = ?, \
     next_at = {later} WHERE id = ? AND version = ?",
);
static ABANDON: Sql = Sql::write(
    "UPDATE onward_outbox SET status = 'needs_attention', version = version + 1, owner = NULL, next_at = NULL, \
     note = 'abandoned' WHERE id = ? AND version = ?",
);
static PAYLOAD: Sql = Sql::read(select!(all "WHERE e.id = ?"));
/// Locks what others are put behind: it cannot be finished meanwhile by somebody who does not see them.
static FOLLOWED: Sql =
    Sql::write("UPDATE onward_outbox SET followers = followers + 1 WHERE id = ? AND done_at IS NULL");
/// Also what has been tried already, and had its turn before an older one was there.
static FOLLOW: Sql =
    Sql::write("UPDATE onward_outbox SET next_at = NULL, version = version + 1 WHERE id = ? AND version = ?");

impl Outbox {
    /// Claims some event that is due and the oldest of its key; longest due first, as far as others do not want the same.
    pub(crate) async fn claim<B: Backend>(&self, db: &mut Db<'_, B>) -> Result<Option<Delivery>, Error> {
        fits(&self.owner, SOURCE, "owner", TABLE)?;
        // Every round in which nothing could be claimed is one in which others have claimed, or some were put behind.
        loop {
            let due = alone(db, TABLE, || Query::new(&DUE).text(&self.name)).await?;
            let mut unreadable = None;
            let mut oldest = Vec::new();
            let mut behind = BTreeMap::<i64, Vec<(i64, i64)>>::new();
            for row in &due.rows {
                match Entry::decode::<B>(row) {
                    Ok(entry) => match required::<B, i64>(row, 10, TABLE)? {
                        first if first == entry.id => oldest.push(entry),
                        first => behind.entry(first).or_default().push((entry.id, entry.version)),
                    },
                    Err(error) => unreadable = Some(error),
                }
            }
            if oldest.is_empty() && behind.is_empty() {
                return unreadable.map_or(Ok(None), Err);
            }
            owner::shift(&mut oldest);
            for entry in oldest {
                if let Some(delivery) = self.take(db, entry).await? {
                    return Ok(Some(delivery));
                }
            }
            for (first, followers) in behind {
                together(db, TABLE, &Follow { first, followers }).await?;
            }
        }
    }

    /// One guarded write on what was just read; `None` if somebody else was faster.
    async fn take<B: Backend>(
        &self,
        db: &mut Db<'_, B>,
        mut entry: Entry,
    ) -> Result<Option<Delivery>, Error> {
        let (id, version) = (entry.id, entry.version);
        let failed = |error: Error| error.step("claim").key(&id);
        if entry.status == Status::Claimed && entry.attempts >= self.policy.attempts() {
            let abandon = || Query::new(&ABANDON).bind(&id).bind(&version);
            if alone(db, TABLE, abandon).await.map_err(failed)?.changed > 0 {
                observe::told(self, &entry, "abandoned", Answer::Escalate);
            }
            return Ok(None);
        }
        let since = Instant::now();
        let claim = || {
            let until = clock::millis(self.claim_for);
            Query::new(&CLAIM).text(&self.owner).bind(&until).bind(&id).bind(&version)
        };
        if alone(db, TABLE, claim).await.map_err(failed)?.changed == 0 {
            return Ok(None);
        }
        entry.version += 1;
        entry.attempts += 1;
        entry.status = Status::Claimed;
        let payload = alone(db, TABLE, || Query::new(&PAYLOAD).bind(&id)).await.map_err(failed)?;
        let Some(row) = payload.rows.first() else {
            return Err(failed(Error::new(ErrorKind::NotFound, TABLE)));
        };
        let event = entry.event::<B>(row).map_err(failed)?;
        observe::told(self, &entry, "claimed", Answer::Settled);
        Ok(Some(Delivery::new(entry, event, since)))
    }
}

/// Puts events behind an older one of their key, so that nobody looks at them before their turn.
struct Follow {
    first: i64,
    /// Numbers and versions.
    followers: Vec<(i64, i64)>,
}

impl<B: Backend> Steps<B> for Follow {
    async fn run(&self, connection: &mut B::Connection) -> Result<bool, sqlx::Error> {
        if Query::<B>::new(&FOLLOWED).bind(&self.first).run(connection).await?.changed == 0 {
            return Ok(false);
        }
        for (id, version) in &self.followers {
            Query::<B>::new(&FOLLOW).bind(id).bind(version).run(connection).await?;
        }
        Ok(true)
    }
}
