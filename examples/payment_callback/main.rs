//! Payment callbacks, as providers really send them: repeated, out of order, late, for the wrong amount, forged.
//!
//! ```text
//! cargo run --example payment_callback [NOTIFICATIONS] [DATABASE_URL]
//! ```
//!
//! Without arguments it takes the notifications beside it and a SQLite file of its own that it removes at the end;
//! for other databases add their feature (`--features postgres,mysql`) and give the URL of an empty one. It delivers
//! the notifications with 100 concurrent workers, prints what became of them and what the journal knows of one order,
//! compares each line with what was expected of it, and adds up the tables by plain SQL. The last line is `check: ok`,
//! or it fails.

#![allow(missing_docs)]

mod check;
mod handler;
mod provider;
mod shop;

use handler::{ARTICLES, Told, on_callback, open_shop};
use onward::{BoxError, sqlx};
use provider::Keys;
use shop::Shop;
use sqlx::{Pool, pool::PoolOptions};
use std::{
    collections::VecDeque,
    env, fs,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::Mutex;

const WORKERS: usize = 100;
const AGAIN_AFTER: Duration = Duration::from_millis(5);
const GIVE_UP_AFTER: Duration = Duration::from_secs(30);
const NOTIFICATIONS: &str = include_str!("notifications.txt");
const EXPECTED: &str = include_str!("expected.txt");

/// Delivers all lines, wave by wave.
async fn deliver<D: Shop>(db: &Pool<D>, file: &str) -> Result<Vec<Told>, BoxError> {
    let keys = Arc::new(Keys::of_this_example()?);
    let (mut told, start) = (Vec::new(), Instant::now());
    for wave in provider::waves(file) {
        let lines: VecDeque<(usize, String)> =
            wave.into_iter().map(|(line, text)| (line, text.to_owned())).collect();
        let lines = Arc::new(Mutex::new(lines));
        let mut workers = Vec::new();
        for _ in 0..WORKERS {
            let (db, keys, lines) = (db.clone(), keys.clone(), lines.clone());
            workers.push(tokio::spawn(async move {
                let mut told = Vec::new();
                loop {
                    let next = lines.lock().await.pop_front();
                    let Some((line, text)) = next else { return Ok::<_, BoxError>(told) };
                    let now = on_callback(&db, &keys, line, &text).await?;
                    if now.word == "in_progress" && start.elapsed() < GIVE_UP_AFTER {
                        // It was told failure, so the provider sends it again.
                        tokio::time::sleep(AGAIN_AFTER).await;
                        lines.lock().await.push_back((line, text));
                        continue;
                    }
                    told.push(now);
                }
            }));
        }
        for worker in workers {
            told.extend(worker.await??);
        }
    }
    told.sort_by_key(|told| told.line);
    Ok(told)
}

async fn run<D: Shop>(db: &Pool<D>, file: &str, expected: Option<&str>) -> Result<(), BoxError> {
    open_shop(db).await?;
    let start = Instant::now();
    let told = deliver(db, file).await?;
    println!(
        "{} callbacks by {WORKERS} workers in {:.1} s on {}",
        told.len(),
        start.elapsed().as_secs_f64(),
        D::NAME
    );
    check::print(&told);
    check::history(db, &told).await?;
    let mut wrong = check::tables(db, ARTICLES, &told).await?;
    match expected {
        Some(expected) => wrong.extend(check::lines(&told, expected)),
        None => println!(
            "nothing is known about what should become of these lines; the tables were added up all the same"
        ),
    }
    for mistake in &wrong {
        println!("wrong: {mistake}");
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(format!("{} things are not as they should be", wrong.len()).into())
    }
}

/// The arguments: a file of notifications, a database URL, in any order.
fn arguments() -> Result<(Option<String>, Option<String>), BoxError> {
    let (mut file, mut url) = (None, None);
    for argument in env::args().skip(1) {
        let place =
            if argument.contains("://") || argument.starts_with("sqlite:") { &mut url } else { &mut file };
        if let Some(first) = place.replace(argument) {
            return Err(format!(
                "`{first}` is one too many; usage: payment_callback [NOTIFICATIONS] [DATABASE_URL]"
            )
            .into());
        }
    }
    Ok((file, url))
}

async fn connect<D: Shop>(url: &str) -> Result<Pool<D>, BoxError> {
    let pool = PoolOptions::new().max_connections(10).connect(url).await;
    pool.map_err(|error| format!("cannot connect to `{url}`: {error}").into())
}

async fn start() -> Result<(), BoxError> {
    let (file, url) = arguments()?;
    let (file, expected) = match file {
        None => (NOTIFICATIONS.to_owned(), Some(EXPECTED)),
        Some(name) => {
            let text = fs::read_to_string(&name).map_err(|error| format!("cannot read `{name}`: {error}"))?;
            (text, None)
        }
    };
    match url.as_deref() {
        #[cfg(feature = "sqlite")]
        None => {
            let folder = tempfile::tempdir()?;
            let options = sqlx::sqlite::SqliteConnectOptions::new()
                .filename(folder.path().join("shop.db"))
                .create_if_missing(true)
                .journal_mode(sqlx::sqlite::SqliteJournalMode::Wal)
                .busy_timeout(Duration::from_secs(30));
            let db: Pool<sqlx::Sqlite> = PoolOptions::new().max_connections(10).connect_with(options).await?;
            run(&db, &file, expected).await
        }
        #[cfg(feature = "sqlite")]
        Some(url) if url.starts_with("sqlite:") => {
            run(&connect::<sqlx::Sqlite>(url).await?, &file, expected).await
        }
        #[cfg(feature = "postgres")]
        Some(url) if url.starts_with("postgres") => {
            run(&connect::<sqlx::Postgres>(url).await?, &file, expected).await
        }
        #[cfg(feature = "mysql")]
        Some(url) if url.starts_with("mysql:") || url.starts_with("mariadb:") => {
            run(&connect::<sqlx::MySql>(url).await?, &file, expected).await
        }
        url => Err(format!(
            "no database for `{}`: `sqlite:…` works as it is, `postgres://…` and `mysql://…` with \
             `--features postgres` and `--features mysql`",
            url.unwrap_or("(none)")
        )
        .into()),
    }
}

#[tokio::main]
async fn main() {
    match start().await {
        Ok(()) => println!("check: ok"),
        Err(error) => {
            eprintln!("error: {error}");
            std::process::exit(1);
        }
    }
}
