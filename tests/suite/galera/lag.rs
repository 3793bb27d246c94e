//! A second node that has not applied what the first has committed: what it says may be old, and is never wrong.

use super::{fixture, pool};
use crate::{
    balancer::Balancer,
    db::{Db, Fixture},
    lifecycles::{AnyOrder, Order, OrderRow, Orders as _, Paid, noon, row},
    proxy::{Harm, Protocol, Proxy, Side},
};
use onward::{Clash, ErrorKind, Outcome, Policy};
use sqlx::{Executor as _, MySql, MySqlPool, mysql::MySqlPoolOptions};
use std::{collections::BTreeMap, time::Duration};

/// So many rows in one transaction keep the other nodes busy for a while after the first has answered.
const BALLAST: u32 = 10_000;

struct Two {
    db: Fixture<MySql>,
    /// Two nodes, each by sessions that wait for nothing.
    one: MySqlPool,
    two: MySqlPool,
}

impl Two {
    async fn new() -> Two {
        let db = fixture("", 6).await;
        db.orders(0).await;
        db.run(&format!("CREATE TABLE ballast (id INT PRIMARY KEY, n INT) SELECT seq AS id, 0 AS n FROM seq_1_to_{BALLAST}"))
            .await;
        let (one, two) = (hasty(&db.nodes[0]).await, hasty(&db.nodes[1]).await);
        Two { db, one, two }
    }

    /// From now on, and for a while, the second node is behind.
    async fn hold_up(&self) {
        MySql::run(&mut self.one.acquire().await.unwrap(), "UPDATE ballast SET n = n + 1").await.unwrap();
    }

    /// Lets the second node catch up.
    async fn settle(&self) {
        let mut two = self.two.acquire().await.unwrap();
        MySql::run(&mut two, "SET SESSION wsrep_sync_wait = 1").await.unwrap();
        MySql::numbers(&mut two, "SELECT id FROM orders WHERE id = 0").await.unwrap();
        MySql::run(&mut two, "SET SESSION wsrep_sync_wait = 0").await.unwrap();
    }

    async fn create(&self, id: i64) -> Order<crate::lifecycles::Pending> {
        Order::create(row(id)).apply(&self.one).await.unwrap().applied().unwrap()
    }
}

async fn hasty(url: &str) -> MySqlPool {
    let options = MySqlPoolOptions::new().max_connections(2).after_connect(|session, _| {
        Box::pin(async move { session.execute("SET SESSION wsrep_sync_wait = 0").await.map(drop) })
    });
    options.connect(url).await.unwrap()
}

/// A write on one node and at once an attempt on another.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_node_is_behind_and_nothing_else() {
    const ROUNDS: i64 = 320;
    let nodes = Two::new().await;
    let mut seen = BTreeMap::<&'static str, u32>::new();
    for id in 1..=ROUNDS {
        let pending = nodes.create(id).await;
        nodes.settle().await;
        if id % 32 < 4 {
            nodes.hold_up().await;
        }
        let told = match id % 4 {
            0 => {
                let paid = pay(pending, &nodes.one).await;
                told(paid.ship("parcel".into()).apply(&nodes.two).await)
            }
            1 => {
                let amended = amend(pending, &nodes.one).await;
                told(amended.pay(format!("T-{id}"), noon()).apply(&nodes.two).await)
            }
            2 => {
                let paid = pay(pending, &nodes.one).await;
                told(paid.amend(|row: &mut OrderRow| row.amount_cents = 1).apply(&nodes.two).await)
            }
            _ => {
                let paid = pay(pending, &nodes.one).await;
                let work = async move |tx: &mut sqlx::MySqlConnection, _: &_| {
                    MySql::run(tx, "INSERT INTO effects VALUES (1, 'parcel')").await.map(drop)
                };
                told(paid.refund(format!("R-{id}")).apply_with(&nodes.two, work).await)
            }
        };
        let version = nodes.db.any(id).await.version();
        assert_eq!(version, if told == "applied" { 2 } else { 1 }, "order {id}: {told}");
        *seen.entry(told).or_default() += 1;
    }
    println!("{ROUNDS} attempts on a second node: {seen:?}");
    assert!(seen["applied"] > 0 && seen["behind"] > 0, "{seen:?}");
}

fn told<T: onward::Handle + std::fmt::Debug>(result: Result<Outcome<T>, onward::Error>) -> &'static str {
    match result.unwrap() {
        Outcome::Applied(_) => "applied",
        Outcome::Conflict(conflict) if conflict.clash == Clash::Behind => "behind",
        other => panic!("{other:?}"),
    }
}

async fn pay(order: Order<crate::lifecycles::Pending>, pool: &MySqlPool) -> Order<Paid> {
    let trade_no = format!("T-{}", order.id);
    order.pay(trade_no, noon()).apply(pool).await.unwrap().applied().unwrap()
}

async fn amend(
    order: Order<crate::lifecycles::Pending>,
    pool: &MySqlPool,
) -> Order<crate::lifecycles::Pending> {
    order.amend(|row| row.amount_cents += 1).apply(pool).await.unwrap().applied().unwrap()
}

/// Reads behind, a policy that waits for the node, and sessions that never see it behind.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_of_a_second_node_are_old_unless_they_wait() {
    let nodes = Two::new().await;
    let (mut behind, mut waited) = (0, 0);
    for id in 1..=10 {
        let pending = nodes.create(id).await;
        nodes.settle().await;
        nodes.hold_up().await;
        let paid = pay(pending, &nodes.one).await;
        match Order::<Paid>::load(&nodes.two, id).await {
            Ok(found) => assert_eq!(found.version(), 1),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Behind);
                assert!(error.is_transient());
                behind += 1;
            }
        }
        let policy = Policy::retry(50).delays(Duration::from_millis(5), Duration::from_millis(100));
        match paid.ship("parcel".into()).policy(policy).apply(&nodes.two).await.unwrap() {
            Outcome::Applied(shipped) => assert_eq!(shipped.version(), 2),
            other => panic!("{other:?}"),
        }
        waited += 1;
    }
    assert!(behind > 0, "the second node was never behind");
    assert_eq!(waited, 10);

    let waiting = pool(&nodes.db.nodes[1], 2).await;
    for id in 11..=20 {
        let pending = nodes.create(id).await;
        nodes.hold_up().await;
        pay(pending, &nodes.one).await;
        let paid: Order<Paid> = Order::load(&waiting, id).await.unwrap();
        let shipped = paid.ship("parcel".into()).apply(&waiting).await.unwrap().applied().unwrap();
        assert_eq!(shipped.version(), 2);
    }
}

/// An attempt on a node that still shows the row as it was: it is certified against what the others have committed, so
/// it never takes effect twice, whatever the node shows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_old_row_is_never_won() {
    let nodes = Two::new().await;
    let mut seen = BTreeMap::<String, u32>::new();
    for id in 1..=40 {
        let stale = nodes.create(id).await;
        nodes.settle().await;
        let again = Order::load(&nodes.one, id).await.unwrap();
        if id % 4 == 0 {
            nodes.hold_up().await;
        }
        pay(again, &nodes.one).await;
        let same = id % 2 == 0;
        let trade_no = if same { format!("T-{id}") } else { format!("other-{id}") };
        let told = match stale.pay(trade_no, noon()).apply(&nodes.two).await {
            Ok(Outcome::Duplicate(found)) if same => format!("duplicate of {}", found.version()),
            Ok(Outcome::Conflict(conflict)) if !same => {
                assert_eq!(conflict.clash, Clash::OtherCause);
                "other cause".into()
            }
            // The node was too far behind for all the restarts.
            Err(error) if error.kind() == ErrorKind::Busy => "busy".into(),
            other => panic!("order {id}: {other:?}"),
        };
        let AnyOrder::Paid(found) = nodes.db.any(id).await else { panic!("order {id}") };
        assert_eq!((found.version(), found.trade_no.as_str()), (1, format!("T-{id}").as_str()));
        *seen.entry(told).or_default() += 1;
    }
    println!("40 attempts on a row that another node had moved: {seen:?}");
}

/// The reply is lost on the first node, and the second one, which is asked to settle it, shows an older row than is known.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_is_behind_settles_nothing() {
    let nodes = Two::new().await;
    let mut seen = BTreeMap::<String, u32>::new();
    for id in 1..=12 {
        let pending = nodes.create(id).await;
        nodes.settle().await;
        let proxy = Proxy::before(&nodes.db.nodes[0], Protocol::MySql).await;
        let both = [proxy.url(&nodes.db.nodes[0]), nodes.db.nodes[1].clone()];
        let balancer = Balancer::before(&both).await;
        let pool = hasty(&balancer.url(&both[0])).await;
        while pool.num_idle() == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        nodes.hold_up().await;
        let paid = pay(pending, &nodes.one).await;
        // A ping, the statement is prepared, and executed.
        proxy.arm(Side::Client, 3, Harm::CutAfter, 1);
        let told = match paid.ship("parcel".into()).apply(&pool).await {
            Ok(Outcome::Conflict(conflict)) => format!("{:?}", conflict.clash),
            Ok(outcome) => outcome.as_str().into(),
            Err(error) => format!("{:?}", error.kind()),
        };
        assert_eq!(proxy.disarm(), 1);
        proxy.settled().await;
        assert_eq!(nodes.db.state(id).await, "shipped:2", "order {id}: {told}");
        *seen.entry(told).or_default() += 1;
    }
    println!("12 replies lost before a node that is behind: {seen:?}");
    assert!(seen.keys().all(|told| ["CommitUnknown", "duplicate"].contains(&told.as_str())), "{seen:?}");
    assert!(seen.contains_key("CommitUnknown"), "the second node was never behind: {seen:?}");
}
