//! How long a holder is sure of its lease: from before each request on, however slow the answer, and across errors.

use super::acquired;
use crate::db::{Db, Fixture};
use onward::lease::Leases;
use std::time::Duration;
use tokio::time::{sleep, timeout};

on_every_database![renewed_after_an_error];

/// The table is away for a while: a renewal that fails is tried again as long as there is time.
async fn renewed_after_an_error<B: Db>(db: Fixture<B>) {
    onward::migrate(&db.pool).await.unwrap();
    let lasting = Duration::from_secs(6);
    let lease = acquired(&Leases::new(&db.pool).lasting(lasting), "settle").await;
    db.run("ALTER TABLE onward_lease RENAME TO away").await;
    sleep(lasting / 2).await;
    assert!(lease.is_held(), "a renewal has failed, and the lease is not over");
    db.run("ALTER TABLE away RENAME TO onward_lease").await;
    assert!(timeout(lasting, lease.lost().cancelled()).await.is_err() && lease.is_held());
}

/// One that waits for a lock counts from when it was sent: the store's clock did.
#[cfg(any(feature = "postgres", feature = "mysql"))]
async fn slowly_renewed<B: Db>(db: Fixture<B>, left: &str) {
    onward::migrate(&db.pool).await.unwrap();
    let lasting = Duration::from_secs(9);
    let lease = acquired(&Leases::new(&db.pool).lasting(lasting), "settle").await;
    sleep(Duration::from_millis(2500)).await;
    let mut tx = onward::begin(&db.pool).await.unwrap();
    B::run(&mut tx, "UPDATE onward_lease SET held = held + 1").await.unwrap();
    // The renewal comes meanwhile, and there is none afterwards.
    sleep(Duration::from_secs(2)).await;
    tx.commit().await.unwrap();
    db.run("ALTER TABLE onward_lease RENAME TO away").await;
    let left = Duration::from_millis(db.number(left).await.try_into().unwrap());
    assert!(left > Duration::from_secs(6) && left < Duration::from_secs(8), "{left:?}");
    assert!(lease.is_held());
    timeout(left, lease.lost().cancelled()).await.expect("told before its time is over");
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_slowly() {
    const LEFT: &str =
        "SELECT CAST(EXTRACT(EPOCH FROM expires_at - CURRENT_TIMESTAMP) * 1000 AS BIGINT) FROM away";
    slowly_renewed(sqlx::Postgres::fresh(4).await, LEFT).await;
}

#[cfg(feature = "mysql")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mariadb_slowly() {
    const LEFT: &str = "SELECT TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), expires_at) DIV 1000 FROM away";
    slowly_renewed(sqlx::MySql::fresh(4).await, LEFT).await;
}

/// The task that renews it cannot run.
#[cfg(feature = "sqlite")]
#[tokio::test(flavor = "current_thread")]
async fn not_held_where_nobody_could_renew_it() {
    let db = sqlx::Sqlite::fresh(2).await;
    onward::migrate(&db.pool).await.unwrap();
    let lease = acquired(&Leases::new(&db.pool).lasting(Duration::from_millis(600)), "settle").await;
    assert!(lease.is_held());
    std::thread::sleep(Duration::from_millis(700));
    assert!(!lease.is_held());
}
