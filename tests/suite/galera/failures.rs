//! Nodes die, stop, are cut off and come back, on a cluster of their own: every answer must be true afterwards.

use super::{pool, ready};
use crate::{
    balancer::Balancer,
    db::{Db, types},
    lifecycles::{AnyOrder, ORDERS, Order, Pending, noon, row},
    servers::galera::Cluster,
};
use onward::{Error, ErrorKind, Outcome};
use sqlx::{MySql, MySqlPool, mysql::MySqlPoolOptions};
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio::{
    task::{JoinSet, block_in_place},
    time::{sleep, timeout},
};

type Told = Result<&'static str, ErrorKind>;

fn told<T: onward::Handle>(result: Result<Outcome<T>, Error>) -> Told {
    result.map(|outcome| outcome.as_str()).map_err(|error| error.kind())
}

/// The cluster, seen from all its nodes by sessions that wait for what others have committed.
struct Ground {
    cluster: Cluster,
    nodes: Vec<String>,
    all: MySqlPool,
    _balancer: Balancer,
    next: i64,
    begun: std::time::Instant,
}

impl Ground {
    async fn new() -> Ground {
        let cluster = block_in_place(Cluster::start).unwrap_or_else(|error| panic!("{error}"));
        ready(&cluster.urls("mysql")).await;
        let first = pool(&cluster.urls("mysql")[0], 1).await;
        MySql::run(&mut first.acquire().await.unwrap(), "CREATE DATABASE lost").await.unwrap();
        let nodes = cluster.urls("lost");
        let balancer = Balancer::before(&nodes).await;
        let all = pool(&balancer.url(&nodes[0]), 12).await;
        let tables = format!("{}; CREATE INDEX effects_of ON effects (order_id)", types::<MySql>(ORDERS));
        MySql::run(&mut all.acquire().await.unwrap(), &tables).await.unwrap();
        Ground { cluster, nodes, all, _balancer: balancer, next: 1, begun: std::time::Instant::now() }
    }

    /// Eight callers pay one order after the other through this pool until the harm is done.
    async fn load(&mut self, pool: &MySqlPool, harm: impl AsyncFnOnce(&mut Cluster)) -> BTreeMap<i64, Told> {
        const CALLERS: i64 = 8;
        const EACH: i64 = 10_000;
        let done = Arc::new(AtomicBool::new(false));
        let mut callers = JoinSet::new();
        for caller in 0..CALLERS {
            let first = self.next + caller * EACH;
            let (done, pool, all) = (Arc::clone(&done), pool.clone(), self.all.clone());
            callers.spawn(async move {
                let mut answers = BTreeMap::new();
                for id in first..first + EACH {
                    if done.load(Relaxed) {
                        break;
                    }
                    // Made where nothing is wrong, or not at all.
                    let Ok(Ok(made)) =
                        timeout(Duration::from_secs(2), Order::create(row(id)).apply(&all)).await
                    else {
                        continue;
                    };
                    let Outcome::Applied(order) = made else { continue };
                    let attempt = order.pay(format!("T-{id}"), noon());
                    let effect = format!("INSERT INTO effects VALUES ({id}, 'mail')");
                    let told = match id % 3 {
                        0 => told(attempt.apply(&pool).await),
                        1 => {
                            let work = async move |tx: &mut sqlx::MySqlConnection, _: &_| {
                                MySql::run(tx, &effect).await.map(drop)
                            };
                            told(attempt.apply_with(&pool, work).await)
                        }
                        _ => match attempt.begin(&pool).await {
                            Ok(Outcome::Applied(won)) => {
                                won.commit().await.map(|_| "applied").map_err(|error| error.kind())
                            }
                            other => told(other),
                        },
                    };
                    answers.insert(id, told);
                    sleep(Duration::from_millis(5)).await;
                }
                answers
            });
        }
        self.next += CALLERS * EACH;
        sleep(Duration::from_millis(400)).await;
        harm(&mut self.cluster).await;
        done.store(true, Relaxed);
        callers.join_all().await.into_iter().flatten().collect()
    }

    /// What was told of each order is what the cluster says once it is whole again; returns how often what was told.
    async fn every_answer_is_true(&self, answers: BTreeMap<i64, Told>) -> BTreeMap<String, (usize, usize)> {
        ready(&self.nodes).await;
        let sql = "SELECT id, CONCAT(state, ':', lock_version, ' ',
            (SELECT COUNT(*) FROM effects WHERE order_id = id)) FROM orders";
        let rows = sqlx::query_as::<_, (i64, String)>(sql).fetch_all(&self.all).await.unwrap();
        let found: BTreeMap<i64, String> = rows.into_iter().collect();
        let mut seen = BTreeMap::<String, (usize, usize)>::new();
        for (id, told) in &answers {
            let found = found[id].as_str();
            let moved = found == if id % 3 == 1 { "paid:1 1" } else { "paid:1 0" };
            assert!(moved || found == "pending:0 0", "order {id}: {told:?}, {found}");
            let count = seen.entry(format!("{told:?}")).or_default();
            count.0 += 1;
            count.1 += usize::from(moved);
        }
        println!("{:?}: answers, of which the row was moved: {seen:?}", self.begun.elapsed());
        for (told, (times, moved)) in &seen {
            match told.as_str() {
                "Ok(\"applied\")" | "Ok(\"duplicate\")" => assert_eq!(times, moved, "{told}"),
                "Err(CommitUnknown)" => {}
                "Err(Database)" | "Err(Busy)" | "Err(Effect)" | "Err(RestartTransaction)" => {
                    assert_eq!(*moved, 0, "{told}, although it was applied");
                }
                other => panic!("{other}"),
            }
        }
        seen
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_are_lost_and_come_back() {
    let mut ground = Ground::new().await;
    a_node_is_killed(&mut ground).await;
    a_node_stops(&mut ground).await;
    a_node_is_cut_off(&mut ground).await;
    the_majority_is_lost_while_it_commits(&mut ground).await;
    the_majority_is_killed(&mut ground).await;
}

/// One of three is killed and comes back; the others go on.
async fn a_node_is_killed(ground: &mut Ground) {
    let all = ground.all.clone();
    let answers = ground.load(&all, async |cluster| {
        cluster.nodes[2].kill().unwrap();
        sleep(Duration::from_secs(4)).await;
        block_in_place(|| cluster.nodes[2].start_again()).unwrap();
    });
    let answers = answers.await;
    let seen = ground.every_answer_is_true(answers).await;
    assert!(seen["Ok(\"applied\")"].0 > 100, "{seen:?}");
}

/// One of three sleeps until the others go on without it, and wakes in a cluster that has moved on.
async fn a_node_stops(ground: &mut Ground) {
    let two = Balancer::before(&ground.nodes[..2]).await;
    let two = pool(&two.url(&ground.nodes[0]), 12).await;
    let answers = ground.load(&two, async |cluster| {
        cluster.nodes[2].pause().unwrap();
        sleep(Duration::from_secs(6)).await;
        cluster.nodes[2].resume().unwrap();
    });
    let answers = answers.await;
    ground.every_answer_is_true(answers).await;
}

/// One of three is cut off from the others and answers nothing but errors, while its clients still reach it.
async fn a_node_is_cut_off(ground: &mut Ground) {
    let isolate = async |first: &MySqlPool, on: u8| {
        let sql = format!("SET GLOBAL wsrep_provider_options = 'gmcast.isolate={on}'");
        MySql::run(&mut first.acquire().await.unwrap(), &sql).await.unwrap();
    };
    // Under load, from that node and from all.
    let first = pool(&ground.nodes[0], 12).await;
    let answers = ground.load(&first, async |_| {
        isolate(&first, 1).await;
        sleep(Duration::from_secs(6)).await;
        isolate(&first, 0).await;
        sleep(Duration::from_secs(2)).await;
    });
    let answers = answers.await;
    ground.every_answer_is_true(answers).await;

    // What lies idle in a pool leads there, and new connections elsewhere: those of later calls, and of the same attempt.
    let next = ground.next;
    ground.next += 2;
    let mut orders = Vec::new();
    for id in [next, next + 1] {
        orders.push(Order::create(row(id)).apply(&ground.all).await.unwrap().applied().unwrap());
    }
    isolate(&first, 1).await;
    sleep(Duration::from_secs(5)).await;
    for (wait, order) in [3, 0].into_iter().zip(orders) {
        let balancer = Balancer::before(&ground.nodes).await;
        let options = MySqlPoolOptions::new().max_connections(2).after_connect(move |session, _| {
            Box::pin(async move {
                MySql::run(session, &format!("SET SESSION wsrep_sync_wait = {wait}")).await.map(drop)
            })
        });
        let pool = options.connect(&balancer.url(&ground.nodes[0])).await.unwrap();
        let id = order.id;
        assert_eq!(AnyOrder::find(&pool, id).await.unwrap_err().kind(), ErrorKind::Busy);
        // A connection goes back in its own time.
        sleep(Duration::from_millis(200)).await;
        assert!(AnyOrder::find(&pool, id).await.unwrap().is_some(), "wsrep_sync_wait = {wait}");
        drop(pool);

        let balancer = Balancer::before(&ground.nodes).await;
        let pool = super::pool(&balancer.url(&ground.nodes[0]), 2).await;
        let _ = order.pay(format!("T-{id}"), noon()).apply(&pool).await.unwrap().applied().unwrap();
    }
    isolate(&first, 0).await;
    ready(&ground.nodes).await;
}

/// Two of three sleep; the third loses the majority with writes on the way. It answers 1180, and yet the others find the
/// writes when they wake, and commit them.
async fn the_majority_is_lost_while_it_commits(ground: &mut Ground) {
    let first = pool(&ground.nodes[0], 12).await;
    let mut applied_all_the_same = 0;
    for _ in 0..2 {
        let answers = ground.load(&first, async |cluster| {
            cluster.nodes[1].pause().unwrap();
            cluster.nodes[2].pause().unwrap();
            sleep(Duration::from_secs(6)).await;
            cluster.nodes[1].resume().unwrap();
            cluster.nodes[2].resume().unwrap();
        });
        let answers = answers.await;
        let seen = ground.every_answer_is_true(answers).await;
        applied_all_the_same += seen.get("Err(CommitUnknown)").map_or(0, |(_, moved)| *moved);
        if applied_all_the_same > 0 {
            break;
        }
    }
    println!("answered with an error and applied by the others: {applied_all_the_same}");
}

/// Two of three are killed: the third answers nothing but errors, applies nothing, and makes a cluster again when told.
async fn the_majority_is_killed(ground: &mut Ground) {
    let id = ground.next;
    ground.next += 1;
    let made = Order::create(row(id)).apply(&ground.all).await.unwrap().applied().unwrap();
    let (again, third) =
        (Order::<Pending>::load(&ground.all, id).await.unwrap(), pool(&ground.nodes[0], 4).await);
    for n in [1, 2] {
        ground.cluster.nodes[n].kill().unwrap();
    }
    sleep(Duration::from_secs(5)).await;
    for error in [
        AnyOrder::find(&third, id).await.unwrap_err(),
        Order::<Pending>::load(&third, id).await.unwrap_err(),
        onward::begin(&third).await.unwrap_err(),
        made.pay("T".into(), noon()).apply(&third).await.unwrap_err(),
        again.cancel().begin(&third).await.unwrap_err(),
    ] {
        println!("without a majority: {error}");
        assert_eq!(error.kind(), ErrorKind::Busy, "{error:?}");
        assert!(error.is_transient());
    }
    let sql = "SET SESSION wsrep_sync_wait = 0; SET GLOBAL wsrep_provider_options = 'pc.bootstrap=1'";
    MySql::run(&mut third.acquire().await.unwrap(), sql).await.unwrap();
    for n in [1, 2] {
        block_in_place(|| ground.cluster.nodes[n].start_again()).unwrap();
    }
    ready(&ground.nodes).await;
    let found: Order<Pending> = Order::load(&ground.all, id).await.unwrap();
    assert_eq!(found.version(), 0);
    let _ = found.pay(format!("T-{id}"), noon()).apply(&ground.all).await.unwrap().applied().unwrap();
}
