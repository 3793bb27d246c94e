//! The connection fails at each protocol message of the flow in turn, in both directions.
//!
//! `scripts/cut-test <database>`; each message once is part of the suite.

use super::{Delivery, Order, OrderRow, Told, Wrong, counted, tables};
use crate::{
    db::{Db, Fixture},
    proxy::{Harm, Protocol, Proxy, Side},
};
use onward::{Answer, Error, ErrorKind, Outcome};
use sqlx::{Pool, pool::PoolOptions};
use std::{
    env,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio::{sync::Semaphore, task::JoinSet, time::timeout};

const LIMIT: Duration = Duration::from_secs(60);

/// The connection is cut off, before and after the message; then the message is held, and delivered late.
const HARMS: [(Side, Harm); 5] = [
    (Side::Client, Harm::CutBefore),
    (Side::Client, Harm::CutAfter),
    (Side::Server, Harm::CutBefore),
    (Side::Server, Harm::CutAfter),
    (Side::Client, Harm::Late),
];

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres() {
    each_message_in_turn(sqlx::Postgres::fresh(10).await, Protocol::Postgres).await;
}

#[cfg(feature = "mysql")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mariadb() {
    each_message_in_turn(sqlx::MySql::fresh(10).await, Protocol::MySql).await;
}

/// What one delivery that was harmed showed.
#[derive(Default)]
struct Shown {
    cuts: usize,
    all: usize,
    unknown: usize,
    /// Answers that later turned out to be untrue.
    untrue: usize,
}

async fn each_message_in_turn<B: Db>(db: Fixture<B>, protocol: Protocol) {
    tables(&db).await;
    let times: usize = env::var("ONWARD_CUTS").map_or(1, |times| times.parse().unwrap());
    let (db, room) = (Arc::new(db), Arc::new(Semaphore::new(8)));
    let next = Arc::new(AtomicI64::new(1));
    let mut tasks = JoinSet::new();
    for (side, harm) in HARMS.iter().copied().cycle().take(HARMS.len() * times) {
        let (db, room, next) = (Arc::clone(&db), Arc::clone(&room), Arc::clone(&next));
        tasks.spawn(async move {
            let _place = room.acquire().await.unwrap();
            let mut shown = Shown::default();
            for message in 1.. {
                let id = next.fetch_add(1, Relaxed);
                let case = format!("{}, {harm:?} at message {message} of the {side:?}", B::ENGINE);
                if !harmed(&db, protocol, id, (side, harm, message), &case, &mut shown).await {
                    assert!(message > 20, "{case}: only so many messages");
                    break;
                }
            }
            shown
        });
    }
    let mut all = Shown::default();
    while let Some(shown) = tasks.join_next().await {
        let shown = shown.unwrap();
        all.cuts += shown.cuts;
        all.all += shown.all;
        all.unknown += shown.unknown;
        all.untrue += shown.untrue;
    }
    let Wrong { lost, doubled } = counted(&db, next.load(Relaxed) - 1, 1).await;
    let Shown { cuts, all, unknown, untrue } = all;
    println!("cuts={cuts}/{all} unknown={unknown} lost={lost} doubled={doubled} false={untrue}");
    assert_eq!((cuts, unknown, lost, doubled, untrue), (all, 0, 0, 0, 0));
}

/// One delivery, harmed at one message; whether it has that many.
async fn harmed<B: Db>(
    db: &Fixture<B>,
    protocol: Protocol,
    id: i64,
    (side, harm, message): (Side, Harm, usize),
    case: &str,
    shown: &mut Shown,
) -> bool {
    let _ = Order::create(OrderRow { id }).apply(&db.pool).await.unwrap().applied().unwrap();
    let proxy = Proxy::before(&db.url, protocol).await;
    let options = PoolOptions::new().max_connections(2).acquire_timeout(Duration::from_secs(10));
    let pool: Pool<B> = options.connect_lazy(&proxy.url(&db.url)).unwrap();
    drop(pool.acquire().await.unwrap());
    while pool.num_idle() == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }

    proxy.arm(side, message, harm, 1);
    let delivery = Delivery { order: id, notification: 0 };
    let told = timeout(LIMIT, delivery.handled(&pool, |_| {})).await;
    let told = told.unwrap_or_else(|_| panic!("{case}: no answer"));
    let struck = proxy.disarm();
    // What is said to hold may not wait for a message that comes late.
    let paid_at_once = paid(db, id).await;
    proxy.release();
    pool.close().await;
    proxy.settled().await;
    let mut tx = onward::begin(&db.pool).await.unwrap();
    super::AnyOrder::lock(&mut tx, id).await.unwrap();
    tx.rollback().await;
    let paid_at_last = paid(db, id).await;

    if struck > 0 {
        shown.all += 1;
        shown.cuts += struck;
        shown.unknown += usize::from(kind(&told) == Some(ErrorKind::CommitUnknown));
        if !is_true(&told, paid_at_once, paid_at_last) {
            println!("{case}: {:?}, {:?}; paid {paid_at_once}, then {paid_at_last}", told.answer, told.paid);
            shown.untrue += 1;
        }
    }

    // The provider sends it again until it is told success.
    let again = async {
        while !matches!(delivery.handled(&db.pool, |_| {}).await.answer, Ok(Answer::Settled)) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(LIMIT, again).await.unwrap_or_else(|_| panic!("{case}: never settled"));
    struck > 0
}

async fn paid<B: Db>(db: &Fixture<B>, id: i64) -> bool {
    db.number(&format!("SELECT COUNT(*) FROM order_journal WHERE row_key = {id} AND transition = 'pay'"))
        .await
        > 0
}

/// What kind of fault the attempt ended in.
fn kind(told: &Told) -> Option<ErrorKind> {
    match &told.paid {
        Some(Err(error)) => error.downcast_ref::<Error>().map(Error::kind),
        _ => None,
    }
}

fn is_true(told: &Told, at_once: bool, at_last: bool) -> bool {
    let answered = match &told.answer {
        Ok(Answer::Settled) => at_once,
        Ok(Answer::Later) | Err(_) => true,
        Ok(Answer::Escalate) => false,
    };
    let attempted = match &told.paid {
        None => true,
        // Nobody else was there, so that a repeat cannot be told from its own success.
        Some(Ok(Outcome::Applied(_) | Outcome::Duplicate(_))) => at_once,
        Some(Ok(_)) => false,
        Some(Err(_)) if kind(told) == Some(ErrorKind::CommitUnknown) => true,
        Some(Err(_)) => !at_last,
    };
    answered && attempted
}
