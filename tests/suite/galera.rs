//! A cluster of nodes that all take writes: the fixtures, and what only a cluster does.

use crate::{
    balancer::Balancer,
    db::{Db, Fixture, fresh_name},
    servers,
};
use sqlx::{Connection as _, MySql, MySqlConnection, MySqlPool, mysql::MySqlPoolOptions};
use std::{
    pin::Pin,
    time::{Duration, Instant},
};

mod certification;
mod cost;
mod failures;
mod lag;
mod rotation;

/// Tests that stay on one node of the cluster, and why.
const ON_ONE_NODE: [(&str, &str); 12] = [
    ("a_lock_serialises", "a row lock holds on its own node only: elsewhere the other one goes first"),
    (
        "a_mark_on_its_way_is_waited_for",
        "likewise: a takeover elsewhere does not wait, one of the two fails at COMMIT",
    ),
    ("a_finish_on_its_way_is_waited_for", "likewise"),
    ("a_raced_insert", "likewise: what another node has not committed is not seen"),
    ("waiting_for_one_that_commits", "likewise: the same key elsewhere is a conflict at COMMIT, not a wait"),
    ("waiting_for_one_that_rolls_back", "likewise"),
    (
        "inside_repeatable_read",
        "a key taken elsewhere after the snapshot is a conflict at COMMIT: inside a transaction nothing waits for other nodes",
    ),
    ("a_lock_that_was_waited_for_in_vain", "nobody waits for a lock of another node's"),
    ("a_release_that_waits_for_its_reserve", "likewise: the one that commits last is given up"),
    ("waits_for_the_transaction_that_holds_it", "likewise: who takes a lease over elsewhere does not wait"),
    ("refused_though_it_waited_for_the_lock_already", "likewise"),
    ("seen_by_two_at_once", "likewise: the same row elsewhere is a conflict at COMMIT, not a wait"),
];

/// For a test of that name: a fresh database, seen through a pool whose connections go to the nodes in turn.
pub async fn fixture(test: &str, connections: u32) -> Fixture<MySql> {
    let nodes = servers::galera::shared();
    let nodes = match ON_ONE_NODE.iter().any(|(name, _)| *name == test) {
        true => &nodes[..1],
        false => nodes,
    };
    ready(servers::galera::shared()).await;
    let name = fresh_name();
    let mut admin = MySqlConnection::connect(&nodes[0]).await.unwrap();
    MySql::run(&mut admin, &format!("CREATE DATABASE {name}")).await.unwrap();
    admin.close().await.unwrap();
    let nodes: Vec<String> = nodes.iter().map(|url| servers::with_database(url, &name)).collect();
    known(servers::galera::shared()).await;

    let balancer = Balancer::before(&nodes).await;
    let url = balancer.url(&nodes[0]);
    let pool = pool(&url, connections).await;
    // All of them, so that statements that follow each other go to different nodes.
    let mut all = Vec::new();
    for _ in 0..connections {
        all.push(pool.acquire().await.unwrap());
    }
    drop(all);
    Fixture::over(pool, url, nodes, again, Some(balancer))
}

fn again(connections: u32) -> Pin<Box<dyn Future<Output = Fixture<MySql>> + Send>> {
    Box::pin(fixture("", connections))
}

pub async fn pool(url: &str, connections: u32) -> MySqlPool {
    let options = MySqlPoolOptions::new().max_connections(connections);
    options.acquire_timeout(Duration::from_secs(60)).connect(url).await.unwrap()
}

/// Waits until every node belongs to the cluster.
pub async fn ready(nodes: &[String]) {
    const STATE: &str =
        "SELECT GROUP_CONCAT(variable_value ORDER BY variable_name) FROM information_schema.global_status
        WHERE variable_name IN ('wsrep_cluster_size', 'wsrep_local_state_comment', 'wsrep_ready')";
    let wanted = format!("{},Synced,ON", nodes.len());
    let since = Instant::now();
    for node in nodes {
        loop {
            let state = async {
                let mut connection = MySqlConnection::connect(node).await?;
                MySql::run(&mut connection, "SET SESSION wsrep_sync_wait = 0").await?;
                MySql::texts(&mut connection, STATE).await
            };
            let state = tokio::time::timeout(Duration::from_secs(5), state).await;
            if matches!(&state, Ok(Ok(state)) if *state == [wanted.as_str()]) {
                break;
            }
            assert!(since.elapsed() < Duration::from_secs(60), "{node}: {state:?} instead of {wanted}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

/// Waits until every node has what any node has committed; a client that logs in does not wait by itself.
async fn known(nodes: &[String]) {
    for node in nodes {
        let mut connection = MySqlConnection::connect(node).await.unwrap();
        let waits =
            MySql::numbers(&mut connection, "SELECT CAST(@@GLOBAL.wsrep_sync_wait & 7 AS SIGNED)").await;
        assert_eq!(waits.unwrap(), [7], "{node}: the tests want wsrep_sync_wait = 7 by default");
        connection.close().await.unwrap();
    }
}

/// How many transactions the nodes have given up because another node's came first.
pub async fn given_up(nodes: &[String]) -> i64 {
    const SQL: &str = "SELECT CAST(SUM(variable_value) AS SIGNED) FROM information_schema.global_status
        WHERE variable_name IN ('wsrep_local_cert_failures', 'wsrep_local_bf_aborts')";
    let mut sum = 0;
    for node in nodes {
        let mut connection = MySqlConnection::connect(node).await.unwrap();
        sum += MySql::numbers(&mut connection, SQL).await.unwrap()[0];
    }
    sum
}
