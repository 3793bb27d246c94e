//! A reply is lost at each message of a mark in turn: whoever says that nothing was marked is right.

use super::inbox;
use crate::{
    db::{Db, Fixture},
    proxy::{Harm, Protocol, Proxy, Side},
};
use onward::{
    ErrorKind,
    inbox::{Message, Status},
};
use sqlx::{Pool, pool::PoolOptions};

async fn marked_at_each_message<B: Db>(db: Fixture<B>, protocol: Protocol) {
    db.inbox(0).await;
    let mut unknown = 0;
    for (side, harm) in [
        (Side::Client, Harm::CutBefore),
        (Side::Client, Harm::CutAfter),
        (Side::Client, Harm::Late),
        (Side::Server, Harm::CutBefore),
    ] {
        for n in 1..50 {
            let case = format!("{} {harm:?} at message {n} of the {side:?}", B::ENGINE);
            let proxy = Proxy::before(&db.url, protocol).await;
            let pool: Pool<B> =
                PoolOptions::new().max_connections(1).connect_lazy(&proxy.url(&db.url)).unwrap();
            let stored = inbox().store(&db.pool, &case, &Message::new("body")).await.unwrap();
            let claim = inbox().claim(&db.pool, stored.entry().id).await.unwrap().unwrap();
            drop(pool.acquire().await.unwrap());
            while pool.num_idle() == 0 {
                tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            }
            proxy.arm(side, n, harm, 1);
            let told = claim.refused(&pool, "closed").await.map_err(|error| error.kind());
            let struck = proxy.disarm();
            proxy.release();
            pool.close().await;
            proxy.settled().await;
            let (entry, _) = inbox().find(&db.pool, claim.id).await.unwrap().unwrap();
            match (told, entry.status) {
                (Ok(()), Status::Refused) | (Err(ErrorKind::Database), Status::Claimed) => {}
                (Err(ErrorKind::CommitUnknown), _) => unknown += 1,
                other => panic!("{case}: {other:?}"),
            }
            if struck == 0 {
                break;
            }
        }
    }
    assert!(unknown > 0);
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres() {
    marked_at_each_message(sqlx::Postgres::fresh(3).await, Protocol::Postgres).await;
}

#[cfg(feature = "mysql")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mariadb() {
    marked_at_each_message(sqlx::MySql::fresh(3).await, Protocol::MySql).await;
}
