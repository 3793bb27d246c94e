//! Where tokens, claims and leases are kept: each of their tests runs on every database and on Redis.

use crate::db::{Db, Fixture};
use onward::{idempotency::ClaimStore, token::TokenStore};
use sqlx::Pool;

/// A store under test.
pub trait Place: TokenStore + ClaimStore {}

impl<B: Db> Place for Pool<B> {}
#[cfg(feature = "redis")]
impl Place for onward::redis::Redis {}

/// A fresh store.
pub struct Ground<S> {
    pub store: S,
    /// Whether a token that has expired is unknown there.
    pub forgets: bool,
    /// Its database goes with the test.
    _kept: Box<dyn Send + Sync>,
}

/// In a database with the crate's tables.
pub async fn in_database<B: Db>(db: Fixture<B>) -> Ground<Pool<B>> {
    onward::migrate(&db.pool).await.unwrap();
    Ground { store: db.pool.clone(), forgets: false, _kept: Box::new(db) }
}

#[cfg(feature = "redis")]
pub async fn in_redis() -> Ground<onward::redis::Redis> {
    let store = onward::redis::Redis::connect(crate::servers::redis().admin_url()).await.unwrap();
    Ground { store: store.prefix(crate::db::fresh_name()), forgets: true, _kept: Box::new(()) }
}

/// Tokens in Redis, or else in SQLite.
#[cfg(all(feature = "redis", feature = "sqlite"))]
pub async fn in_redis_or_else() -> Ground<onward::token::OrElse<onward::redis::Redis, sqlx::SqlitePool>> {
    let (redis, sqlite) = (in_redis().await, in_database(<sqlx::Sqlite as Db>::fresh(10).await).await);
    let store = onward::token::OrElse::new(&redis.store, &sqlite.store);
    Ground { store, forgets: true, _kept: Box::new(sqlite) }
}

/// Makes a test of each function, in every store; a function takes a [`Ground`].
macro_rules! in_every_store {
    ($($test:ident),* $(,)?) => {
        #[cfg(feature = "sqlite")]
        mod sqlite { in_every_store!(@ |_| crate::stores::in_database(<sqlx::Sqlite as crate::db::Db>::fresh(10).await); $($test)*); }
        #[cfg(feature = "postgres")]
        mod postgres { in_every_store!(@ |_| crate::stores::in_database(<sqlx::Postgres as crate::db::Db>::fresh(10).await); $($test)*); }
        #[cfg(feature = "mysql")]
        mod mariadb { in_every_store!(@ |_| crate::stores::in_database(<sqlx::MySql as crate::db::Db>::fresh(10).await); $($test)*); }
        #[cfg(feature = "mysql")]
        mod galera { in_every_store!(@ |test| crate::stores::in_database(crate::galera::fixture(test, 10).await); $($test)*); }
        #[cfg(feature = "redis")]
        mod redis { in_every_store!(@ |_| crate::stores::in_redis(); $($test)*); }
    };
    (@ |$name:pat_param| $fresh:expr; $($test:ident)*) => { $(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $test() {
            let $name = stringify!($test);
            super::$test($fresh.await).await;
        }
    )* };
}
