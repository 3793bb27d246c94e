//! The process that is killed: a provider with several workers, a sweep, relays and a consumer.

use super::super::{
    End, Say,
    broker::Broker,
    created, outbox,
    payment::Callback,
    relay::{consumed, relayed},
    unpaid::swept,
};
use crate::{child, db::Db};
use onward::Answer;
use sqlx::Pool;
use std::{
    collections::VecDeque,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio::{task::JoinSet, time::sleep};

/// The orders of one backlog, and how many notifications there are about each that may be paid.
pub const BACKLOG: i64 = 12;
pub const NOTIFICATIONS: u32 = 2;
const WORKERS: usize = 4;
const RELAYS: usize = 2;
const PAUSE: Duration = Duration::from_millis(2);

/// Whoever has nothing to do just now.
pub const IDLE: &str = "idle";

/// Creates the orders of a backlog, delivers each notification until it is answered for good, as a provider does,
/// sweeps, relays and consumes until nothing is left.
pub struct Backlog;

impl child::Work for Backlog {
    async fn run<B: Db>(pool: Pool<B>, told: String) {
        let words: Vec<&str> = told.split('\n').collect();
        let [first, file, slow] = words[..] else { panic!("{told}") };
        let first: i64 = first.parse().unwrap();
        let told = |who: String| Told::by(who, slow);
        let orders: VecDeque<(i64, u32)> =
            (first..first + BACKLOG).flat_map(|order| (0..NOTIFICATIONS).map(move |n| (order, n))).collect();
        let orders = Arc::new(Mutex::new(orders));
        let broker = Broker::at(Path::new(file));
        let (writing, relaying) =
            (Arc::new(AtomicUsize::new(WORKERS + 1)), Arc::new(AtomicUsize::new(RELAYS)));
        let mut all = JoinSet::new();
        for n in 0..WORKERS {
            let (pool, orders, writing) = (pool.clone(), Arc::clone(&orders), Arc::clone(&writing));
            let told = told(format!("worker-{n}"));
            all.spawn(async move {
                provider(&pool, &orders, &told).await;
                writing.fetch_sub(1, Relaxed);
            });
        }
        {
            let (pool, writing) = (pool.clone(), Arc::clone(&writing));
            let told = told("sweep".into());
            all.spawn(async move {
                sweeper(&pool, &writing, &told).await;
                writing.fetch_sub(1, Relaxed);
            });
        }
        for n in 0..RELAYS {
            let (pool, broker) = (pool.clone(), broker.clone());
            let (writing, relaying) = (Arc::clone(&writing), Arc::clone(&relaying));
            let told = told(format!("relay-{n}"));
            all.spawn(async move {
                relay(&pool, &broker, &writing, &told).await;
                relaying.fetch_sub(1, Relaxed);
            });
        }
        let told = told("consumer".into());
        all.spawn(async move { consumer(&pool, &broker, &relaying, first, &told).await });
        while let Some(done) = all.join_next().await {
            done.unwrap();
        }
    }
}

/// What a task tells the process that kills this one.
struct Told {
    who: String,
    idle: AtomicBool,
    /// The step at which it is to be killed, and after which it waits.
    slow: String,
}

/// Longer than a kill takes.
const SLOW: Duration = Duration::from_millis(3);

impl Told {
    fn by(who: String, slow: &str) -> Arc<Self> {
        Arc::new(Self { who, idle: AtomicBool::new(false), slow: slow.into() })
    }

    fn step(self: &Arc<Self>) -> impl Say + use<> {
        let told = Arc::clone(self);
        move |step| {
            told.idle.store(false, Relaxed);
            child::say(&told.who, step);
            if told.slow == step {
                std::thread::sleep(SLOW);
            }
        }
    }

    fn idle(&self) {
        if !self.idle.swap(true, Relaxed) {
            child::say(&self.who, IDLE);
        }
    }
}

async fn provider<B: Db>(pool: &Pool<B>, orders: &Mutex<VecDeque<(i64, u32)>>, told: &Arc<Told>) {
    loop {
        let next = orders.lock().unwrap().pop_front();
        let Some((order, notification)) = next else { return told.idle() };
        let end = End::of(order);
        loop {
            match created(pool, order, end, told.step()).await {
                Ok(outcome) => {
                    assert_eq!(outcome.answer(), Answer::Settled, "order {order}: {outcome:?}");
                    break;
                }
                Err(error) => assert!(error.is_transient(), "order {order}: {error:?}"),
            }
        }
        if end == End::Cancelled {
            continue;
        }
        let callback = Callback { order, notification };
        loop {
            match callback.handled(pool, told.step()).await.answer {
                Ok(Answer::Settled) => break,
                // The sweep was faster.
                Ok(Answer::Escalate) if end == End::Either => break,
                Ok(Answer::Later) => sleep(10 * PAUSE).await,
                Err(error) if error.is_transient() => sleep(PAUSE).await,
                other => panic!("order {order}: {other:?}"),
            }
        }
    }
}

async fn sweeper<B: Db>(pool: &Pool<B>, writing: &AtomicUsize, told: &Arc<Told>) {
    loop {
        let last = writing.load(Relaxed) == 1;
        let (swept, failures) = swept(pool, told.step()).await;
        assert!(swept.is_ok() && failures.is_empty(), "{swept:?}, {failures:?}");
        let mut c = pool.acquire().await.unwrap();
        let pending =
            B::numbers(&mut c, "SELECT COUNT(*) FROM orders WHERE status = 'pending'").await.unwrap();
        drop(c);
        told.idle();
        if last && pending == [0] {
            return;
        }
        sleep(PAUSE).await;
    }
}

async fn relay<B: Db>(pool: &Pool<B>, broker: &Broker, writing: &AtomicUsize, told: &Arc<Told>) {
    loop {
        let last = writing.load(Relaxed) == 0;
        if relayed(pool, broker, told.step()).await.unwrap().is_some() {
            continue;
        }
        told.idle();
        if last && outbox().backlog(pool).await.unwrap().unsent == 0 {
            return;
        }
        sleep(PAUSE).await;
    }
}

/// It has no memory of its own, so whoever comes after one that was killed hears everything about the backlog again.
async fn consumer<B: Db>(
    pool: &Pool<B>,
    broker: &Broker,
    relaying: &AtomicUsize,
    first: i64,
    told: &Arc<Told>,
) {
    let mut heard = 0;
    loop {
        let last = relaying.load(Relaxed) == 0;
        let all = broker.all();
        for sent in &all[heard..] {
            if sent.key.parse::<i64>().unwrap() < first {
                continue;
            }
            while let Err(error) = consumed(pool, sent, told.step()).await {
                let error = error.downcast::<onward::Error>().unwrap();
                assert!(error.is_transient(), "{error:?}");
            }
        }
        heard = all.len();
        told.idle();
        if last {
            return;
        }
        sleep(PAUSE).await;
    }
}
