//! A reply is lost at each single message of an attempt in turn: with a journal every answer is certain.

use super::{AnyOrder, Order, OrderRow, agree, entries, orders, row};
use crate::{
    balancer::Balancer,
    db::{Db, Fixture},
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

const LIMIT: Duration = Duration::from_secs(30);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Pay,
    Cancel,
    PayWith,
    /// With work that fails when it runs again, at once or when what was late has arrived.
    PayWithOnce(Duration),
    PayBegun,
    Amend,
    Create,
}

const STEPS: [Step; 8] = [
    Step::Pay,
    Step::Cancel,
    Step::PayWith,
    Step::PayWithOnce(Duration::ZERO),
    Step::PayWithOnce(Duration::from_millis(500)),
    Step::PayBegun,
    Step::Amend,
    Step::Create,
];

const HARMS: [(Side, Harm); 5] = [
    (Side::Client, Harm::CutBefore),
    (Side::Client, Harm::CutAfter),
    (Side::Client, Harm::Late),
    (Side::Server, Harm::CutBefore),
    (Side::Server, Harm::CutAfter),
];

type Told = Result<&'static str, ErrorKind>;

fn told<T: onward::Handle>(result: Result<Outcome<T>, Error>) -> Told {
    result.map(|outcome| outcome.as_str()).map_err(|error| error.kind())
}

async fn attempt<B: Db>(step: Step, id: i64, order: Option<AnyOrder>, pool: &Pool<B>) -> Told {
    let Some(order) = order else {
        return told(Order::create(OrderRow { amount_cents: 500, id }).apply(pool).await);
    };
    let trade_no = format!("T-{id}");
    let effect = format!("INSERT INTO effects VALUES ({id})");
    match step {
        Step::Cancel => told(order.cancel().apply(pool).await),
        Step::Amend => told(order.amend(|row| row.amount_cents += 10).apply(pool).await),
        Step::PayWith => {
            let work = async move |tx: &mut B::Connection, _: &_| B::run(tx, &effect).await.map(drop);
            told(order.pay(trade_no).apply_with(pool, work).await)
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
            told(order.pay(trade_no).apply_with(pool, work).await)
        }
        Step::PayBegun => {
            let mut won = match order.pay(trade_no).begin(pool).await {
                Ok(Outcome::Applied(won)) => won,
                other => return told(other),
            };
            if B::run(won.parts().0, &effect).await.is_err() {
                return Err(ErrorKind::Effect);
            }
            won.commit().await.map(|_| "applied").map_err(|error| error.kind())
        }
        _ => told(order.pay(trade_no).apply(pool).await),
    }
}

/// What the journal and the effects say of an order; nothing may have happened twice.
async fn moved<B: Db>(step: Step, id: i64, db: &Fixture<B>, case: &str) -> bool {
    let entries = entries(db, id).await;
    let effects = db.number(&format!("SELECT COUNT(*) FROM effects WHERE order_id = {id}")).await;
    let name = match step {
        Step::Create => "create:0",
        Step::Amend => "amend:1",
        Step::Cancel => "cancel:1",
        _ => "pay:1",
    };
    let moved = entries.iter().any(|entry| entry == name);
    let rest: Vec<&str> = entries.iter().map(String::as_str).filter(|entry| *entry != name).collect();
    let expected: &[&[&str]] = match (step, moved) {
        (Step::Create, _) => &[&[]],
        (Step::PayWithOnce(_) | Step::PayBegun, false) => &[&["create:0"], &["create:0", "fence:1"]],
        _ => &[&["create:0"]],
    };
    assert!(expected.contains(&rest.as_slice()), "{case}: {entries:?}");
    let with = moved && matches!(step, Step::PayWith | Step::PayWithOnce(_) | Step::PayBegun);
    assert_eq!(effects, i64::from(with), "{case}: {entries:?}");
    moved
}

async fn harmed<B: Db>(
    db: &Fixture<B>,
    protocol: Protocol,
    id: i64,
    step: Step,
    (side, harm): (Side, Harm),
    n: usize,
) -> Option<String> {
    let case = format!("{} {step:?}, {harm:?} at message {n} of the {side:?}", B::ENGINE);
    let proxy = Proxy::before(&db.nodes[0], protocol).await;
    let mut nodes = db.nodes.clone();
    nodes[0] = proxy.url(&nodes[0]);
    // The first connection goes to the first node, and the next to the others, which may be behind.
    let balancer = if nodes.len() > 1 { Some(Balancer::before(&nodes).await) } else { None };
    let url = balancer.as_ref().map_or(nodes[0].clone(), |balancer| balancer.url(&nodes[0]));
    let options = PoolOptions::new().max_connections(2).acquire_timeout(Duration::from_secs(10));
    let pool: Pool<B> = options.connect_lazy(&url).unwrap();
    let order = match step {
        Step::Create => None,
        _ => Some(Order::create(row(id)).apply(&db.pool).await.unwrap().applied().unwrap().into()),
    };
    drop(pool.acquire().await.unwrap());
    while pool.num_idle() == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    proxy.arm(side, n, harm, 1);
    let told = timeout(LIMIT, attempt(step, id, order, &pool)).await;
    let told = told.unwrap_or_else(|_| panic!("{case}: no answer"));
    let struck = proxy.disarm();
    // What is said to hold may not wait for a message that comes late.
    if told == Ok("applied") {
        assert!(moved(step, id, db, &case).await, "{case}: not moved");
    }
    proxy.release();
    pool.close().await;
    proxy.settled().await;
    let mut tx = onward::begin(&db.pool).await.unwrap();
    AnyOrder::lock(&mut tx, id).await.unwrap();
    tx.rollback().await;
    let moved = moved(step, id, db, &case).await;
    match told {
        Ok("applied") => assert!(moved, "{case}: {told:?}"),
        Err(
            ErrorKind::Database
            | ErrorKind::Busy
            | ErrorKind::Effect
            | ErrorKind::TransactionLost
            | ErrorKind::RestartTransaction,
        ) => assert!(!moved, "{case}: {told:?}, but it was moved"),
        // Where the node that was asked shows an older row, nobody can say.
        Err(ErrorKind::CommitUnknown) if db.nodes.len() > 1 => {}
        Ok("not_found" | "behind") if db.nodes.len() > 1 => assert!(!moved, "{case}: {told:?}"),
        other => panic!("{case}: {other:?}"),
    }
    (struck > 0).then(|| told.map_or_else(|kind| format!("{kind:?}"), Into::into))
}

async fn each_message_in_turn<B: Db>(db: Fixture<B>, protocol: Protocol, harms: &'static [(Side, Harm)]) {
    orders(&db, 0).await;
    let (db, room) = (Arc::new(db), Arc::new(Semaphore::new(10)));
    let next = Arc::new(AtomicI64::new(1));
    let mut tasks = JoinSet::new();
    for step in STEPS {
        for harm in harms.iter().copied() {
            let (db, room, next) = (Arc::clone(&db), Arc::clone(&room), Arc::clone(&next));
            tasks.spawn(async move {
                let _place = room.acquire().await.unwrap();
                let mut answers = BTreeMap::<String, usize>::new();
                for n in 1..200 {
                    let id = next.fetch_add(1, Relaxed);
                    let Some(answer) = harmed(&db, protocol, id, step, harm, n).await else {
                        assert!(n > 2, "{step:?}, {harm:?}: only {n} messages");
                        return answers;
                    };
                    *answers.entry(answer).or_default() += 1;
                }
                panic!("{step:?} has no end");
            });
        }
    }
    let mut answers = BTreeMap::<String, usize>::new();
    while let Some(done) = tasks.join_next().await {
        for (answer, times) in done.unwrap() {
            *answers.entry(answer).or_default() += times;
        }
    }
    agree(&db).await;
    println!("{}, {} nodes: {answers:?}", B::ENGINE, db.nodes.len());
    let cases: usize = answers.values().sum();
    assert!(cases > 100, "{cases}");
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

/// The reply is lost on one node, and another one is asked.
#[cfg(feature = "mysql")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn galera() {
    let harms = &[(Side::Client, Harm::Late), (Side::Server, Harm::CutBefore)];
    each_message_in_turn(crate::galera::fixture("", 10).await, Protocol::MySql, harms).await;
}
