//! What an attempt costs on a cluster, beside the same on one server, in the same run.

use super::{fixture, pool};
use crate::{
    db::{Db, Fixture},
    lifecycles::{Order, Orders as _, noon, row},
};
use sqlx::{MySql, MySqlPool};
use std::time::{Duration, Instant};

const ROUNDS: usize = 9;
const ATTEMPTS: i64 = 40;

/// One pays one order after the other.
async fn round(pool: &MySqlPool, from: i64) -> Duration {
    let mut orders = Vec::new();
    for id in from..from + ATTEMPTS {
        orders.push(Order::create(row(id)).apply(pool).await.unwrap().applied().unwrap());
    }
    let since = Instant::now();
    for order in orders {
        let trade_no = format!("T-{}", order.id);
        let _ = order.pay(trade_no, noon()).apply(pool).await.unwrap().applied().unwrap();
    }
    since.elapsed()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attempt_beside_one_on_a_single_server() {
    let (alone, cluster): (Fixture<MySql>, _) = (MySql::fresh(1).await, fixture("", 6).await);
    alone.orders(0).await;
    cluster.orders(0).await;
    let hasty = pool(&cluster.nodes[0], 1).await;
    MySql::run(&mut hasty.acquire().await.unwrap(), "SET SESSION wsrep_sync_wait = 0").await.unwrap();
    let waiting = pool(&cluster.nodes[0], 1).await;
    let pools = [&alone.pool, &hasty, &waiting, &cluster.pool];
    let mut ratios = [Vec::new(), Vec::new(), Vec::new()];
    for n in 0..ROUNDS {
        let mut took = [Duration::ZERO; 4];
        for (place, pool) in pools.iter().enumerate() {
            took[place] = round(pool, ((n * 4 + place) as i64) * ATTEMPTS).await;
        }
        for (place, ratios) in ratios.iter_mut().enumerate() {
            ratios.push(took[place + 1].as_secs_f64() / took[0].as_secs_f64());
        }
    }
    let median = |ratios: &mut Vec<f64>| {
        ratios.sort_by(f64::total_cmp);
        ratios[ROUNDS / 2]
    };
    let [hasty, waiting, spread] = ratios.each_mut().map(median);
    println!(
        "an attempt, in times of one on a single server: {hasty:.2} on one node, {waiting:.2} there with \
         wsrep_sync_wait = 7, {spread:.2} with it on three nodes in turn"
    );
    assert_eq!(cluster.number("SELECT COUNT(*) FROM orders WHERE state = 'paid'").await, 3 * 9 * ATTEMPTS);
}
