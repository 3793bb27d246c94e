//! A process that is killed while it holds a lease: taken over when the lease has run out, not before.

use super::{acquired, is_taken};
use crate::{
    child::{self, Child},
    db::{Db, Fixture},
};
use onward::lease::{LeaseStore, Leases};
use sqlx::Pool;
use std::time::{Duration, Instant};
use tokio::time::sleep;

on_every_database![killed];

const LASTING: Duration = Duration::from_secs(3);

async fn killed<B: Db>(db: Fixture<B>) {
    onward::migrate(&db.pool).await.unwrap();
    let child = Child::start::<B>("lease::crash::child", &db.url, "settle");
    taken_over(child, &Leases::new(&db.pool), "settle").await;
}

/// Kills a child that says when it holds the lease.
pub async fn taken_over<L: LeaseStore>(mut child: Child, leases: &Leases<L>, name: &str) {
    let (who, number) = tokio::task::block_in_place(|| child.next()).unwrap();
    assert_eq!(who, "holder");
    // As long as it lives, it is renewed.
    sleep(LASTING + Duration::from_millis(500)).await;
    assert!(is_taken(leases, name).await);
    child.kill();
    let since = Instant::now();
    assert!(is_taken(leases, name).await, "nobody knows yet");
    let next = leases.wait_for(name, Duration::from_secs(20)).await.unwrap().unwrap();
    let took = since.elapsed();
    // It was renewed after a third at the latest.
    assert!(took > LASTING / 2 && took < LASTING + Duration::from_secs(2), "{took:?}");
    assert!(next.fence() > number.parse().unwrap());
    assert!(!child.ended().success());
}

/// Says that it holds the lease, and lives on for a while.
pub async fn hold<L: LeaseStore>(store: &L, name: &str) {
    let lease = acquired(&Leases::new(store).lasting(LASTING), name).await;
    child::say("holder", &lease.fence().to_string());
    sleep(Duration::from_secs(30)).await;
    drop(lease);
}

#[test]
#[ignore = "the process that the crash tests kill"]
fn child() {
    child::run::<Holder>();
}

struct Holder;

impl child::Work for Holder {
    async fn run<B: Db>(pool: Pool<B>, name: String) {
        hold(&pool, &name).await;
    }
}
