//! Tokens in the database.

use super::{Draw, Found, Store, TABLE, Token, TokenStore, Tokens};
use crate::{
    backend::Backend,
    clock,
    error::Error,
    forget::forget,
    journal::fresh_identity,
    query::{Query, Sql, alone, settled, text},
    session::Db,
};
use sqlx::Pool;
use std::time::Duration;

static PUT: Sql = Sql::write("INSERT INTO onward_token (hash, purpose, expires_at) VALUES (?, ?, {later})");
static TAKE: Sql = Sql::write(
    "UPDATE onward_token SET used_at = {now}, used_by = ? WHERE hash = ? AND used_at IS NULL AND expires_at > {now}",
);
static LOOK: Sql = Sql::read("SELECT used_by FROM onward_token WHERE hash = ?");

/// As many of the oldest as one statement should delete, and some more of the same moment.
static OLDEST: Sql = Sql::write(
    "DELETE FROM onward_token WHERE purpose = ? AND expires_at <= (SELECT x.at FROM (SELECT expires_at AS at \
     FROM onward_token WHERE purpose = ? AND expires_at < {later} ORDER BY expires_at LIMIT 1 OFFSET 999) AS x)",
);
static OLD: Sql = Sql::write("DELETE FROM onward_token WHERE purpose = ? AND expires_at < {later}");

impl<B: Backend> TokenStore for Pool<B> {}

impl<B: Backend> Store for Pool<B> {
    async fn put(&self, purpose: &str, lifetime: Duration, draw: &impl Draw) -> Result<Token, Error> {
        let (token, hash) = draw()?;
        let put = || Query::new(&PUT).text(&hash).text(purpose).bind(&clock::millis(lifetime));
        alone(&mut Db::Pool(self), TABLE, put).await.map(|_| token)
    }

    async fn take(&self, _: &str, hash: &str, _: Duration) -> Result<Found, Error> {
        let by = fresh_identity()?;
        settled(|| try_to_take(self, hash, &by)).await
    }
}

async fn try_to_take<B: Backend>(pool: &Pool<B>, hash: &str, by: &str) -> Result<Found, Error> {
    let taken = alone(&mut Db::Pool(pool), TABLE, || Query::new(&TAKE).text(by).text(hash)).await?;
    if taken.changed > 0 {
        return Ok(Found::Fresh);
    }
    let found = alone(&mut Db::Pool(pool), TABLE, || Query::new(&LOOK).text(hash)).await?;
    let Some(row) = found.rows.first() else { return Ok(Found::Unknown) };
    Ok(match text::<B>(row, 0, TABLE)? {
        None => Found::Expired,
        Some(user) if user == by => Found::Fresh,
        Some(_) => Found::Used,
    })
}

impl<B: Backend> Tokens<Pool<B>> {
    /// Forgets the tokens of this purpose that expired longer ago than this, in batches, and says how many that were. Until
    /// then they are known as used or expired.
    ///
    /// # Errors
    ///
    /// [`Busy`](crate::ErrorKind::Busy), [`CommitUnknown`](crate::ErrorKind::CommitUnknown), [`Database`](crate::ErrorKind::Database). What was forgotten by then stays so.
    pub async fn purge(&self, older_than: Duration) -> Result<u64, Error> {
        let mut db = Db::Pool(&self.store);
        forget(&mut db, TABLE, [&OLDEST, &OLD], &self.purpose, older_than)
            .await
            .map_err(|error| self.failed(error))
    }
}
