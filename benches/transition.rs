//! What a transition costs beside the same SQL written by hand, and beside a locked read before the write.
//!
//! `cargo bench --bench transition --features postgres,mysql`; with `-- --short` it ends within a minute. It starts
//! private servers of its own, with every commit on the disk. Each row is the median of the ratios of many short
//! rounds, in which the rivals take turns: above 1, the first of the two is the faster one. The pools do not test a
//! connection before they lend it, but sqlx pings each one that comes back, for every rival alike; pgbench does not.
#![allow(missing_docs)]

#[path = "transition/contest.rs"]
mod contest;
#[path = "transition/orders.rs"]
mod orders;
#[cfg(feature = "postgres")]
#[path = "transition/pgbench.rs"]
mod pgbench;
#[path = "transition/rivals.rs"]
mod rivals;

// Only a `mod` inside a folder finds the parts of `servers.rs`.
#[cfg(any(feature = "postgres", feature = "mysql"))]
#[path = "../tests/suite"]
mod suite {
    #[allow(dead_code, unreachable_pub, clippy::panic, clippy::pedantic)]
    pub mod servers;
}

use contest::Length;
use onward::BoxError;

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let arguments: Vec<String> = std::env::args().collect();
    let given = |argument: &str| arguments.iter().any(|it| it == argument);
    if !given("--bench") {
        println!("# run it by `cargo bench --bench transition --features postgres,mysql [-- --short]`");
        return Ok(());
    }
    let length = if given("--short") { Length::SHORT } else { Length::FULL };
    #[cfg(feature = "sqlite")]
    sqlite(length).await?;
    #[cfg(feature = "postgres")]
    postgres(length).await?;
    #[cfg(feature = "mysql")]
    mariadb(length).await?;
    if cfg!(not(all(feature = "postgres", feature = "mysql"))) {
        println!("# not every database is in this run: `--features postgres,mysql` brings all of them");
    }
    Ok(())
}

#[cfg(feature = "sqlite")]
async fn sqlite(length: Length) -> Result<(), BoxError> {
    use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
    let folder = tempfile::tempdir()?;
    let options = SqliteConnectOptions::new()
        .filename(folder.path().join("orders.db"))
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(std::time::Duration::from_mins(1));
    contest::run::<sqlx::Sqlite>(&options, length, None).await
}

#[cfg(feature = "postgres")]
async fn postgres(length: Length) -> Result<(), BoxError> {
    let server = suite::servers::Server::postgres_with(suite::servers::Options { durable: true })?;
    let url = server.url("postgres");
    let pgbench = pgbench::Pgbench::find(&url)?;
    if pgbench.is_none() {
        println!("# `pgbench` was not found beside the server programs: its rows are left out");
    }
    contest::run::<sqlx::Postgres>(
        &url.parse()?,
        length,
        pgbench.as_ref().map(|it| it as &dyn contest::Outside),
    )
    .await
}

#[cfg(feature = "mysql")]
async fn mariadb(length: Length) -> Result<(), BoxError> {
    let server = suite::servers::Server::mariadb_with(suite::servers::Options { durable: true })?;
    contest::run::<sqlx::MySql>(&server.url("mysql").parse()?, length, None).await
}
