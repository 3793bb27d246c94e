//! Claims: committed before the work begins, so that they survive its rollback.

use crate::{
    backend::Backend,
    clock,
    error::{Error, ErrorKind},
    inbox::{
        Inbox,
        entry::{Entry, Status, TABLE, message, select},
        message::Message,
        observe,
    },
    outcome::Answer,
    owner,
    policy::Policy,
    query::{Query, SOURCE, Sql, alone, fits},
    session::{Db, Own},
};
use std::{
    fmt,
    future::Future,
    ops::Deref,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

static DUE: Sql = Sql::read(select!("WHERE source = ? AND next_at <= {now} ORDER BY next_at, id LIMIT 32"));
static THIS: Sql = Sql::read(select!("WHERE source = ? AND id = ? AND next_at <= {now}"));
static CLAIM: Sql = Sql::write(
    "UPDATE onward_inbox SET status = 'claimed', version = version + 1, attempts = attempts + 1, owner = ?, \
     next_at = {later} WHERE id = ? AND version = ?",
);
static ABANDON: Sql = Sql::write(
    "UPDATE onward_inbox SET status = 'needs_attention', version = version + 1, owner = NULL, next_at = NULL, \
     outcome = 'abandoned' WHERE id = ? AND version = ?",
);
static PAYLOAD: Sql = Sql::read(select!(all "WHERE id = ?"));

/// The right to work on an entry for a while. It derefs to the [`Entry`].
///
/// It is known by the version that it made: once somebody else has taken the entry over, it can mark nothing any more.
/// A clone is the same claim, for a closure that owns what it uses.
#[derive(Clone)]
#[must_use = "the entry stays claimed until it is marked, or until the claim runs out"]
pub struct Claim(Arc<Held>);

struct Held {
    entry: Entry,
    message: Message,
    policy: Policy,
    /// It was marked in a transaction that may have been committed since.
    marked: AtomicBool,
}

impl Claim {
    /// The payload.
    pub fn message(&self) -> &Message {
        &self.0.message
    }

    pub(crate) fn policy(&self) -> Policy {
        self.0.policy
    }

    pub(crate) fn is_marked(&self) -> bool {
        self.0.marked.load(Relaxed)
    }

    pub(crate) fn mark_set(&self) {
        self.0.marked.store(true, Relaxed);
    }
}

impl Deref for Claim {
    type Target = Entry;

    fn deref(&self) -> &Entry {
        &self.0.entry
    }
}

impl fmt::Debug for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Claim").field(&self.0.entry).finish()
    }
}

impl Inbox {
    /// Claims this entry, if it is due: received, failed and due again, or claimed by somebody whose time ran out.
    ///
    /// For work within the request that brought the message. `None`: it is done, somebody else works on it, or its time
    /// has not come; [`Stored::answer`](crate::inbox::Stored::answer) says what to answer.
    ///
    /// The claim counts as an attempt and is committed before this returns. An entry whose last attempt ended without a
    /// word, because its process died, goes to a person instead ([`Status::NeedsAttention`], `abandoned`).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InTransaction`] for a connection that is inside one, since a rollback would undo the claim;
    /// [`ErrorKind::TooLong`] for an owner of more than 64 bytes; [`ErrorKind::Busy`]; [`ErrorKind::Database`];
    /// [`ErrorKind::CommitUnknown`] if the reply was lost: then it may be claimed, and runs out by itself.
    pub fn claim<'a, D: Own<'a>>(
        &self,
        db: D,
        id: i64,
    ) -> impl Future<Output = Result<Option<Claim>, Error>> + Send {
        let mut db = db.access();
        async move {
            self.outside(&mut db).await?;
            let due = alone(&mut db, TABLE, || Query::new(&THIS).text(&self.source).bind(&id)).await?;
            match due.rows.first() {
                Some(row) => self.take(&mut db, Entry::decode::<D::Db>(row)?).await,
                None => Ok(None),
            }
        }
    }

    /// Claims some entry that is due, if there is one; longest due first, as far as others do not want the same.
    ///
    /// # Errors
    ///
    /// As for [`claim`](Inbox::claim).
    pub fn claim_next<'a, D: Own<'a>>(
        &self,
        db: D,
    ) -> impl Future<Output = Result<Option<Claim>, Error>> + Send {
        let mut db = db.access();
        async move {
            self.outside(&mut db).await?;
            // Every round in which nothing could be claimed is one in which others have claimed.
            loop {
                let due = alone(&mut db, TABLE, || Query::new(&DUE).text(&self.source)).await?;
                let mut unreadable = None;
                let mut entries = Vec::with_capacity(due.rows.len());
                for row in &due.rows {
                    match Entry::decode::<D::Db>(row) {
                        Ok(entry) => entries.push(entry),
                        Err(error) => unreadable = Some(error),
                    }
                }
                if entries.is_empty() {
                    return unreadable.map_or(Ok(None), Err);
                }
                owner::shift(&mut entries);
                for entry in entries {
                    if let Some(claim) = self.take(&mut db, entry).await? {
                        return Ok(Some(claim));
                    }
                }
            }
        }
    }

    /// One guarded write on what was just read; `None` if somebody else was faster.
    async fn take<B: Backend>(&self, db: &mut Db<'_, B>, mut entry: Entry) -> Result<Option<Claim>, Error> {
        let (id, version) = (entry.id, entry.version);
        let failed = |error: Error| error.step("claim").key(&id);
        if entry.status == Status::Claimed && entry.attempts >= self.policy.attempts() {
            let abandon = || Query::new(&ABANDON).bind(&id).bind(&version);
            if alone(db, TABLE, abandon).await.map_err(failed)?.changed > 0 {
                observe::told(&entry, "abandoned", Answer::Escalate);
            }
            return Ok(None);
        }
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
        let message = message::<B>(row).map_err(failed)?;
        observe::told(&entry, "claimed", Answer::Settled);
        Ok(Some(Claim(Arc::new(Held {
            entry,
            message,
            policy: self.policy,
            marked: AtomicBool::new(false),
        }))))
    }

    async fn outside<B: Backend>(&self, db: &mut Db<'_, B>) -> Result<(), Error> {
        fits(&self.owner, SOURCE, "owner", TABLE)?;
        db.outside(TABLE).await
    }
}
