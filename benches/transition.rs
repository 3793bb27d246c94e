//! What a transition costs beside the same SQL written by hand, and beside a locked read before the write.
//!
//! `cargo bench --bench transition --features postgres,mysql`; with `-- --short` it ends within a minute, with
//! `-- --pools` it compares settings of sqlx's pool, with `-- --journal` it has the rows of the journal alone. It starts private servers of its own, with every commit on the
//! disk; a name (`-- postgres`) runs that database alone. Each row is the median of the ratios of many short rounds, in which the rivals take turns: above 1, the first
//! of the two is the faster one. A row that cannot be had is an error.
//!
//! | rival | what |
//! |---|---|
//! | `hand`, `apply`, `locking` | each order on a connection of the pool, which tests none before it lends it |
//! | `held-hand`, `held`, `held-locking` | the same, each caller with a connection of its own |
//! | `pgbench`, `pgbench-locking` | the same two scripts in PostgreSQL's own program, which holds its connections |
//!
//! In the rows of the journal `journal` and `held-journal` are `apply` and `held` with one, `pgbench-journal` their
//! one statement, and `hand` and `held-hand` a transaction of the guarded UPDATE and the INSERT.
//!
//! sqlx's pool pings each connection that comes back, so an `apply` there takes two round trips and a `locking` five;
//! on held connections they take one and four.
#![allow(missing_docs)]

#[path = "transition/contest.rs"]
mod contest;
#[path = "transition/journal.rs"]
mod journal;
#[path = "transition/orders.rs"]
mod orders;
#[cfg(feature = "postgres")]
#[path = "transition/pgbench.rs"]
mod pgbench;
#[path = "transition/pools.rs"]
mod pools;
#[path = "transition/rivals.rs"]
mod rivals;
#[path = "transition/round.rs"]
mod round;
#[path = "transition/todo.rs"]
mod todo;
#[path = "transition/turn.rs"]
mod turn;

// Only a `mod` inside a folder finds the parts of `servers.rs`.
#[cfg(any(feature = "postgres", feature = "mysql"))]
#[path = "../tests/suite"]
mod suite {
    #[allow(dead_code, unreachable_pub, unused_imports, clippy::panic, clippy::pedantic)]
    pub mod servers;
}

use onward::BoxError;
use round::Length;

#[derive(Clone, Copy)]
struct Run {
    length: Length,
    rows: Rows,
}

#[derive(Clone, Copy, PartialEq)]
enum Rows {
    All,
    Journal,
    Pools,
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let arguments: Vec<String> = std::env::args().collect();
    let given = |argument: &str| arguments.iter().any(|it| it == argument);
    if !given("--bench") {
        println!(
            "# run it by `cargo bench --bench transition --features postgres,mysql [-- [--short] [--pools | --journal] [DATABASE]]`"
        );
        return Ok(());
    }
    let length = if given("--short") { Length::SHORT } else { Length::FULL };
    let rows = match (given("--pools"), given("--journal")) {
        (true, _) => Rows::Pools,
        (_, true) => Rows::Journal,
        _ => Rows::All,
    };
    let run = Run { length, rows };
    let all = !["sqlite", "postgres", "mariadb"].into_iter().any(given);
    #[cfg(feature = "sqlite")]
    if all || given("sqlite") {
        sqlite(run).await?;
    }
    #[cfg(feature = "postgres")]
    if all || given("postgres") {
        postgres(run).await?;
    }
    #[cfg(feature = "mysql")]
    if all || given("mariadb") {
        mariadb(run).await?;
    }
    if cfg!(not(all(feature = "postgres", feature = "mysql"))) {
        println!("# not every database is in this run: `--features postgres,mysql` brings all of them");
    }
    Ok(())
}

impl Run {
    async fn on<B: rivals::Rivals>(
        self,
        options: contest::Options<B>,
        outside: Option<[&dyn round::Outside; 2]>,
    ) -> Result<(), BoxError> {
        let [locked, journalled] = outside.map_or([None, None], |pair| pair.map(Some));
        if self.rows == Rows::Pools {
            return pools::run::<B>(&options, self.length).await;
        }
        if self.rows == Rows::All {
            contest::run::<B>(&options, self.length, locked).await?;
        }
        // A minute is short: there the journal has its rows where it has bars, unless it is asked for by name.
        if self.length.is_short() && self.rows == Rows::All && journalled.is_none() {
            return Ok(());
        }
        journal::run::<B>(&options, self.length, journalled).await
    }
}

#[cfg(feature = "sqlite")]
async fn sqlite(run: Run) -> Result<(), BoxError> {
    use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
    let folder = tempfile::tempdir()?;
    let options = SqliteConnectOptions::new()
        .filename(folder.path().join("orders.db"))
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(std::time::Duration::from_mins(1));
    run.on::<sqlx::Sqlite>(options, None).await
}

#[cfg(feature = "postgres")]
async fn postgres(run: Run) -> Result<(), BoxError> {
    let server = suite::servers::Server::postgres_with(suite::servers::Options { durable: true })?;
    let url = server.url("postgres");
    let locked = pgbench::Pgbench::find(&url, pgbench::LOCKED)?;
    let journalled = pgbench::Pgbench::find(&url, pgbench::JOURNALLED)?;
    run.on::<sqlx::Postgres>(url.parse()?, Some([&locked, &journalled])).await
}

#[cfg(feature = "mysql")]
async fn mariadb(run: Run) -> Result<(), BoxError> {
    let server = suite::servers::Server::mariadb_with(suite::servers::Options { durable: true })?;
    run.on::<sqlx::MySql>(server.url("mysql").parse()?, None).await
}
