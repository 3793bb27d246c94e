//! What the tests need of a database beyond the crate: a fresh one for each test, raw SQL, and some column types.

use onward::Backend;
use sqlx::{Pool, Row as _};
use std::{
    future::Future,
    pin::Pin,
    sync::atomic::{AtomicU32, Ordering},
};

/// A database under test.
pub trait Db: Backend {
    const ENGINE: &'static str;
    /// A column type for a point in time.
    const TIMESTAMP: &'static str;
    /// A column type for a `Uuid`.
    const UUID: &'static str;

    /// An empty database with a pool of at most this many connections.
    fn fresh(connections: u32) -> impl Future<Output = Fixture<Self>> + Send;
    /// Several statements without arguments.
    fn run(c: &mut Self::Connection, sql: &str) -> impl Future<Output = Result<u64, sqlx::Error>> + Send;
    /// The first column of every row.
    fn numbers(
        c: &mut Self::Connection,
        sql: &str,
    ) -> impl Future<Output = Result<Vec<i64>, sqlx::Error>> + Send;
    /// Likewise, as text.
    fn texts(
        c: &mut Self::Connection,
        sql: &str,
    ) -> impl Future<Output = Result<Vec<String>, sqlx::Error>> + Send;
}

/// A fresh database.
pub struct Fixture<B: Db> {
    pub pool: Pool<B>,
    pub url: String,
    /// The URL of each node; of one, where there is no cluster.
    pub nodes: Vec<String>,
    again: Again<B>,
    /// A SQLite file's folder, or what stands before a cluster; it goes with the test.
    _kept: Option<Box<dyn Send + Sync>>,
}

type Again<B> = fn(u32) -> Pin<Box<dyn Future<Output = Fixture<B>> + Send>>;

impl<B: Db> Fixture<B> {
    pub fn over(
        pool: Pool<B>,
        url: String,
        nodes: Vec<String>,
        again: Again<B>,
        kept: Option<impl Send + Sync + 'static>,
    ) -> Self {
        let kept = kept.map(|kept| Box::new(kept) as Box<dyn Send + Sync>);
        Fixture { pool, url, nodes, again, _kept: kept }
    }

    fn alone(pool: Pool<B>, url: String, folder: Option<tempfile::TempDir>) -> Self {
        Fixture::over(pool, url.clone(), vec![url], |connections| Box::pin(B::fresh(connections)), folder)
    }

    /// Another fresh one of the same kind.
    pub async fn another(&self, connections: u32) -> Self {
        (self.again)(connections).await
    }

    /// Runs SQL that must succeed.
    pub async fn run(&self, sql: &str) -> u64 {
        let mut c = self.pool.acquire().await.unwrap();
        B::run(&mut c, &types::<B>(sql)).await.unwrap_or_else(|e| panic!("{sql}: {e}"))
    }

    pub async fn number(&self, sql: &str) -> i64 {
        let mut c = self.pool.acquire().await.unwrap();
        B::numbers(&mut c, sql).await.unwrap_or_else(|e| panic!("{sql}: {e}"))[0]
    }

    pub async fn text(&self, sql: &str) -> String {
        let mut c = self.pool.acquire().await.unwrap();
        B::texts(&mut c, sql).await.unwrap_or_else(|e| panic!("{sql}: {e}"))[0].clone()
    }

    /// `state:version` of an order.
    pub async fn state(&self, id: i64) -> String {
        let mut c = self.pool.acquire().await.unwrap();
        let state = B::texts(&mut c, &format!("SELECT state FROM orders WHERE id = {id}")).await.unwrap();
        let version = B::numbers(
            &mut c,
            &format!("SELECT CAST(lock_version AS {}) FROM orders WHERE id = {id}", bigint::<B>()),
        )
        .await
        .unwrap();
        format!("{}:{}", state[0], version[0])
    }
}

fn bigint<B: Db>() -> &'static str {
    if B::ENGINE == "mariadb" { "SIGNED" } else { "BIGINT" }
}

/// DDL is written once, with `{timestamp}` and `{uuid}` for what differs.
pub fn types<B: Db>(sql: &str) -> String {
    sql.replace("{timestamp}", B::TIMESTAMP).replace("{uuid}", B::UUID)
}

pub fn fresh_name() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("onward_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

macro_rules! raw {
    () => {
        async fn run(c: &mut Self::Connection, sql: &str) -> Result<u64, sqlx::Error> {
            let done = sqlx::raw_sql(sqlx::AssertSqlSafe(sql.to_owned())).execute(c).await?;
            Ok(done.rows_affected())
        }

        async fn numbers(c: &mut Self::Connection, sql: &str) -> Result<Vec<i64>, sqlx::Error> {
            let rows = sqlx::query(sqlx::AssertSqlSafe(sql.to_owned())).fetch_all(c).await?;
            rows.iter().map(|row| row.try_get(0)).collect()
        }

        async fn texts(c: &mut Self::Connection, sql: &str) -> Result<Vec<String>, sqlx::Error> {
            let rows = sqlx::query(sqlx::AssertSqlSafe(sql.to_owned())).fetch_all(c).await?;
            rows.iter().map(|row| row.try_get_unchecked(0)).collect()
        }
    };
}

#[cfg(feature = "sqlite")]
impl Db for sqlx::Sqlite {
    const ENGINE: &'static str = "sqlite";
    const TIMESTAMP: &'static str = "TEXT";
    const UUID: &'static str = "BLOB";

    async fn fresh(connections: u32) -> Fixture<Self> {
        use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(format!("{}.db", fresh_name()));
        let options = SqliteConnectOptions::new()
            .filename(&file)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Normal)
            .busy_timeout(std::time::Duration::from_secs(20));
        let pool = SqlitePoolOptions::new().max_connections(connections).connect_with(options).await.unwrap();
        Fixture::alone(pool, format!("sqlite:{}", file.display()), Some(folder))
    }

    raw!();
}

#[cfg(feature = "postgres")]
impl Db for sqlx::Postgres {
    const ENGINE: &'static str = "postgres";
    const TIMESTAMP: &'static str = "TIMESTAMPTZ";
    const UUID: &'static str = "UUID";

    async fn fresh(connections: u32) -> Fixture<Self> {
        server_fixture(crate::servers::postgres(), connections).await
    }

    raw!();
}

#[cfg(feature = "mysql")]
impl Db for sqlx::MySql {
    const ENGINE: &'static str = "mariadb";
    const TIMESTAMP: &'static str = "DATETIME(6)";
    const UUID: &'static str = "BINARY(16)";

    async fn fresh(connections: u32) -> Fixture<Self> {
        server_fixture(crate::servers::mysql(), connections).await
    }

    raw!();
}

#[cfg(any(feature = "postgres", feature = "mysql"))]
async fn server_fixture<B: Db>(server: &crate::servers::Shared, connections: u32) -> Fixture<B> {
    let name = fresh_name();
    let mut admin = <B::Connection as sqlx::Connection>::connect(server.admin_url()).await.unwrap();
    B::run(&mut admin, &format!("CREATE DATABASE {name}")).await.unwrap();
    sqlx::Connection::close(admin).await.unwrap();
    let url = server.url(&name);
    let pool = sqlx::pool::PoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(std::time::Duration::from_secs(60))
        .connect(&url)
        .await
        .unwrap();
    Fixture::alone(pool, url, None)
}

/// Makes a test of each function, on every database; a function takes a [`Fixture`].
macro_rules! on_every_database {
    ($($test:ident),* $(,)?) => {
        #[cfg(feature = "sqlite")]
        mod sqlite { on_every_database!(@ |_| <sqlx::Sqlite as crate::db::Db>::fresh(10); $($test)*); }
        #[cfg(feature = "postgres")]
        mod postgres { on_every_database!(@ |_| <sqlx::Postgres as crate::db::Db>::fresh(10); $($test)*); }
        #[cfg(feature = "mysql")]
        mod mariadb { on_every_database!(@ |_| <sqlx::MySql as crate::db::Db>::fresh(10); $($test)*); }
        #[cfg(feature = "mysql")]
        mod galera { on_every_database!(@ |test| crate::galera::fixture(test, 10); $($test)*); }
    };
    (@ |$name:pat_param| $fresh:expr; $($test:ident)*) => { $(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $test() {
            let $name = stringify!($test);
            super::$test($fresh.await).await;
        }
    )* };
}
