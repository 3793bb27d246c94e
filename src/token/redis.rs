//! Tokens in Redis: a text each, empty until somebody consumes the token.
//!
//! One that expires is gone, so here nobody is told that it expired; one that was used is known for twice as long from then on.

use super::{Draw, Found, Store, TABLE, Token, TokenStore};
use crate::{clock, error::Error, redis::Redis};
use redis::{ErrorKind as Kind, RedisError, Script, cmd};
use std::{sync::LazyLock, time::Duration};

/// For servers before 6.2, whose `SET` has no `GET`: what was there before.
static TAKE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local before = redis.call('GET', KEYS[1])
        if before then redis.call('PSETEX', KEYS[1], ARGV[1], 'used') end
        return before",
    )
});

impl TokenStore for Redis {}

impl Store for Redis {
    async fn put(&self, purpose: &str, lifetime: Duration, draw: &impl Draw) -> Result<Token, Error> {
        let (token, hash) = draw()?;
        let mut set = cmd("SET");
        set.arg(key(self, purpose, &hash)).arg("");
        // What is there is ours. Sent again after a lost reply, it may arrive when the token has been used.
        set.arg("NX").arg("PX").arg(clock::millis(lifetime).max(1));
        self.send::<Option<String>>(&set, TABLE).await.map(|_| token)
    }

    async fn take(&self, purpose: &str, hash: &str, lifetime: Duration) -> Result<Found, Error> {
        let key = key(self, purpose, hash);
        let known = clock::millis(lifetime).max(1).saturating_mul(2);
        let mut set = cmd("SET");
        set.arg(&key).arg("used").arg("XX").arg("GET").arg("PX").arg(known);
        let before: Option<String> = match self.send(&set, TABLE).await {
            Err(error) if is_refused(&error) => self.run(&TAKE, &key, &[known], TABLE).await?,
            before => before?,
        };
        Ok(match before.as_deref() {
            None => Found::Unknown,
            Some("") => Found::Fresh,
            Some(_) => Found::Used,
        })
    }
}

/// Whether the server does not know the command, or refuses it for another reason, which it will tell again.
fn is_refused(error: &Error) -> bool {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<RedisError>());
    source.is_some_and(|source| matches!(source.kind(), Kind::Server(_)))
}

fn key(redis: &Redis, purpose: &str, hash: &str) -> String {
    redis.key(&["token:", purpose].concat(), hash)
}
