//! Transactions on two nodes that write the same row: none of them waits for the other, and one fails at its COMMIT.

use super::{fixture, pool};
use crate::{
    db::{Db, Fixture},
    lifecycles::{AnyOrder, Order, Orders as _, Paid, noon},
};
use onward::{Clash, ErrorKind, Outcome, Outcome::Applied};
use sqlx::{MySql, MySqlConnection, MySqlPool};
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering::Relaxed},
};
use tokio::sync::Barrier;

/// A database with orders, and two of its nodes.
async fn two_nodes(orders: i64) -> (Fixture<MySql>, MySqlPool, MySqlPool) {
    let db = fixture("", 6).await;
    db.orders(orders).await;
    let (one, two) = (pool(&db.nodes[0], 3).await, pool(&db.nodes[1], 3).await);
    (db, one, two)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_callers_transaction_is_to_be_restarted() {
    let (db, one, two) = two_nodes(40).await;
    for id in 1..=40 {
        // Both have won, each on its own node.
        let (mut first, mut second) =
            (onward::begin(&one).await.unwrap(), onward::begin(&two).await.unwrap());
        let (a, b) = (db.pending(id).await, db.pending(id).await);
        let a = a.pay(format!("A-{id}"), noon()).apply_in(&mut first).await.unwrap().applied().unwrap();
        let b = b.pay(format!("B-{id}"), noon()).apply_in(&mut second).await.unwrap().applied().unwrap();
        let (first, second) = match id % 2 {
            0 => (first.commit().await, second.commit().await),
            _ => tokio::join!(first.commit(), second.commit()),
        };
        let winner = match (first, second) {
            (Ok(()), Err(error)) => {
                assert_eq!(error.kind(), ErrorKind::RestartTransaction, "{error:?}");
                a.committed()
            }
            (Err(error), Ok(())) => {
                assert_eq!(error.kind(), ErrorKind::RestartTransaction, "{error:?}");
                b.committed()
            }
            both => panic!("{both:?}"),
        };
        let AnyOrder::Paid(found) = db.any(id).await else { panic!("{id}") };
        assert_eq!((found.version(), &found.trade_no), (winner.version(), &winner.trade_no));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_won_and_begun_is_to_be_restarted() {
    let (db, one, two) = two_nodes(1).await;
    let (a, b) = (db.pending(1).await, db.pending(1).await);
    let Applied(first) = a.pay("A".into(), noon()).begin(&one).await.unwrap() else { panic!() };
    let Applied(second) = b.pay("B".into(), noon()).begin(&two).await.unwrap() else { panic!() };
    assert_eq!(first.commit().await.unwrap().trade_no, "A");
    let error = second.commit().await.unwrap_err();
    assert_eq!((error.kind(), error.is_transient()), (ErrorKind::RestartTransaction, true));
    assert_eq!(db.state(1).await, "paid:1");
}

/// Ours restarts, work included, and then meets the winner.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn our_own_transaction_restarts() {
    const ROUNDS: i64 = 30;
    let (db, one, two) = two_nodes(ROUNDS).await;
    let runs = Arc::new(AtomicU32::new(0));
    for id in 1..=ROUNDS {
        let both = Arc::new(Barrier::new(2));
        let mut tasks = Vec::new();
        for pool in [&one, &two] {
            let (pool, both, runs, order) = (pool.clone(), both.clone(), runs.clone(), db.pending(id).await);
            tasks.push(tokio::spawn(async move {
                let mut first = true;
                let work = async move |tx: &mut MySqlConnection, _: &Order<Paid>| {
                    runs.fetch_add(1, Relaxed);
                    if std::mem::take(&mut first) {
                        both.wait().await;
                    }
                    MySql::run(tx, &format!("INSERT INTO effects VALUES ({id}, 'mail')")).await.map(drop)
                };
                order.pay(format!("T-{id}"), noon()).apply_with(&pool, work).await.unwrap()
            }));
        }
        let mut told = Vec::new();
        for task in tasks {
            told.push(task.await.unwrap().as_str());
        }
        told.sort_unstable();
        assert_eq!(told, ["applied", "duplicate"]);
    }
    assert_eq!(i64::from(runs.load(Relaxed)), 2 * ROUNDS, "both had won, each on its own node");
    assert_eq!(db.number("SELECT COUNT(*) FROM effects").await, ROUNDS);
}

/// Single statements: certified by themselves, and tried again by the node once, then by us.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_payment_for_two_orders_on_two_nodes() {
    const ROUNDS: i64 = 60;
    let (db, one, two) = two_nodes(2 * ROUNDS).await;
    for round in 1..=ROUNDS {
        let mut tasks = Vec::new();
        let start = Arc::new(Barrier::new(2));
        for (pool, id) in [(&one, 2 * round - 1), (&two, 2 * round)] {
            let (pool, start, order) = (pool.clone(), start.clone(), db.pending(id).await);
            tasks.push(tokio::spawn(async move {
                start.wait().await;
                let attempt = order.pay(format!("T-{round}"), noon());
                match round % 2 {
                    0 => attempt.apply(&pool).await.unwrap(),
                    _ => {
                        let work = async move |_: &mut MySqlConnection, _: &_| Ok::<_, sqlx::Error>(());
                        attempt.apply_with(&pool, work).await.unwrap()
                    }
                }
            }));
        }
        let mut outcomes = Vec::new();
        for task in tasks {
            outcomes.push(task.await.unwrap());
        }
        let (winner, loser) = match (&outcomes[0], &outcomes[1]) {
            (Applied(won), Outcome::Conflict(lost)) | (Outcome::Conflict(lost), Applied(won)) => (won, lost),
            both => panic!("{both:?}"),
        };
        assert_eq!((loser.clash, loser.holder), (Clash::CauseTaken, Some(winner.id)));
        assert_eq!(db.state(loser.found.id).await, "pending:0");
    }
}

/// Takes stock that another node takes, too, and waits until the engine gives this transaction up.
async fn be_given_up(tx: &mut MySqlConnection, rival: &MySqlPool) -> Result<(), sqlx::Error> {
    MySql::run(tx, "UPDATE stock SET available = available - 1").await?;
    MySql::run(&mut *rival.acquire().await?, "UPDATE stock SET available = available - 1").await?;
    // Other tests may hold up the nodes for seconds.
    for _ in 0..3_000 {
        if let Err(error) = MySql::run(tx, "INSERT INTO effects VALUES (1, 'mail')").await {
            let code = error.as_database_error().and_then(|e| e.code().map(|code| code.into_owned()));
            assert_eq!(code.as_deref(), Some("40001"), "{error:?}");
            return Ok(());
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("the transaction was not given up");
}

/// Work that ignores the engine's word that all was rolled back: never applied, and nothing of it is kept.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_swallowed_certification_failure_does_not_commit_half() {
    let (db, one, two) = two_nodes(1).await;
    let order = db.pending(1).await;
    let rival = one.clone();
    let work = async move |tx: &mut MySqlConnection, _: &Order<Paid>| -> Result<(), sqlx::Error> {
        be_given_up(tx, &rival).await?;
        MySql::run(tx, "UPDATE stock SET available = available - 1").await.map(drop)
    };
    let error = order.pay("T-1".into(), noon()).apply_with(&two, work).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TransactionLost, "{error:?}");

    // The same in a transaction of the caller's.
    let mut tx = onward::begin(&two).await.unwrap();
    let paid =
        db.pending(1).await.pay("T-1".into(), noon()).apply_in(&mut tx).await.unwrap().applied().unwrap();
    be_given_up(&mut tx, &one).await.unwrap();
    MySql::run(&mut tx, "UPDATE stock SET available = available - 1").await.unwrap();
    assert_eq!(tx.commit().await.unwrap_err().kind(), ErrorKind::TransactionLost);
    drop(paid);

    assert_eq!(db.state(1).await, "pending:0");
    assert_eq!(db.number("SELECT available FROM stock").await, 3, "only the rival's");
    assert_eq!(db.number("SELECT COUNT(*) FROM effects").await, 0);
}
