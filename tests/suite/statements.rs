//! How many statements an attempt costs, as the servers themselves log it: executions only, once warmed up.
//!
//! These tests start servers of their own, whose logs nobody else writes to.

use crate::{
    db::Db,
    lifecycles::{AnyOrder, ORDERS, Order, noon, row},
    servers::Server,
};
use sqlx::{Pool, pool::PoolOptions};
use std::{fs, path::Path, time::Duration};

/// Runs one winner and one loser on one warmed-up connection; `count` counts executions in what the log has gained.
async fn counted<B: Db>(server: &Server, pool: &Pool<B>, count: fn(&str) -> Vec<String>) {
    for id in 1..=3 {
        let _ = Order::create(row(id)).apply(pool).await.unwrap().applied().unwrap();
    }
    // Warm: both statements are prepared.
    let (one, two) = (any(pool, 1).await, any(pool, 1).await);
    let _ = one.pay("T-1".into(), noon()).apply(pool).await.unwrap().applied().unwrap();
    let _ = two.pay("T-1".into(), noon()).apply(pool).await.unwrap();

    let (winner, loser) = (any(pool, 2).await, any(pool, 2).await);
    let mark = length(server).await;
    let _ = winner.pay("T-2".into(), noon()).apply(pool).await.unwrap().applied().unwrap();
    let won = count(&since(server, mark).await);
    assert!(won.len() == 1 && won[0].contains("UPDATE"), "a winner sends one statement: {won:#?}");
    let update = won[0].replace(['"', '`'], "");
    let guards = ["id = ", "state = ", "lock_version = lock_version + 1", "AND lock_version = "];
    assert!(guards.iter().all(|guard| update.contains(guard)), "{update}");

    let mark = length(server).await;
    let outcome = loser.pay("T-2".into(), noon()).apply(pool).await.unwrap();
    assert_eq!(outcome.as_str(), "duplicate");
    let lost = count(&since(server, mark).await);
    assert!(
        lost.len() == 2 && lost[0].contains("UPDATE") && lost[1].contains("SELECT"),
        "a loser sends two: {lost:#?}"
    );
}

/// Likewise with a journal: one statement where write and entry can be one, else a short transaction.
async fn journalled<B: Db>(server: &Server, pool: &Pool<B>, count: fn(&str) -> Vec<String>, winner: &[&str]) {
    use crate::journalled::{AnyOrder, ORDERS, Order, row};
    use onward::Lifecycle as _;
    run(pool, "DROP TABLE orders; DROP TABLE stock; DROP TABLE effects").await;
    run(pool, &crate::db::types::<B>(ORDERS)).await;
    run(pool, &AnyOrder::DESCRIPTION.journal_table::<B>().unwrap()).await;
    for id in 1..=3 {
        let _ = Order::create(row(id)).apply(pool).await.unwrap().applied().unwrap();
    }
    let pay = async |order: AnyOrder, trade_no: &str| {
        order.pay(trade_no.into(), noon()).apply(pool).await.unwrap().as_str()
    };
    let any = async |id: i64| AnyOrder::find(pool, id).await.unwrap().unwrap();
    let (one, two) = (any(1).await, any(1).await);
    assert_eq!((pay(one, "T-1").await, pay(two, "T-1").await), ("applied", "duplicate"));

    let (one, two) = (any(2).await, any(2).await);
    let mark = length(server).await;
    assert_eq!(pay(one, "T-2").await, "applied");
    let won = count(&since(server, mark).await);
    let all_are = |told: &[String], words: &[&str]| {
        told.len() == words.len() && told.iter().zip(words).all(|(statement, word)| statement.contains(word))
    };
    assert!(all_are(&won, winner), "a winner: {won:#?}");
    let mark = length(server).await;
    assert_eq!(pay(two, "T-2").await, "duplicate");
    let lost = count(&since(server, mark).await);
    // It reads once, and leaves the journal alone.
    let reads = lost.iter().filter(|statement| !statement.contains("UPDATE") && statement.contains("SELECT"));
    assert_eq!(reads.count(), 1, "a loser: {lost:#?}");
    let mut others = lost.iter().filter(|statement| !statement.contains("UPDATE"));
    assert!(others.all(|statement| !statement.contains("order_journal")), "a loser: {lost:#?}");
}

async fn any<B: Db>(pool: &Pool<B>, id: i64) -> AnyOrder {
    AnyOrder::find(pool, id).await.unwrap().unwrap()
}

/// How long the log is, once the server has written what came before.
async fn length(server: &Server) -> usize {
    settled(&server.log()).await.len()
}

async fn since(server: &Server, mark: usize) -> String {
    settled(&server.log()).await[mark..].to_owned()
}

async fn settled(log: &Path) -> String {
    let mut text = String::new();
    loop {
        tokio::time::sleep(Duration::from_millis(200)).await;
        let now = String::from_utf8_lossy(&fs::read(log).unwrap_or_default()).into_owned();
        if now == text {
            return text;
        }
        text = now;
    }
}

#[cfg(feature = "postgres")]
#[tokio::test]
async fn on_postgres() {
    let server = Server::postgres().unwrap_or_else(|error| panic!("{error}"));
    let pool: Pool<sqlx::Postgres> = one_connection(&server.url("postgres")).await;
    run(&pool, "SET log_statement = 'all'").await;
    run(&pool, &crate::db::types::<sqlx::Postgres>(ORDERS)).await;
    let count = |log: &str| {
        let entries =
            log.lines().filter(|line| line.contains("LOG:  execute") || line.contains("LOG:  statement"));
        entries.filter(|line| !line.contains("SQLx ping")).map(str::to_owned).collect()
    };
    counted(&server, &pool, count).await;
    journalled(&server, &pool, count, &["WITH moved AS (UPDATE"]).await;
}

#[cfg(feature = "mysql")]
#[tokio::test]
async fn on_mariadb() {
    let server = Server::mariadb().unwrap_or_else(|error| panic!("{error}"));
    let admin: Pool<sqlx::MySql> = one_connection(&server.url("mysql")).await;
    run(&admin, "CREATE DATABASE counted; SET GLOBAL general_log = 1").await;
    let pool: Pool<sqlx::MySql> = one_connection(&server.url("counted")).await;
    run(&pool, &crate::db::types::<sqlx::MySql>(ORDERS)).await;
    let count = |log: &str| {
        let entries = log.lines().filter(|line| line.contains(" Execute\t") || line.contains(" Query\t"));
        entries.map(str::to_owned).collect()
    };
    counted(&server, &pool, count).await;
    journalled(&server, &pool, count, &["START TRANSACTION", "UPDATE", "INSERT", "COMMIT"]).await;
}

async fn one_connection<B: Db>(url: &str) -> Pool<B> {
    PoolOptions::new().max_connections(1).connect(url).await.unwrap()
}

async fn run<B: Db>(pool: &Pool<B>, sql: &str) {
    let mut connection = pool.acquire().await.unwrap();
    B::run(&mut connection, sql).await.unwrap();
}
