//! The server goes away while attempts are on their way: every answer must be true afterwards.
//!
//! These tests start servers of their own, which keep what they have committed.

use crate::{
    db::Db,
    lifecycles::{AnyOrder, ORDERS, Order, noon, row},
    servers::{Options, Server},
};
use onward::{
    BoxError, Error, ErrorKind, Outcome, Policy,
    inbox::{Claim, Inbox, Message},
};
use sqlx::{Pool, pool::PoolOptions};
use std::time::Duration;
use tokio::{sync::watch, task::JoinSet};

const ORDERS_IN_FLIGHT: i64 = 60;

fn started(server: Result<Server, String>) -> Server {
    server.unwrap_or_else(|error| panic!("{error}"))
}

async fn pool<B: Db>(url: &str) -> Pool<B> {
    PoolOptions::new().max_connections(8).acquire_timeout(Duration::from_secs(20)).connect(url).await.unwrap()
}

async fn number<B: Db>(pool: &Pool<B>, sql: &str) -> i64 {
    let mut connection = pool.acquire().await.unwrap();
    B::numbers(&mut connection, sql).await.unwrap()[0]
}

/// What became of an attempt, in short.
fn told<T: onward::Handle>(result: Result<Outcome<T>, Error>) -> Result<&'static str, ErrorKind> {
    result.map(|outcome| outcome.as_str()).map_err(|error| error.kind())
}

/// Payments with an effect in the same transaction, while `harm` is done to the server again and again.
async fn every_answer_is_true<B: Db>(mut server: Server, url: &str, harm: fn(&mut Server)) {
    let pool: Pool<B> = pool(url).await;
    let mut connection = pool.acquire().await.unwrap();
    B::run(&mut connection, &crate::db::types::<B>(ORDERS)).await.unwrap();
    drop(connection);
    for id in 1..=ORDERS_IN_FLIGHT {
        let _ = Order::create(row(id)).apply(&pool).await.unwrap().applied().unwrap();
    }
    let mut tasks = Vec::new();
    for id in 1..=ORDERS_IN_FLIGHT {
        let (pool, order) = (pool.clone(), AnyOrder::find(&pool, id).await.unwrap().unwrap());
        tasks.push(tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(u64::try_from(id).unwrap() * 8)).await;
            let attempt = order.pay(format!("T-{id}"), noon());
            if id % 2 == 0 {
                return told(attempt.apply(&pool).await);
            }
            let effect = async move |tx: &mut B::Connection, _: &_| {
                B::run(tx, &format!("INSERT INTO effects VALUES ({id}, 'mail')")).await.map(drop)
            };
            told(attempt.apply_with(&pool, effect).await)
        }));
    }
    for _ in 0..3 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        harm(&mut server);
    }
    for (id, task) in (1..).zip(tasks) {
        let told = task.await.unwrap();
        let state = AnyOrder::find(&pool, id).await.unwrap().unwrap();
        let moved = (state.status().as_str(), state.version()) == ("paid", 1);
        let effects = number(&pool, &format!("SELECT COUNT(*) FROM effects WHERE order_id = {id}")).await;
        assert_eq!(effects, i64::from(moved && id % 2 == 1), "order {id}: {told:?}");
        match told {
            Ok("applied" | "duplicate") => assert!(moved, "order {id}: {told:?}"),
            Err(ErrorKind::CommitUnknown) => {}
            Err(ErrorKind::Database | ErrorKind::Busy | ErrorKind::Effect) => {
                assert!(!moved, "order {id}: {told:?}")
            }
            other => panic!("order {id}: {other:?}"),
        }
        // Whatever was answered, the callback comes again, and then it is settled.
        let again = state.pay(format!("T-{id}"), noon()).apply(&pool).await.unwrap();
        assert_eq!(again.answer(), onward::Answer::Settled);
    }
}

fn killed(server: &mut Server) {
    server.kill().unwrap();
    server.start_again().unwrap();
}

fn restarted(server: &mut Server) {
    server.restart().unwrap();
}

/// Workers on a backlog while the server is killed again and again: in the end each entry is done, and its work once.
async fn every_entry_is_done_once<B: Db>(mut server: Server, url: &str) {
    let pool: Pool<B> = pool(url).await;
    let mut connection = pool.acquire().await.unwrap();
    B::run(&mut connection, &crate::db::types::<B>(ORDERS)).await.unwrap();
    drop(connection);
    onward::migrate(&pool).await.unwrap();
    let moment = Duration::from_millis(10);
    let inbox = Inbox::new("alipay")
        .claim_for(Duration::from_secs(2))
        .poll_every(moment)
        .policy(Policy::retry(1_000).delays(moment, 5 * moment));
    for id in 1..=ORDERS_IN_FLIGHT {
        let _ = Order::create(row(id)).apply(&pool).await.unwrap().applied().unwrap();
        let _ = inbox.store(&pool, &format!("N-{id}"), &Message::new(id.to_string())).await.unwrap();
    }
    let (stop, stopped) = watch::channel(false);
    let mut workers = JoinSet::new();
    for _ in 0..4 {
        let (inbox, pool, mut stopped) = (inbox.clone(), pool.clone(), stopped.clone());
        workers.spawn(async move {
            let handler = |claim: Claim| {
                let pool = pool.clone();
                async move {
                    let id: i64 = String::from_utf8_lossy(claim.message().body()).parse()?;
                    let order = AnyOrder::find(&pool, id).await?.ok_or("no such order")?;
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    let paid = order.pay(format!("T-{id}"), noon()).apply_with(&pool, async move |tx, _| {
                        B::run(tx, &format!("INSERT INTO effects VALUES ({id}, 'mail')")).await?;
                        claim.applied(tx).await?;
                        Ok::<_, BoxError>(())
                    });
                    Ok::<_, BoxError>(paid.await?)
                }
            };
            inbox.work(&pool, async { drop(stopped.wait_for(|stop| *stop).await) }, handler).await;
        });
    }
    for _ in 0..3 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        killed(&mut server);
    }
    let open = "SELECT COUNT(*) FROM onward_inbox WHERE status NOT IN ('applied', 'duplicate')";
    while number(&pool, open).await > 0 {
        tokio::time::sleep(moment).await;
    }
    stop.send(true).unwrap();
    workers.join_all().await;
    let paid = "SELECT COUNT(*) FROM orders WHERE state = 'paid' AND lock_version = 1";
    assert_eq!(number(&pool, paid).await, ORDERS_IN_FLIGHT);
    assert_eq!(number(&pool, "SELECT COUNT(*) FROM effects").await, ORDERS_IN_FLIGHT);
    assert_eq!(number(&pool, "SELECT COUNT(DISTINCT order_id) FROM effects").await, ORDERS_IN_FLIGHT);
}

/// The process sleeps while the client gives up; the statement that it was sent lives on.
async fn a_client_that_gave_up<B: Db>(mut server: Server, url: &str) {
    let pool: Pool<B> = pool(url).await;
    let mut connection = pool.acquire().await.unwrap();
    B::run(&mut connection, &crate::db::types::<B>(ORDERS)).await.unwrap();
    drop(connection);
    let order = Order::create(row(1)).apply(&pool).await.unwrap().applied().unwrap();
    let stale = AnyOrder::find(&pool, 1).await.unwrap().unwrap();
    let _ = AnyOrder::find(&pool, 1).await.unwrap();
    server.pause().unwrap();
    // The signal has been sent; the process has halted when it answers nobody.
    let answers =
        async || tokio::time::timeout(Duration::from_millis(200), AnyOrder::find(&pool, 1)).await.is_ok();
    while answers().await {}
    let given_up =
        tokio::time::timeout(Duration::from_millis(300), order.pay("T-1".into(), noon()).apply(&pool)).await;
    assert!(given_up.is_err(), "a paused server answered");
    server.resume().unwrap();
    // Another caller with the same cause: applied by one of the two, and by one only.
    let outcome = stale.pay("T-1".into(), noon()).apply(&pool).await.unwrap();
    assert_eq!(outcome.answer(), onward::Answer::Settled);
    assert_eq!(
        number(&pool, "SELECT COUNT(*) FROM orders WHERE state = 'paid' AND lock_version = 1").await,
        1
    );
    // Every connection of the pool is in order.
    for _ in 0..20 {
        assert_eq!(AnyOrder::find(&pool, 1).await.unwrap().unwrap().version(), 1);
    }
}

/// A pool that tests nothing lends connections that died while they were idle, more of them than there are restarts.
async fn idle_connections_that_died<B: Db>(mut server: Server, url: &str) {
    const CONNECTIONS: u32 = 20;
    let options = PoolOptions::new().max_connections(CONNECTIONS).test_before_acquire(false);
    let pool: Pool<B> = options.connect(url).await.unwrap();
    B::run(&mut pool.acquire().await.unwrap(), &crate::db::types::<B>(ORDERS)).await.unwrap();
    for (id, alone) in [(1, true), (3, false)] {
        let mut orders = Vec::new();
        for id in [id, id + 1] {
            orders.push(Order::create(row(id)).apply(&pool).await.unwrap().applied().unwrap());
        }
        let (other, order) = (orders.pop().unwrap(), orders.pop().unwrap());
        let mut connections = Vec::new();
        for _ in 0..CONNECTIONS {
            connections.push(pool.acquire().await.unwrap());
        }
        let mut held = connections.pop().unwrap();
        drop(connections);
        while pool.num_idle() < CONNECTIONS as usize - 1 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        restarted(&mut server);
        let read = AnyOrder::find(&pool, id).await.map(drop).map_err(|error| error.kind());
        assert_eq!(read, Err(ErrorKind::Database));
        let attempt = order.pay(format!("T-{id}"), noon());
        if alone {
            assert_eq!(told(attempt.apply(&pool).await), Ok("applied"));
        } else {
            let Outcome::Applied(won) = attempt.begin(&pool).await.unwrap() else { panic!("it was lost") };
            let _ = won.commit().await.unwrap();
        }
        // A borrowed connection cannot be replaced.
        let paid = other.pay(format!("T-{}", id + 1), noon()).apply(&mut held).await;
        assert_eq!(told(paid), Err(ErrorKind::CommitUnknown));
        assert_eq!(AnyOrder::find(&pool, id + 1).await.unwrap().unwrap().version(), 0);
    }
}

#[cfg(feature = "postgres")]
mod postgres {
    use super::*;
    use sqlx::Postgres;

    fn durable() -> Server {
        started(Server::postgres_with(Options { durable: true }))
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn killed_under_load() {
        let server = durable();
        let url = server.url("postgres");
        every_answer_is_true::<Postgres>(server, &url, killed).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn restarted_under_load() {
        let server = durable();
        let url = server.url("postgres");
        every_answer_is_true::<Postgres>(server, &url, restarted).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn killed_under_workers() {
        let server = durable();
        let url = server.url("postgres");
        every_entry_is_done_once::<Postgres>(server, &url).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn paused() {
        let server = durable();
        let url = server.url("postgres");
        a_client_that_gave_up::<Postgres>(server, &url).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn restarted_while_idle() {
        let server = durable();
        let url = server.url("postgres");
        idle_connections_that_died::<Postgres>(server, &url).await;
    }
}

#[cfg(feature = "mysql")]
mod mariadb {
    use super::*;
    use sqlx::MySql;

    async fn durable() -> (Server, String) {
        let server = started(Server::mariadb_with(Options { durable: true }));
        let admin: Pool<MySql> = pool(&server.url("mysql")).await;
        MySql::run(&mut admin.acquire().await.unwrap(), "CREATE DATABASE lost").await.unwrap();
        let url = server.url("lost");
        (server, url)
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn killed_under_load() {
        let (server, url) = durable().await;
        every_answer_is_true::<MySql>(server, &url, killed).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn restarted_under_load() {
        let (server, url) = durable().await;
        every_answer_is_true::<MySql>(server, &url, restarted).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn killed_under_workers() {
        let (server, url) = durable().await;
        every_entry_is_done_once::<MySql>(server, &url).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn paused() {
        let (server, url) = durable().await;
        a_client_that_gave_up::<MySql>(server, &url).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn restarted_while_idle() {
        let (server, url) = durable().await;
        idle_connections_that_died::<MySql>(server, &url).await;
    }
}
