//! Leases on a cluster, where a row lock holds on its own node only: the lease's row is written, so that of a takeover and
//! a transaction that holds the lease one fails at its COMMIT.

use super::{acquired, expire};
use crate::{
    db::{Db as _, Fixture},
    galera::{fixture, pool},
    lifecycles::{Orders as _, noon},
};
use onward::{ErrorKind, Outcome::Applied, lease::Leases};
use sqlx::{MySql, MySqlPool};

/// A database with an order, and two of its nodes.
async fn two_nodes() -> (Fixture<MySql>, MySqlPool, MySqlPool) {
    let db = fixture("", 4).await;
    onward::migrate(&db.pool).await.unwrap();
    db.orders(1).await;
    let (one, two) = (pool(&db.nodes[0], 3).await, pool(&db.nodes[1], 3).await);
    (db, one, two)
}

/// Nothing of the order's row is contested: the lease's row alone decides.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn taken_over_before_the_commit() {
    let (db, one, two) = two_nodes().await;
    let held = acquired(&Leases::new(&one), "charge").await;
    let mut tx = onward::begin(&one).await.unwrap();
    held.hold_in(&mut tx).await.unwrap();
    let paid =
        db.pending(1).await.pay("T-1".into(), noon()).apply_in(&mut tx).await.unwrap().applied().unwrap();
    expire(&two, "charge").await;
    let next = acquired(&Leases::new(&two), "charge").await;
    assert!(next.fence() > held.fence());
    let error = tx.commit().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RestartTransaction, "{error:?}");
    drop(paid);
    assert_eq!(db.state(1).await, "pending:0");
}

/// A hold counts as a write, though its number stays as it is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn committed_before_the_takeover() {
    let (db, one, two) = two_nodes().await;
    let held = acquired(&Leases::new(&one), "charge").await;
    let mut tx = onward::begin(&one).await.unwrap();
    held.hold_in(&mut tx).await.unwrap();
    let paid =
        db.pending(1).await.pay("T-1".into(), noon()).apply_in(&mut tx).await.unwrap().applied().unwrap();
    let mut takeover = onward::begin(&two).await.unwrap();
    MySql::run(&mut takeover, "UPDATE onward_lease SET fence = fence + 1, owner = 'somebody'").await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(takeover.commit().await.unwrap_err().kind(), ErrorKind::RestartTransaction);
    assert_eq!(paid.committed().version(), 1);
    assert_eq!(db.number("SELECT fence FROM onward_lease").await, held.fence());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ours_is_given_up_and_then_refused() {
    let (db, one, two) = two_nodes().await;
    let late = acquired(&Leases::new(&one), "charge").await;
    let attempt = db.pending(1).await.pay("T-1".into(), noon()).fenced(&late);
    let Applied(won) = attempt.begin(&one).await.unwrap() else { panic!() };
    expire(&two, "charge").await;
    let next = acquired(&Leases::new(&two), "charge").await;
    assert_eq!(won.commit().await.unwrap_err().kind(), ErrorKind::RestartTransaction);

    let attempt = async |lease| {
        let attempt = db.pending(1).await.pay("T-1".into(), noon()).fenced(lease);
        attempt.begin(&one).await.unwrap()
    };
    assert_eq!(attempt(&late).await.as_str(), "fenced");
    let Applied(won) = attempt(&next).await else { panic!() };
    assert_eq!(won.commit().await.unwrap().version(), 1);
}
