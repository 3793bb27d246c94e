//! Tokens in Redis: a text each, which lives twice as long as the token, so that it can be told as expired. It says how
//! long the token holds, and then by whom it was consumed.

use super::{Draw, Found, Store, TABLE, Token, TokenStore};
use crate::{
    clock,
    error::{Error, ErrorKind},
    redis::Redis,
};
use redis::{Script, cmd};
use std::{sync::LazyLock, time::Duration};

static TAKE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local found = redis.call('GET', KEYS[1])
        if not found then return 'unknown' end
        local by = string.match(found, ':(.*)')
        if by then return by == ARGV[1] and 'fresh' or 'used' end
        if redis.call('PTTL', KEYS[1]) <= tonumber(found) then return 'expired' end
        redis.call('APPEND', KEYS[1], ':' .. ARGV[1])
        return 'fresh'",
    )
});

impl TokenStore for Redis {}

impl Store for Redis {
    async fn put(&self, purpose: &str, lifetime: Duration, draw: &impl Draw) -> Result<Token, Error> {
        let (token, hash) = draw()?;
        let lifetime = clock::millis(lifetime).max(1);
        let mut set = cmd("SET");
        // What is there is ours. Sent again after a lost reply, it may arrive when the token has been used.
        set.arg(self.key(&business(purpose), &hash)).arg(lifetime).arg("NX").arg("PX").arg(2 * lifetime);
        self.send::<Option<String>>(&set, TABLE).await.map(|_| token)
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
