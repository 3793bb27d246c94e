//! A hundred callers on one row, again and again.

use crate::{
    db::{Db, Fixture},
    lifecycles::{AnyOrder, Orders as _, noon},
    observed::Recorder,
};
use onward::{Clash, Outcome};
use std::sync::Arc;
use tokio::sync::Barrier;

const CALLERS: usize = 100;
const ROUNDS: i64 = 200;
/// On a cluster each commit goes round all nodes.
#[cfg(feature = "mysql")]
const CLUSTER_ROUNDS: i64 = 40;

/// Each round: a hundred callers with three different intentions, started together. One wins, and every loser is
/// told rightly why.
async fn a_hundred_callers<B: Db>(db: Fixture<B>, rounds: i64) {
    db.orders(rounds).await;
    let recorder = Recorder::default();
    for id in 1..=rounds {
        let start = Arc::new(Barrier::new(CALLERS));
        let mut tasks = Vec::with_capacity(CALLERS);
        for caller in 0..CALLERS {
            let (pool, start, order) = (db.pool.clone(), start.clone(), db.pending(id).await);
            let attempt = async move {
                start.wait().await;
                match caller % 3 {
                    0 => outcome(order.pay(format!("A-{id}"), noon()).apply(&pool).await.unwrap()),
                    1 => outcome(order.pay(format!("B-{id}"), noon()).apply(&pool).await.unwrap()),
                    _ => outcome(order.cancel().apply(&pool).await.unwrap()),
                }
            };
            tasks.push(tokio::spawn(recorder.watch(attempt)));
        }
        let mut results = Vec::with_capacity(CALLERS);
        for task in tasks {
            results.push(task.await.unwrap());
        }
        let winners: Vec<usize> = (0..CALLERS).filter(|caller| results[*caller].0 == "applied").collect();
        assert_eq!(winners.len(), 1, "round {id}: {results:?}");
        let winner = winners[0] % 3;
        for (caller, (told, found)) in results.iter().enumerate() {
            let right = match (winner, caller % 3) {
                _ if caller == winners[0] => "applied",
                (won, wanted) if won == wanted => "duplicate",
                (0, 1) | (1, 0) => "other_cause",
                _ => "aside",
            };
            assert_eq!(*told, right, "round {id}, caller {caller}, winner {winner}");
            let state = if winner == 2 { "cancelled:1" } else { "paid:1" };
            assert_eq!(found, state);
        }
    }
    // Every caller held version 0, so every loser has really sent an update that matched nothing.
    assert_eq!(recorder.zero_rows(), rounds as usize * (CALLERS - 1));
    let moved = "SELECT COUNT(*) FROM orders WHERE state <> 'pending' AND lock_version = 1";
    assert_eq!(db.number(moved).await, rounds);
}

fn outcome<T>(outcome: Outcome<T>) -> (&'static str, String)
where
    T: onward::Handle<Any = AnyOrder> + std::ops::Deref<Target: Sized> + Into<AnyOrder>,
{
    let name = outcome.as_str();
    let found = match outcome {
        Outcome::Applied(won) => won.into(),
        Outcome::Duplicate(found) | Outcome::Refused(found) => found,
        Outcome::Conflict(conflict) => {
            assert!(matches!(conflict.clash, Clash::OtherCause | Clash::Aside));
            conflict.found
        }
        Outcome::NotFound => panic!("the row is there"),
    };
    (name, format!("{}:{}", found.status(), found.version()))
}

#[cfg(feature = "sqlite")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_callers_on_sqlite() {
    a_hundred_callers(sqlx::Sqlite::fresh(16).await, ROUNDS).await;
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_callers_on_postgres() {
    a_hundred_callers(sqlx::Postgres::fresh(50).await, ROUNDS).await;
}

#[cfg(feature = "mysql")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_callers_on_mariadb() {
    a_hundred_callers(sqlx::MySql::fresh(50).await, ROUNDS).await;
}

#[cfg(feature = "mysql")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_callers_on_galera() {
    let db = crate::galera::fixture("", 48).await;
    let nodes = db.nodes.clone();
    let before = crate::galera::given_up(&nodes).await;
    a_hundred_callers(db, CLUSTER_ROUNDS).await;
    let given_up = crate::galera::given_up(&nodes).await - before;
    println!(
        "galera: {CLUSTER_ROUNDS} rounds, {given_up} transactions were given up for the sake of another node's"
    );
    assert!(given_up > 0, "the callers never met");
}
