//! Claims in the database.

use super::{
    ClaimStore, Claims, MOMENT, Owned, Reply, Store, TABLE,
    held::{Found, Held},
};
use crate::{
    backend::Backend,
    error::{Error, ErrorKind},
    fault::Fault,
    forget::forget,
    query::{Query, Sql, alone, optional, required, settled, text},
    session::{Db, Session, is_inside},
};
use sqlx::Pool;
use std::{future::Future, time::Duration};

static CLAIM: Sql = Sql::insert_once(
    "INSERT INTO onward_claim (business, claim_key, fingerprint, owner, expires_at, kept_until) \
     VALUES (?, ?, ?, ?, {later}, {later})",
);
static LOOK: Sql = Sql::read(
    "SELECT fingerprint, owner, {micros:expires_at}, {micros:{now}}, status, answer FROM onward_claim \
     WHERE business = ? AND claim_key = ?",
);
/// Waits for a transaction in which the one that is late is just finishing.
static TAKE_OVER: Sql = Sql::write(
    "UPDATE onward_claim SET owner = ?, expires_at = {later}, kept_until = {later} \
     WHERE business = ? AND claim_key = ? AND owner = ? AND status IS NULL AND expires_at <= {now}",
);
static FINISH: Sql = Sql::write(
    "UPDATE onward_claim SET status = ?, answer = ?, kept_until = {later} \
     WHERE business = ? AND claim_key = ? AND owner = ? AND status IS NULL",
);
static RELEASE: Sql = Sql::write(
    "DELETE FROM onward_claim WHERE business = ? AND claim_key = ? AND owner = ? AND status IS NULL",
);

/// As many of the oldest as one statement should delete, and some more of the same moment.
static OLDEST: Sql = Sql::write(
    "DELETE FROM onward_claim WHERE business = ? AND kept_until <= (SELECT x.at FROM (SELECT kept_until AS at \
     FROM onward_claim WHERE business = ? AND kept_until < {later} ORDER BY kept_until LIMIT 1 OFFSET 999) AS x)",
);
static OLD: Sql = Sql::write("DELETE FROM onward_claim WHERE business = ? AND kept_until < {later}");

impl<B: Backend> ClaimStore for Pool<B> {}

impl<B: Backend> Store for Pool<B> {
    async fn claim(&self, held: &Held) -> Result<Found, Error> {
        settled(|| try_to_claim(self, held)).await
    }

    async fn finish(&self, held: &Held, reply: &Reply) -> Result<bool, Error> {
        settled(|| try_to_finish(self, held, reply)).await
    }

    async fn release(&self, held: &Held) -> Result<(), Error> {
        settled(|| try_to_release(self, held)).await
    }
}

async fn try_to_claim<B: Backend>(pool: &Pool<B>, held: &Held) -> Result<Found, Error> {
    let mut refused = None;
    // Every further round is one in which others have claimed, released or finished.
    loop {
        let claim = || {
            let query = Query::new(&CLAIM).text(&held.business).text(&held.key).bind(&held.fingerprint);
            query.text(&held.owner).bind(&held.ends()).bind(&held.known())
        };
        if alone(&mut Db::Pool(pool), TABLE, claim).await?.changed > 0 {
            return Ok(Found::Ours);
        }
        let Some(seen) = look(pool, held).await? else { continue };
        if seen.fingerprint != held.fingerprint {
            return Ok(Found::OtherPayload);
        }
        if let Some(reply) = seen.reply {
            return Ok(Found::Answered(reply));
        }
        if seen.owner == held.owner {
            return Ok(Found::Ours);
        }
        if !seen.left.is_zero() {
            return Ok(Found::InProgress { left: seen.left });
        }
        // The node that was asked to take over has another clock than the one that was asked for the time, and will have.
        if refused.as_ref() == Some(&seen.owner) {
            return Ok(Found::InProgress { left: MOMENT });
        }
        let take_over = || {
            let query = Query::new(&TAKE_OVER).text(&held.owner).bind(&held.ends()).bind(&held.known());
            query.text(&held.business).text(&held.key).text(&seen.owner)
        };
        if alone(&mut Db::Pool(pool), TABLE, take_over).await?.changed > 0 {
            return Ok(Found::Ours);
        }
        refused = Some(seen.owner);
    }
}

async fn try_to_finish<B: Backend>(pool: &Pool<B>, held: &Held, reply: &Reply) -> Result<bool, Error> {
    if alone(&mut Db::Pool(pool), TABLE, || finish(held, reply)).await?.changed > 0 {
        return Ok(true);
    }
    let seen = look(pool, held).await?;
    Ok(seen.is_some_and(|seen| seen.owner == held.owner && seen.reply.as_ref() == Some(reply)))
}

async fn try_to_release<B: Backend>(pool: &Pool<B>, held: &Held) -> Result<(), Error> {
    let release = || Query::new(&RELEASE).text(&held.business).text(&held.key).text(&held.owner);
    alone(&mut Db::Pool(pool), TABLE, release).await.map(drop)
}

fn finish<B: Backend>(held: &Held, reply: &Reply) -> Query<B> {
    let query = Query::new(&FINISH).bind(&i32::from(reply.status())).bind(&reply.body().to_vec());
    query.bind(&held.kept()).text(&held.business).text(&held.key).text(&held.owner)
}

/// A claim as it stands.
struct Seen {
    fingerprint: Vec<u8>,
    owner: String,
    /// How long it holds.
    left: Duration,
    reply: Option<Reply>,
}

async fn look<B: Backend>(pool: &Pool<B>, held: &Held) -> Result<Option<Seen>, Error> {
    let look = || Query::new(&LOOK).text(&held.business).text(&held.key);
    let found = alone(&mut Db::Pool(pool), TABLE, look).await?;
    found.rows.first().map(Seen::decode::<B>).transpose()
}

impl Seen {
    fn decode<B: Backend>(row: &B::Row) -> Result<Self, Error> {
        let left = required::<B, i64>(row, 2, TABLE)? - required::<B, i64>(row, 3, TABLE)?;
        let reply = match optional::<B, i32>(row, 4, TABLE)? {
            None => None,
            Some(status) => {
                let status = u16::try_from(status).map_err(|_| {
                    Error::new(ErrorKind::Unreadable, TABLE).note(format!("{status} is no status"))
                })?;
                Some(Reply::new(status, optional::<B, Vec<u8>>(row, 5, TABLE)?.unwrap_or_default()))
            }
        };
        Ok(Self {
            fingerprint: required::<B, _>(row, 0, TABLE)?,
            owner: text::<B>(row, 1, TABLE)?.unwrap_or_default(),
            left: Duration::from_micros(u64::try_from(left).unwrap_or_default()),
            reply,
        })
    }
}

impl<B: Backend> Owned<Pool<B>> {
    /// Stores the answer in the transaction of the work: both are committed, or neither.
    ///
    /// `tx` is the connection in `apply_with`'s closure or from [`Won::parts`](crate::Won::parts), or a transaction of
    /// your own, in the database that the claim is in. Do it last, since those who come with the same key wait from here
    /// to the commit, and let its error roll everything back. After a rollback the key is in progress as before.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::ClaimLost`] if the claim was taken over, has an answer, or is not there any more: the transaction must
    /// roll back, or the work could be done twice. [`ErrorKind::NotInTransaction`] outside of a transaction.
    /// [`ErrorKind::RestartTransaction`], [`ErrorKind::Database`].
    pub fn finish_in<T: Session<Db = B>>(
        &self,
        tx: &mut T,
        reply: &Reply,
    ) -> impl Future<Output = Result<(), Error>> + Send {
        let connection = tx.connection();
        let finish = finish::<B>(&self.held, reply);
        async move {
            let failed = self.failed("finish_in");
            if !is_inside::<T>(connection).await {
                return Err(failed(Error::new(ErrorKind::NotInTransaction, TABLE)));
            }
            let done = finish.run(connection).await.map_err(Fault::of::<B>);
            let done =
                done.map_err(|fault| failed(fault.into_error(ErrorKind::RestartTransaction, TABLE)))?;
            if done.changed == 0 { Err(failed(self.lost())) } else { Ok(()) }
        }
    }
}

impl<B: Backend> Claims<Pool<B>> {
    /// Forgets what was answered longer ago than answers are kept, and what nobody has finished for as long, in batches,
    /// and says how many keys that were. Until then they are known.
    ///
    /// # Errors
    ///
    /// [`Busy`](ErrorKind::Busy), [`CommitUnknown`](ErrorKind::CommitUnknown), [`Database`](ErrorKind::Database). What was forgotten by then stays so.
    pub async fn purge(&self) -> Result<u64, Error> {
        let forgotten =
            forget(&mut Db::Pool(&self.store), TABLE, [&OLDEST, &OLD], &self.business, Duration::ZERO).await;
        forgotten.map_err(|error| error.step("purge"))
    }
}
