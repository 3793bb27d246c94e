//! Leases in Redis: a key each, with the owner in it, which expires with the lease.

use super::{LeaseStore, Store, TABLE, sql::next_number};
use crate::{backend::Backend, error::Error, redis::Redis};
use redis::Script;
use sqlx::Pool;
use std::{sync::LazyLock, time::Duration};

static TAKE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local owner = redis.call('GET', KEYS[1])
        if owner and owner ~= ARGV[1] then return 0 end
        redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
        return 1",
    )
});

static RENEW: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
        return redis.call('PEXPIRE', KEYS[1], ARGV[2])",
    )
});

static RELEASE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
        return redis.call('DEL', KEYS[1])",
    )
});

/// Leases that are kept in Redis, with numbers from the database.
///
/// Redis says who has a lease, and may forget it; the numbers must not be forgotten, so they come from where the writes go.
/// Keys are `<prefix>:lease:<name>`.
#[derive(Debug)]
pub struct InRedis<B: Backend> {
    redis: Redis,
    numbers: Pool<B>,
}

impl<B: Backend> Clone for InRedis<B> {
    fn clone(&self) -> Self {
        Self::new(&self.redis, &self.numbers)
    }
}

impl<B: Backend> InRedis<B> {
    /// In this Redis, with numbers from this database, whose tables come with [`migrate`](crate::migrate).
    pub fn new(redis: &Redis, numbers: &Pool<B>) -> Self {
        Self { redis: redis.clone(), numbers: numbers.clone() }
    }

    async fn run(&self, script: &Script, name: &str, arguments: &[&str]) -> Result<bool, Error> {
        let key = self.redis.key("lease", name);
        self.redis.run::<i64>(script, &key, arguments, TABLE).await.map(|done| done > 0)
    }
}

impl<B: Backend> LeaseStore for InRedis<B> {}

impl<B: Backend> Store for InRedis<B> {
    async fn take(&self, name: &str, owner: &str, lasting: Duration) -> Result<Option<i64>, Error> {
        if !self.run(&TAKE, name, &[owner, &millis(lasting)]).await? {
            return Ok(None);
        }
        // After Redis has decided, so that the last one there has the greatest number.
        match next_number(&self.numbers, name, owner, lasting).await {
            Ok(number) => Ok(Some(number)),
            Err(error) => {
                let _ = self.release(name, owner).await;
                Err(error)
            }
        }
    }

    async fn renew(&self, name: &str, owner: &str, lasting: Duration) -> Result<bool, Error> {
        self.run(&RENEW, name, &[owner, &millis(lasting)]).await
    }

    async fn release(&self, name: &str, owner: &str) -> Result<(), Error> {
        self.run(&RELEASE, name, &[owner]).await.map(drop)
    }
}

fn millis(lasting: Duration) -> String {
    lasting.as_millis().max(1).to_string()
}
