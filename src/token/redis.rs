//! Tokens in Redis: a text each, empty until somebody consumes the token, and then who that was.
//!
//! One that expires is gone, so here nobody is told that it expired; one that was used is known for as long again from then on.

use super::{Found, Store, TABLE, TokenStore};
use crate::{clock, error::Error, redis::Redis};
use redis::{ErrorKind as Kind, RedisError, Script, ServerErrorKind, cmd};
use std::{sync::LazyLock, time::Duration};

/// For servers before 6.2, whose `SET` has no `GET`: what was there before.
static TAKE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local before = redis.call('GET', KEYS[1])
        if before == '' then redis.call('PSETEX', KEYS[1], ARGV[2], ARGV[1]) end
        return before",
    )
});

impl TokenStore for Redis {}

impl Store for Redis {
    async fn put(&self, purpose: &str, hash: &str, lifetime: Duration) -> Result<(), Error> {
        let mut set = cmd("SET");
        set.arg(self.key(&business(purpose), hash)).arg("").arg("PX").arg(clock::millis(lifetime).max(1));
        self.send::<String>(&set, TABLE).await.map(drop)
    }

    async fn take(&self, purpose: &str, hash: &str, by: &str, lifetime: Duration) -> Result<Found, Error> {
        let key = self.key(&business(purpose), hash);
        let known = clock::millis(lifetime).max(1).saturating_mul(2).to_string();
        let mut set = cmd("SET");
        set.arg(&key).arg(by).arg("XX").arg("GET").arg("PX").arg(&known);
        let before: Option<String> = match self.send(&set, TABLE).await {
            Err(error) if is_too_old(&error) => self.run(&TAKE, &key, &[by, &known], TABLE).await?,
            before => before?,
        };
        Ok(match before.as_deref() {
            None => Found::Unknown,
            Some("") => Found::Fresh,
            // This was sent again, after a reply that was lost.
            Some(consumer) if consumer == by => Found::Fresh,
            Some(_) => Found::Used,
        })
    }
}

/// Whether the server does not know the command, or refuses it for some other reason, which it will tell again.
fn is_too_old(error: &Error) -> bool {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<RedisError>());
    source.is_some_and(|source| source.kind() == Kind::Server(ServerErrorKind::ResponseError))
}

fn business(purpose: &str) -> String {
    ["token:", purpose].concat()
}
