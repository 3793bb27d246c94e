//! What stock costs beside the same by hand: one article on which all callers wait, a transaction for each order.
//!
//! `cargo bench --bench stock --features postgres,mysql | scripts/bench-table`; with `-- --short` it ends within a
//! minute, a name (`-- postgres`) runs that database alone. By hand it is the same two statements, an entry with a
//! unique key and a guarded UPDATE, in the same transaction; each row is the median of the ratios of rounds, in which
//! the rivals take turns: above 1, the first of the two is the faster one.
#![allow(missing_docs)]

// Only a `mod` inside a folder finds the parts of `servers.rs`.
#[cfg(any(feature = "postgres", feature = "mysql"))]
#[path = "../tests/suite"]
mod suite {
    #[allow(dead_code, unreachable_pub, clippy::panic, clippy::pedantic)]
    pub mod servers;
}

use onward::{
    Backend, BoxError,
    sqlx::{self, AssertSqlSafe, Pool, pool::PoolOptions},
    stock::{Line, Operation, Stock},
};
use sqlx::Connection;
use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};
use tokio::task::JoinSet;

static STOCK: Stock = Stock::new("goods");

/// The article that everybody wants, so many of it that nobody goes without.
const GOODS: &str = "DROP TABLE IF EXISTS goods;
    CREATE TABLE goods (article VARCHAR(32) PRIMARY KEY, available BIGINT NOT NULL);
    INSERT INTO goods VALUES ('lamp', 1000000000)";

type Options<B> = <<B as sqlx::Database>::Connection as Connection>::Options;

trait Hand: Backend<Connection: Connection<Options: Clone>> {
    const ENGINE: &'static str;
    const CONNECTIONS: u32;
    fn script(pool: &Pool<Self>, sql: &'static str) -> impl Future<Output = Result<(), BoxError>> + Send;
    /// Takes one for this order.
    fn deduct(tx: &mut Self::Connection, order: &str) -> impl Future<Output = Result<(), BoxError>> + Send;
}

macro_rules! by_hand {
    (insert: $insert:literal, update: $update:literal) => {
        async fn script(pool: &Pool<Self>, sql: &'static str) -> Result<(), BoxError> {
            sqlx::raw_sql(AssertSqlSafe(sql)).execute(pool).await?;
            Ok(())
        }

        async fn deduct(tx: &mut Self::Connection, order: &str) -> Result<(), BoxError> {
            let insert = sqlx::query($insert).bind("goods").bind("shop").bind(order).bind("lamp");
            let insert = insert.bind("deduct").bind("T").bind("lamp").bind(1_i64);
            if insert.execute(&mut *tx).await?.rows_affected() == 1 {
                let update = sqlx::query($update).bind(1_i64).bind("lamp").bind(1_i64);
                if update.execute(&mut *tx).await?.rows_affected() != 1 {
                    return Err("sold out".into());
                }
            }
            Ok(())
        }
    };
}

#[cfg(feature = "sqlite")]
impl Hand for sqlx::Sqlite {
    const ENGINE: &'static str = "sqlite";
    // Several writers would sleep in turns until the file is free, and nothing else would be measured.
    const CONNECTIONS: u32 = 1;
    by_hand! {
        insert: "INSERT INTO onward_stock_ledger (stock, source, order_key, line, kind, operation, article, quantity, moved_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now')) ON CONFLICT DO NOTHING",
        update: "UPDATE goods SET available = available - ? WHERE article = ? AND available >= ?"
    }
}

#[cfg(feature = "postgres")]
impl Hand for sqlx::Postgres {
    const ENGINE: &'static str = "postgres";
    const CONNECTIONS: u32 = 16;
    by_hand! {
        insert: "INSERT INTO onward_stock_ledger (stock, source, order_key, line, kind, operation, article, quantity, moved_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, CURRENT_TIMESTAMP) ON CONFLICT DO NOTHING",
        update: "UPDATE goods SET available = available - $1 WHERE article = $2 AND available >= $3"
    }
}

#[cfg(feature = "mysql")]
impl Hand for sqlx::MySql {
    const ENGINE: &'static str = "mariadb";
    const CONNECTIONS: u32 = 16;
    by_hand! {
        insert: "INSERT INTO onward_stock_ledger (stock, source, order_key, line, kind, operation, article, quantity, moved_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, UTC_TIMESTAMP(6))",
        update: "UPDATE goods SET available = available - ? WHERE article = ? AND available >= ?"
    }
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let arguments: Vec<String> = std::env::args().collect();
    let given = |argument: &str| arguments.iter().any(|it| it == argument);
    if !given("--bench") {
        println!(
            "# run it by `cargo bench --bench stock --features postgres,mysql [-- [--short] [DATABASE]]`"
        );
        return Ok(());
    }
    let limit = Duration::from_secs(if given("--short") { 4 } else { 30 });
    let all = !["sqlite", "postgres", "mariadb"].into_iter().any(given);
    #[cfg(feature = "sqlite")]
    if all || given("sqlite") {
        use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
        let folder = tempfile::tempdir()?;
        let options = SqliteConnectOptions::new()
            .filename(folder.path().join("stock.db"))
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full);
        run::<sqlx::Sqlite>(options, limit).await?;
    }
    #[cfg(feature = "postgres")]
    if all || given("postgres") {
        let server = suite::servers::Server::postgres_with(suite::servers::Options { durable: true })?;
        run::<sqlx::Postgres>(server.url("postgres").parse()?, limit).await?;
    }
    #[cfg(feature = "mysql")]
    if all || given("mariadb") {
        let server = suite::servers::Server::mariadb_with(suite::servers::Options { durable: true })?;
        let pool = PoolOptions::<sqlx::MySql>::new().connect(&server.url("mysql")).await?;
        sqlx::raw_sql("CREATE DATABASE bench").execute(&pool).await?;
        run::<sqlx::MySql>(server.url("bench").parse()?, limit).await?;
    }
    Ok(())
}

async fn run<B: Hand>(options: Options<B>, limit: Duration) -> Result<(), BoxError> {
    for callers in [1, 16] {
        let connections = u32::try_from(callers)?.min(B::CONNECTIONS);
        let pool = PoolOptions::<B>::new()
            .max_connections(connections)
            .acquire_timeout(Duration::from_mins(1))
            .test_before_acquire(false)
            .connect_with(options.clone())
            .await?;
        B::script(&pool, GOODS).await?;
        onward::migrate(&pool).await?;
        let rivals = [Rival::Stock, Rival::Hand, Rival::Again];
        for rival in rivals {
            turn(&pool, rival, callers, 20 * callers).await?;
        }
        let (since, mut rounds) = (Instant::now(), Vec::new());
        while rounds.len() < 3 || since.elapsed() < limit {
            let mut times = [Duration::ZERO; 3];
            // Short turns, in another order each time, so that what else goes on meets all alike.
            for part in 0..6 {
                for place in 0..3 {
                    let rival = if part % 2 == 0 { (part + place) % 3 } else { (part + 3 - place) % 3 };
                    times[rival] += turn(&pool, rivals[rival], callers, 30.max(4 * callers)).await?;
                }
            }
            rounds.push(times.map(|time| time.as_secs_f64()));
        }
        row(B::ENGINE, callers, "stock/hand", rounds.iter().map(|time| time[1] / time[0]).collect());
        row(B::ENGINE, callers, "hand/hand", rounds.iter().map(|time| time[1] / time[2]).collect());
        pool.close().await;
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Rival {
    Stock,
    Hand,
    /// The same as `Hand`, which shows the noise.
    Again,
}

/// So many orders, each in a transaction of its own.
async fn turn<B: Hand>(
    pool: &Pool<B>,
    rival: Rival,
    callers: usize,
    orders: usize,
) -> Result<Duration, BoxError> {
    static NEXT: AtomicI64 = AtomicI64::new(0);
    let left = Arc::new(AtomicI64::new(i64::try_from(orders)?));
    let mut tasks = JoinSet::new();
    let since = Instant::now();
    for _ in 0..callers {
        let (pool, left) = (pool.clone(), Arc::clone(&left));
        tasks.spawn(async move {
            while left.fetch_sub(1, Relaxed) > 0 {
                let order = NEXT.fetch_add(1, Relaxed).to_string();
                let mut tx = pool.begin().await?;
                match rival {
                    Rival::Stock => {
                        let operation = Operation::new("shop", order, "T");
                        STOCK.deduct(&mut tx, &operation, &[Line::new("lamp", 1)]).await?;
                    }
                    Rival::Hand | Rival::Again => B::deduct(&mut tx, &order).await?,
                }
                tx.commit().await?;
            }
            Ok::<_, BoxError>(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    Ok(since.elapsed())
}

fn row(engine: &str, callers: usize, name: &str, mut ratios: Vec<f64>) {
    ratios.sort_by(f64::total_cmp);
    let at = |quarters: usize| ratios[(ratios.len() - 1) * quarters / 4];
    println!(
        "{engine} callers={callers} {name} ratio={:.3} quartiles={:.3}..{:.3} rounds={}",
        at(2),
        at(1),
        at(3),
        ratios.len()
    );
}
