//! A database that does not answer: its holder knows in time, and what was lost on the way is settled.

use super::{acquired, is_taken};
use crate::{
    db::{Db, Fixture},
    proxy::{Harm, Protocol, Proxy, Side},
    servers::Server,
};
use onward::{ErrorKind, lease::Leases};
use sqlx::{Pool, pool::PoolOptions};
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};

async fn pool<B: Db>(url: &str) -> Pool<B> {
    PoolOptions::new().max_connections(4).acquire_timeout(Duration::from_secs(5)).connect(url).await.unwrap()
}

/// Halted for longer than the lease lasts.
async fn halted<B: Db>(mut server: Server, database: &str) {
    let lasting = Duration::from_secs(3);
    let pool: Pool<B> = pool(&server.url(database)).await;
    onward::migrate(&pool).await.unwrap();
    let leases = Leases::new(&pool).lasting(lasting);
    let lease = acquired(&leases, "settle").await;
    sleep(lasting).await;
    assert!(lease.is_held());
    server.pause().unwrap();
    let since = Instant::now();
    timeout(lasting, lease.lost().cancelled()).await.expect("told before its time is over");
    assert!(!lease.is_held());
    assert!(
        since.elapsed() > lasting / 3,
        "a renewal that gets no answer is no loss yet: {:?}",
        since.elapsed()
    );
    sleep(lasting).await;
    server.resume().unwrap();
    let next = leases.wait_for("settle", Duration::from_secs(20)).await.unwrap().unwrap();
    assert!(next.fence() > lease.fence() && next.is_held() && !lease.is_held());
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_halted() {
    halted::<sqlx::Postgres>(Server::postgres().unwrap(), "postgres").await;
}

#[cfg(feature = "mysql")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mariadb_halted() {
    let server = Server::mariadb().unwrap();
    let admin: Pool<sqlx::MySql> = pool(&server.url("mysql")).await;
    sqlx::MySql::run(&mut *admin.acquire().await.unwrap(), "CREATE DATABASE leases").await.unwrap();
    halted::<sqlx::MySql>(server, "leases").await;
}

/// Cut at each message of an acquisition: whoever is told that he has it has it alone, and whoever is not told does not keep
/// it for good.
async fn cut<B: Db>(db: Fixture<B>, protocol: Protocol) {
    onward::migrate(&db.pool).await.unwrap();
    let direct = Leases::new(&db.pool).lasting(Duration::from_millis(700));
    let (mut told, mut failed) = (0, 0);
    for side in [Side::Client, Side::Server] {
        for harm in [Harm::CutBefore, Harm::CutAfter] {
            for message in 1.. {
                let name = format!("{side:?} {harm:?} {message}");
                let proxy = Proxy::before(&db.url, protocol).await;
                let pool: Pool<B> = pool(&proxy.url(&db.url)).await;
                let leases = Leases::new(&pool).lasting(Duration::from_secs(30));
                // A name that is known, and statements that are prepared.
                acquired(&leases, &name).await.release().await.unwrap();
                proxy.arm(side, message, harm, 1);
                let asked = leases.acquire(&name).await;
                let struck = proxy.disarm();
                match asked {
                    Ok(lease) => {
                        let lease = lease.unwrap_or_else(|| panic!("{name}: nobody else wants it"));
                        assert!(is_taken(&direct, &name).await, "{name}");
                        lease.release().await.unwrap();
                        acquired(&direct, &name).await.release().await.unwrap();
                        told += 1;
                    }
                    Err(error) => {
                        // A look that failed; a takeover is settled by another look.
                        assert_eq!(error.kind(), ErrorKind::Database, "{name}: {error:?}");
                        failed += 1;
                    }
                }
                if struck == 0 {
                    break;
                }
            }
        }
    }
    println!("{}: told={told} failed={failed}", B::ENGINE);
    assert!(told > 0);
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_cut() {
    cut(sqlx::Postgres::fresh(4).await, Protocol::Postgres).await;
}

#[cfg(feature = "mysql")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mariadb_cut() {
    cut(sqlx::MySql::fresh(4).await, Protocol::MySql).await;
}
