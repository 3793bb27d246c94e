//! The connection fails at each single message of an attempt in turn: every answer must be true, nothing may take
//! effect twice, and the pool must be as good as before.

use crate::{
    balancer::Balancer,
    db::{Db, Fixture},
    lifecycles::{AnyOrder, Order, Orders as _, noon, row},
    proxy::{Harm, Protocol, Proxy, Side},
};
use onward::{Error, ErrorKind, Outcome};
use sqlx::{Pool, pool::PoolOptions};
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio::{sync::Semaphore, task::JoinSet, time::timeout};

/// An attempt that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(15);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Told from others by its trade number.
    Pay,
    /// Likewise, on a connection that is not there yet.
    PayConnecting,
    /// Without a cause.
    Cancel,
    PayWith,
    /// With work that fails when it runs again, at once or when what was late has arrived.
    PayWithOnce(Duration),
    PayBegun,
    Amend,
    Create,
}

const STEPS: [Step; 9] = [
    Step::Pay,
    Step::PayConnecting,
    Step::Cancel,
    Step::PayWith,
    Step::PayWithOnce(Duration::ZERO),
    Step::PayWithOnce(Duration::from_millis(500)),
    Step::PayBegun,
    Step::Amend,
    Step::Create,
];

/// What is done to whose messages, and how often: the attempt that tries again may be harmed again.
const HARMS: [(Side, Harm, usize); 10] = [
    (Side::Client, Harm::CutBefore, 1),
    (Side::Client, Harm::CutBefore, 2),
    (Side::Client, Harm::CutAfter, 1),
    (Side::Client, Harm::CutAfter, 2),
    (Side::Client, Harm::Late, 1),
    (Side::Client, Harm::Late, 2),
    (Side::Client, Harm::Stalled, 1),
    (Side::Server, Harm::CutBefore, 1),
    (Side::Server, Harm::CutBefore, 2),
    (Side::Server, Harm::CutAfter, 1),
];

/// On a cluster the attempt that tries again does so on another node.
#[cfg(feature = "mysql")]
const CLUSTER_HARMS: [(Side, Harm, usize); 4] = [
    (Side::Client, Harm::CutAfter, 1),
    (Side::Client, Harm::Late, 1),
    (Side::Client, Harm::Stalled, 1),
    (Side::Server, Harm::CutBefore, 1),
];

/// What became of an attempt, in short.
type Told = Result<&'static str, ErrorKind>;

fn told<T: onward::Handle>(result: Result<Outcome<T>, Error>) -> Told {
    result.map(|outcome| outcome.as_str()).map_err(|error| error.kind())
}

impl Step {
    async fn attempt<B: Db>(self, id: i64, order: Option<AnyOrder>, pool: &Pool<B>) -> Told {
        let Some(order) = order else {
            return told(Order::create(row(id)).apply(pool).await);
        };
        let trade_no = format!("T-{id}");
        let effect = format!("INSERT INTO effects VALUES ({id}, 'mail')");
        match self {
            Step::Cancel => told(order.cancel().apply(pool).await),
            Step::Amend => told(order.amend(|row| row.amount_cents += 10).apply(pool).await),
            Step::PayWith => {
                let work = async move |tx: &mut B::Connection, _: &_| B::run(tx, &effect).await.map(drop);
                told(order.pay(trade_no, noon()).apply_with(pool, work).await)
            }
            Step::PayWithOnce(pause) => {
                let mut again = false;
                let work = async move |tx: &mut B::Connection, _: &_| {
                    if std::mem::replace(&mut again, true) {
                        tokio::time::sleep(pause).await;
                        return Err(sqlx::Error::RowNotFound);
                    }
                    B::run(tx, &effect).await.map(drop)
                };
                told(order.pay(trade_no, noon()).apply_with(pool, work).await)
            }
            Step::PayBegun => {
                let mut won = match order.pay(trade_no, noon()).begin(pool).await {
                    Ok(Outcome::Applied(won)) => won,
                    other => return told(other),
                };
                if B::run(won.parts().0, &effect).await.is_err() {
                    return Err(ErrorKind::Effect);
                }
                won.commit().await.map(|_| "applied").map_err(|error| error.kind())
            }
            _ => told(order.pay(trade_no, noon()).apply(pool).await),
        }
    }

    /// Whether the row was moved, as it should be and once; with its effect, if there is to be one.
    async fn moved<B: Db>(self, id: i64, db: &Fixture<B>, case: &str) -> bool {
        let effects =
            db.number(&format!("SELECT COUNT(*) FROM effects WHERE order_id = {id} AND what = 'mail'")).await;
        let found = match db.number(&format!("SELECT COUNT(*) FROM orders WHERE id = {id}")).await {
            0 => "none".into(),
            _ => {
                let cents = db.number(&format!("SELECT amount_cents FROM orders WHERE id = {id}")).await;
                format!("{} {cents}", db.state(id).await)
            }
        };
        let (before, after) = match self {
            Step::Create => ("none", "pending:0 500"),
            Step::Amend => ("pending:0 500", "pending:1 510"),
            Step::Cancel => ("pending:0 500", "cancelled:1 500"),
            _ => ("pending:0 500", "paid:1 500"),
        };
        let moved = found == after;
        assert!(moved || found == before, "{case}: {found}");
        let with = moved && matches!(self, Step::PayWith | Step::PayWithOnce(_) | Step::PayBegun);
        assert_eq!(effects, i64::from(with), "{case}: {found}");
        moved
    }
}

/// One attempt, harmed at one message; returns how often that was done, and the answer.
async fn harmed<B: Db>(
    db: &Fixture<B>,
    protocol: Protocol,
    id: i64,
    step: Step,
    harm: (Side, Harm, usize),
    n: usize,
) -> (usize, String) {
    let (side, harm, times) = harm;
    let case =
        format!("{} {step:?}, {harm:?} at message {n} of the {side:?}, up to {times} times", B::ENGINE);
    let proxy = Proxy::before(&db.nodes[0], protocol).await;
    let mut nodes = db.nodes.clone();
    nodes[0] = proxy.url(&nodes[0]);
    let cluster = nodes.len() > 1;
    // The first connection goes to the first node, and the next to the others, which may be behind.
    let balancer = if cluster { Some(Balancer::before(&nodes).await) } else { None };
    let url = balancer.as_ref().map_or(nodes[0].clone(), |balancer| balancer.url(&nodes[0]));
    let options = PoolOptions::new().max_connections(2).acquire_timeout(Duration::from_secs(10));
    let options = options.after_connect(move |connection, _| {
        Box::pin(async move {
            let waits_for_nothing = "SET SESSION wsrep_sync_wait = 0";
            if cluster { B::run(connection, waits_for_nothing).await.map(drop) } else { Ok(()) }
        })
    });
    let pool: Pool<B> = options.connect_lazy(&url).unwrap();
    let order = match step {
        Step::Create => None,
        _ => Some(Order::create(row(id)).apply(&db.pool).await.unwrap().applied().unwrap().into()),
    };
    if step != Step::PayConnecting {
        drop(pool.acquire().await.unwrap());
        // sqlx tests a connection that comes back; those messages are not of the attempt.
        while pool.num_idle() == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    proxy.arm(side, n, harm, times);
    let told = tokio::select! {
        told = timeout(LIMIT, step.attempt(id, order, &pool)) =>
            Some(told.unwrap_or_else(|_| panic!("{case}: no answer"))),
        () = proxy.struck(), if harm == Harm::Stalled => None,
    };
    let struck = proxy.disarm();
    let settled = matches!(told, Some(Ok("applied" | "duplicate")));
    // What is said to hold may not wait for a message that comes late.
    assert!(!settled || step.moved(id, db, &case).await, "{case}: {told:?}, not moved");
    proxy.release();

    let probes = timeout(LIMIT, async {
        // Both at once, so that no two of the writes share a connection.
        let mut held = [pool.acquire().await.unwrap(), pool.acquire().await.unwrap()];
        for connection in &mut held {
            B::run(connection, &format!("INSERT INTO effects VALUES ({id}, 'probe')")).await.unwrap();
        }
        let sql = format!("SELECT COUNT(*) FROM effects WHERE order_id = {id} AND what = 'probe'");
        let seen = db.number(&sql).await;
        drop(held);
        pool.close().await;
        proxy.settled().await;
        seen
    });
    let probes = probes.await.unwrap_or_else(|_| panic!("{case}: {told:?}, and the pool hangs"));
    assert_eq!(probes, 2, "{case}: {told:?}, and a write on the pool is lost");

    // MariaDB says goodbye before it rolls back; the lock waits for that.
    let mut tx = onward::begin(&db.pool).await.unwrap();
    AnyOrder::lock(&mut tx, id).await.unwrap();
    tx.rollback().await;
    let moved = step.moved(id, db, &case).await;
    match told {
        // The caller has given up.
        None => {}
        Some(Ok("applied" | "duplicate")) => assert!(moved, "{case}: {told:?}"),
        // One lost reply is settled by what the row says, except where another attempt would say the same.
        Some(Err(ErrorKind::CommitUnknown)) => {
            let told_from_others = match step {
                Step::PayBegun | Step::Amend => false,
                // Winning again proves nothing where the server may belong to a cluster.
                Step::PayWithOnce(_) => B::ENGINE != "mariadb",
                _ => !cluster,
            };
            assert!(times > 1 || !told_from_others, "{case}: {told:?}");
        }
        // A node that is behind has not heard of the row.
        Some(Ok("not_found")) if cluster => assert!(!moved, "{case}: {told:?}, but it was moved"),
        Some(Err(
            ErrorKind::Database
            | ErrorKind::Busy
            | ErrorKind::Effect
            | ErrorKind::TransactionLost
            | ErrorKind::RestartTransaction,
        )) => assert!(!moved, "{case}: {told:?}, but it was moved"),
        Some(other) => panic!("{case}: {other:?} although nobody else was there"),
    }
    assert!(struck > 0 || told == Some(Ok("applied")), "{case}: {told:?} without any harm");
    (struck, told.map_or("given up".into(), |told| told.map_or_else(|kind| format!("{kind:?}"), Into::into)))
}

async fn each_message_in_turn<B: Db>(
    db: Fixture<B>,
    protocol: Protocol,
    harms_done: &[(Side, Harm, usize)],
) -> BTreeMap<String, usize> {
    db.orders(0).await;
    for node in &db.nodes {
        // Each of them has the tables before any of them is behind.
        let mut session = <B::Connection as sqlx::Connection>::connect(node).await.unwrap();
        B::numbers(&mut session, "SELECT COUNT(*) FROM effects").await.unwrap();
    }
    let (db, room) = (Arc::new(db), Arc::new(Semaphore::new(10)));
    let next = Arc::new(AtomicI64::new(0));
    let mut tasks = JoinSet::new();
    for step in STEPS {
        for harm in harms_done.iter().copied() {
            let (db, room, next) = (Arc::clone(&db), Arc::clone(&room), Arc::clone(&next));
            tasks.spawn(async move {
                let _place = room.acquire().await.unwrap();
                let (mut cases, mut harms) = (0, 0);
                let mut answers = BTreeMap::<String, usize>::new();
                loop {
                    let id = next.fetch_add(1, Relaxed);
                    match harmed(&db, protocol, id, step, harm, cases + 1).await {
                        (0, _) => break,
                        (struck, answer) => {
                            harms += struck;
                            *answers.entry(answer).or_default() += 1;
                        }
                    }
                    cases += 1;
                    assert!(cases < 200, "{step:?} has no end");
                }
                assert!(cases > 2, "{step:?}, {harm:?}: only {cases} messages");
                (cases, harms, answers)
            });
        }
    }
    let (mut cases, mut harms, mut answers) = (0, 0, BTreeMap::<String, usize>::new());
    while let Some(done) = tasks.join_next().await {
        let done = done.unwrap();
        (cases, harms) = (cases + done.0, harms + done.1);
        for (answer, times) in done.2 {
            *answers.entry(answer).or_default() += times;
        }
    }
    let nodes = db.nodes.len();
    println!("{}, {nodes} nodes: {cases} attempts were harmed, {harms} times in all: {answers:?}", B::ENGINE);
    answers
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres() {
    each_message_in_turn(sqlx::Postgres::fresh(10).await, Protocol::Postgres, &HARMS).await;
}

#[cfg(feature = "mysql")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mariadb() {
    each_message_in_turn(sqlx::MySql::fresh(10).await, Protocol::MySql, &HARMS).await;
}

/// The reply is lost on one node, and another one, which is behind, is asked to settle it.
#[cfg(feature = "mysql")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn galera() {
    let db = crate::galera::fixture("", 10).await;
    let first = crate::galera::pool(&db.nodes[0], 1).await;
    let run = async |sql| sqlx::MySql::run(&mut first.acquire().await.unwrap(), sql).await.unwrap();
    run("CREATE TABLE ballast (id INT PRIMARY KEY, n INT) SELECT seq AS id, 0 AS n FROM seq_1_to_3000").await;
    // Each of these keeps the other nodes busy for longer than the first one.
    let holding_up = async {
        loop {
            run("UPDATE ballast SET n = n + 1").await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let answers = tokio::select! {
        answers = each_message_in_turn(db, Protocol::MySql, &CLUSTER_HARMS) => answers,
        () = holding_up => unreachable!(),
    };
    assert!(answers["applied"] > 0 && answers["duplicate"] > 0, "{answers:?}");
}
