//! Leases in the database, and the numbers of all leases.
//!
//! A number is the database's clock in microseconds where that is greater than the one before, so that none comes again
//! even if the table was emptied or is an older copy.

use super::{LeaseStore, Store, TABLE};
#[cfg(feature = "redis")]
use crate::error::ErrorKind;
use crate::{
    backend::{Backend, Supports},
    clock,
    error::Error,
    policy::restarts,
    query::{Query, Sql, alone, required, settled, text},
    session::Db,
    together::{Steps, together},
};
use sqlx::Pool;
use std::{
    sync::atomic::{AtomicI64, Ordering::Relaxed},
    time::Duration,
};

static LOOK: Sql =
    Sql::read("SELECT fence, owner, {micros:expires_at}, {micros:{now}} FROM onward_lease WHERE name = ?");
/// Nobody's yet. A statement of its own: on MySQL many that find no row, and then insert it, would be in each other's way.
static FIRST: Sql = Sql::insert_once(
    "INSERT INTO onward_lease (name, fence, held, owner, expires_at) VALUES (?, 0, 0, NULL, {now})",
);
static TAKE: Sql = Sql::write(
    "UPDATE onward_lease SET fence = CASE WHEN fence < {micros:{now}} THEN {micros:{now}} ELSE fence + 1 END, \
     owner = ?, expires_at = {later} WHERE name = ? AND (owner IS NULL OR expires_at <= {now})",
);
/// Whoever has it: a store of another kind says who that is.
#[cfg(feature = "redis")]
static NUMBER: Sql = Sql::write(
    "UPDATE onward_lease SET fence = CASE WHEN fence < {micros:{now}} THEN {micros:{now}} ELSE fence + 1 END, \
     owner = ?, expires_at = {later} WHERE name = ?",
);
static MINE: Sql = Sql::read("SELECT fence FROM onward_lease WHERE name = ? AND owner = ?");
static RENEW: Sql = Sql::write("UPDATE onward_lease SET expires_at = {later} WHERE name = ? AND owner = ?");
static RELEASE: Sql =
    Sql::write("UPDATE onward_lease SET owner = NULL, expires_at = {now} WHERE name = ? AND owner = ?");

impl<B: Backend> LeaseStore for Pool<B> {}

impl<B: Backend> Store for Pool<B> {
    async fn take(&self, name: &str, owner: &str, lasting: Duration) -> Result<Option<i64>, Error> {
        settled(|| try_to_take(self, name, owner, lasting)).await
    }

    async fn renew(&self, name: &str, owner: &str, lasting: Duration) -> Result<bool, Error> {
        let renew = || Query::new(&RENEW).bind(&clock::millis(lasting)).text(name).text(owner);
        Ok(alone(&mut Db::Pool(self), TABLE, renew).await?.changed > 0)
    }

    async fn release(&self, name: &str, owner: &str) -> Result<(), Error> {
        alone(&mut Db::Pool(self), TABLE, || Query::new(&RELEASE).text(name).text(owner)).await.map(drop)
    }
}

async fn try_to_take<B: Backend>(
    pool: &Pool<B>,
    name: &str,
    owner: &str,
    lasting: Duration,
) -> Result<Option<i64>, Error> {
    let mut restarts = restarts();
    loop {
        match look(pool, name).await? {
            Some((number, Some(holder))) => return Ok((holder == owner).then_some(number)),
            Some((_, None)) => {}
            None => first(pool, name).await?,
        }
        if let Some(number) = Take::new(&TAKE, name, owner, lasting).run_on(pool).await? {
            return Ok(Some(number));
        }
        // Somebody was quicker: who?
        let Some(delay) = restarts.next() else { return Ok(None) };
        tokio::time::sleep(delay).await;
    }
}

/// The last number and, unless its time is over, whose it is. No lock is taken or waited for.
async fn look<B: Backend>(pool: &Pool<B>, name: &str) -> Result<Option<(i64, Option<String>)>, Error> {
    let found = alone(&mut Db::Pool(pool), TABLE, || Query::new(&LOOK).text(name)).await?;
    let Some(row) = found.rows.first() else { return Ok(None) };
    let number = |column| required::<B, i64>(row, column, TABLE);
    let holder = text::<B>(row, 1, TABLE)?;
    let (until, now) = (number(2)?, number(3)?);
    Ok(Some((number(0)?, holder.filter(|_| until > now))))
}

async fn first<B: Backend>(pool: &Pool<B>, name: &str) -> Result<(), Error> {
    alone(&mut Db::Pool(pool), TABLE, || Query::new(&FIRST).text(name)).await.map(drop)
}

/// The next number of a lease that its store has given to this owner. It waits for transactions that hold the lease.
#[cfg(feature = "redis")]
pub(super) async fn next_number<B: Backend>(
    pool: &Pool<B>,
    name: &str,
    owner: &str,
    lasting: Duration,
) -> Result<i64, Error> {
    let mut restarts = restarts();
    loop {
        let error = match Take::new(&NUMBER, name, owner, lasting).run_on(pool).await {
            Ok(Some(number)) => return Ok(number),
            Ok(None) => {
                first(pool, name).await?;
                Error::new(ErrorKind::Busy, TABLE)
            }
            // A number that was given in vain does no harm.
            Err(error) if error.kind() == ErrorKind::CommitUnknown => error,
            Err(error) => return Err(error),
        };
        match restarts.next() {
            Some(delay) => tokio::time::sleep(delay).await,
            None => return Err(error),
        }
    }
}

/// Takes it and reads the number, in a transaction: on a cluster another node might not know it yet.
struct Take<'a> {
    sql: &'static Sql,
    name: &'a str,
    owner: &'a str,
    lasting: i64,
    number: AtomicI64,
}

impl<'a> Take<'a> {
    fn new(sql: &'static Sql, name: &'a str, owner: &'a str, lasting: Duration) -> Self {
        Self { sql, name, owner, lasting: clock::millis(lasting), number: AtomicI64::new(0) }
    }

    async fn run_on<B: Backend>(self, pool: &Pool<B>) -> Result<Option<i64>, Error> {
        let taken = together(&mut Db::Pool(pool), TABLE, &self).await?;
        Ok(taken.then(|| self.number.into_inner()))
    }
}

impl<B: Backend> Steps<B> for Take<'_> {
    async fn run(&self, connection: &mut B::Connection) -> Result<bool, sqlx::Error> {
        let take = Query::<B>::new(self.sql).text(self.owner).bind(&self.lasting).text(self.name);
        if take.run(connection).await?.changed == 0 {
            return Ok(false);
        }
        let mine = Query::<B>::new(&MINE).text(self.name).text(self.owner).run(connection).await?;
        let Some(row) = mine.rows.first() else { return Ok(false) };
        self.number.store(<B as Supports<i64>>::get(row, 0)?.unwrap_or_default(), Relaxed);
        Ok(true)
    }
}
