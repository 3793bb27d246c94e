//! Tokens in Redis: a hash each, which lives twice as long as the token, so that it can be told as expired.

use super::{Found, Store, TABLE, TokenStore};
use crate::{
    error::{Error, ErrorKind},
    redis::Redis,
};
use redis::Script;
use std::{sync::LazyLock, time::Duration};

static PUT: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local now = redis.call('TIME')
        redis.call('HSET', KEYS[1], 'expires', now[1] * 1000 + math.floor(now[2] / 1000) + ARGV[1])
        return redis.call('PEXPIRE', KEYS[1], ARGV[1] * 2)",
    )
});

static TAKE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local found = redis.call('HMGET', KEYS[1], 'expires', 'by')
        if not found[1] then return 'unknown' end
        if found[2] then return found[2] == ARGV[1] and 'fresh' or 'used' end
        local now = redis.call('TIME')
        if now[1] * 1000 + now[2] / 1000 >= tonumber(found[1]) then return 'expired' end
        redis.call('HSET', KEYS[1], 'by', ARGV[1])
        return 'fresh'",
    )
});

impl TokenStore for Redis {}

impl Store for Redis {
    async fn put(&self, purpose: &str, hash: &str, lifetime: Duration) -> Result<(), Error> {
        let lifetime = lifetime.as_millis().clamp(1, i64::MAX as u128 / 4).to_string();
        let key = self.key(&business(purpose), hash);
        self.run::<i64>(&PUT, &key, &[&lifetime], TABLE).await.map(drop)
    }

    async fn take(&self, purpose: &str, hash: &str, by: &str) -> Result<Found, Error> {
        let found: String = self.run(&TAKE, &self.key(&business(purpose), hash), &[by], TABLE).await?;
        match found.as_str() {
            "fresh" => Ok(Found::Fresh),
            "used" => Ok(Found::Used),
            "expired" => Ok(Found::Expired),
            "unknown" => Ok(Found::Unknown),
            other => Err(Error::new(ErrorKind::Unreadable, TABLE).note(other.to_owned())),
        }
    }
}

fn business(purpose: &str) -> String {
    format!("token:{purpose}")
}
