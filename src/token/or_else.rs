//! A second store for when the first one is away.

use super::{Draw, Found, Store, Token, TokenStore};
use crate::error::{Error, ErrorKind};
use std::time::Duration;

/// Tokens in one store, or else in another: for **forms** that should work while Redis is away.
///
/// `Tokens::new(&OrElse::new(&redis, &pool), "order-form")` issues in Redis, and in the database if that is an error. What
/// is consumed is looked for in Redis, and in the database if it is not known there, or if that is an error. A secret is
/// issued in one of them only, so that it is used once at most; one that Redis has while it is away is an error until it
/// is back.
///
/// Nothing falls through silently: whenever the second store gives the answer, and whenever the first one is an error, there is
/// a `tracing` event of level `WARN` with the target `onward` and the `outcome` `fell_through`.
///
/// **Not for money.** There, without this, a Redis that is away is an error, and no work is done. For a form the
/// [`request_id`](super::Receipt::request_id) that the work carries has the last word, as always: a Redis that comes back empty
/// sends its tokens into the database, where they are unknown as well.
///
/// Tokens in the database are forgotten by the [`purge`](super::Tokens::purge) of `Tokens::new(&pool, "order-form")`.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), onward::BoxError> {
/// # let options = || onward::sqlx::sqlite::SqlitePoolOptions::new().max_connections(1);
/// # let (redis, pool) = (options().connect("sqlite::memory:").await?, options().connect("sqlite::memory:").await?);
/// # onward::migrate(&redis).await?;
/// use onward::token::{Consumed, OrElse, Tokens};
/// onward::migrate(&pool).await?;
/// let tokens = Tokens::new(&OrElse::new(&redis, &pool), "order-form");
///
/// let before = tokens.issue("anna").await?;
/// # redis.close().await;
/// // Redis goes away: forms go on, those that it had issued excepted.
/// let token = tokens.issue("anna").await?;
/// assert!(matches!(tokens.consume("anna", token.secret()).await?, Consumed::Fresh(_)));
/// assert!(matches!(tokens.consume("anna", token.secret()).await?, Consumed::Used(_)));
/// assert!(tokens.consume("anna", before.secret()).await.is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct OrElse<A, B> {
    first: A,
    second: B,
}

impl<A: TokenStore, B: TokenStore> OrElse<A, B> {
    /// The first one, or else the second.
    pub fn new(first: &A, second: &B) -> Self {
        Self { first: first.clone(), second: second.clone() }
    }
}

impl<A: TokenStore, B: TokenStore> TokenStore for OrElse<A, B> {}

impl<A: TokenStore, B: TokenStore> Store for OrElse<A, B> {
    async fn put(&self, purpose: &str, lifetime: Duration, draw: &impl Draw) -> Result<Token, Error> {
        let error = match self.first.put(purpose, lifetime, draw).await {
            Ok(token) => return Ok(token),
            Err(error) => error,
        };
        fell_through(purpose, "issue", error.kind().as_str());
        self.second.put(purpose, lifetime, draw).await.map_err(|second| graver(error, second))
    }

    async fn take(&self, purpose: &str, hash: &str, lifetime: Duration) -> Result<Found, Error> {
        let error = match self.first.take(purpose, hash, lifetime).await {
            Ok(Found::Unknown) => {
                let found = self.second.take(purpose, hash, lifetime).await;
                if !matches!(found, Ok(Found::Unknown)) {
                    fell_through(purpose, "consume", "unknown");
                }
                return found;
            }
            Ok(found) => return Ok(found),
            Err(error) => error,
        };
        fell_through(purpose, "consume", error.kind().as_str());
        match self.second.take(purpose, hash, lifetime).await {
            // The first may well know it.
            Ok(Found::Unknown) => Err(error),
            Ok(found) => Ok(found),
            Err(second) => Err(graver(error, second)),
        }
    }
}

/// `because` is what the first store said.
fn fell_through(purpose: &str, step: &'static str, because: &'static str) {
    tracing::warn!(target: "onward", purpose, step, because, outcome = "fell_through", "token");
}

/// Of two errors the one that leaves more open.
fn graver(first: Error, second: Error) -> Error {
    if second.kind() == ErrorKind::CommitUnknown { second } else { first }
}
