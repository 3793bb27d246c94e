//! A process that works on a backlog of orders is killed, again and again, at every step of the flow.
//!
//! `scripts/crash-test <database> <runs>`; 20 runs each are part of the suite.

use super::{
    End,
    broker::Broker,
    counted::{Wrong, counted},
    created, index,
    payment::Callback,
    relay::{consumed, relayed},
    tables,
    unpaid::swept,
};
use crate::{
    child::{self, Child},
    db::{Db, Fixture},
};
use onward::Answer;
use sqlx::Pool;
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    env,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};
use tokio::{task::JoinSet, time::sleep};

/// How often a process is killed on each database; `ONWARD_CRASHES` is another number.
const RUNS: usize = 20;
/// The orders of one backlog, and how many notifications there are about each that may be paid.
const BACKLOG: i64 = 12;
const NOTIFICATIONS: u32 = 2;
const WORKERS: usize = 4;
const RELAYS: usize = 2;
const PAUSE: Duration = Duration::from_millis(2);

const STEPS: [&str; 26] = [
    "new: reserved",
    "new: event",
    "new: done",
    "payment: arrived",
    "payment: stored",
    "payment: claimed",
    "payment: found",
    "payment: won",
    "payment: confirmed",
    "payment: deducted",
    "payment: event",
    "payment: marked",
    "payment: worked",
    "payment: answered",
    "sweep: due",
    "sweep: cancelled",
    "sweep: released",
    "sweep: event",
    "sweep: done",
    "relay: claimed",
    "relay: published",
    "relay: marked",
    "consumer: received",
    "consumer: known",
    "consumer: written",
    "consumer: done",
];
/// Whoever has nothing to do just now.
const IDLE: &str = "idle";

#[cfg(feature = "sqlite")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite() {
    killed(sqlx::Sqlite::fresh(4).await).await;
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres() {
    killed(sqlx::Postgres::fresh(4).await).await;
}

#[cfg(feature = "mysql")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mariadb() {
    killed(sqlx::MySql::fresh(4).await).await;
}

/// Kills the process at one step after the other, at each of them at a random time and moment.
async fn killed<B: Db>(db: Fixture<B>) {
    tables(&db).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("broker");
    let broker = Broker::at(&file);
    let runs = env::var("ONWARD_CRASHES").map_or(RUNS, |runs| runs.parse().unwrap());
    let (mut kills, mut orders) = (0, 0);
    let mut hit = BTreeMap::<String, usize>::new();
    while kills < runs {
        let first = orders + 1;
        orders += BACKLOG;
        // Until one of them lives to see the end of the backlog.
        loop {
            // Those that were seldom hit come first.
            let rare = STEPS.iter().min_by_key(|step| hit.get(**step)).unwrap();
            let seldom = !hit.contains_key(*rare) || index(4) > 0;
            let step = if seldom { rare } else { STEPS[index(STEPS.len())] };
            let target = (kills < runs).then(|| (step, 1 + index(4)));
            // Some steps are over before a kill can come.
            let slow = if hit.contains_key(step) && index(2) > 0 { IDLE } else { step };
            let told = format!("{first}\n{}\n{slow}", file.display());
            let mut child = Child::start::<B>("flow::crashes::child", &db.url, &told);
            match tokio::task::block_in_place(|| killed_at(&mut child, target)) {
                Some(steps) => {
                    kills += 1;
                    for step in steps {
                        *hit.entry(step).or_default() += 1;
                    }
                }
                None => break,
            }
        }
    }
    let notified = |id| match End::of(id) {
        End::Cancelled => (End::Cancelled, 0),
        end => (end, NOTIFICATIONS),
    };
    let (Wrong { lost, doubled }, ends) = counted(&db, &broker, orders, notified).await;
    println!("{}: {orders} orders, {ends:?}; killed at {hit:?}", B::ENGINE);
    println!("killed={kills}/{runs} steps={}/{} lost={lost} doubled={doubled}", hit.len(), STEPS.len());
    assert_eq!((lost, doubled), (0, 0));
    if runs >= RUNS {
        let missed: Vec<&&str> = STEPS.iter().filter(|step| !hit.contains_key(**step)).collect();
        assert!(missed.is_empty() && hit.len() == STEPS.len(), "missed {missed:?} of {hit:?}");
    }
}

/// Kills it a moment after the `n`th time that a step was reached, and says at which steps it was; `None` if it came to
/// its end before.
fn killed_at(child: &mut Child, target: Option<(&str, usize)>) -> Option<BTreeSet<String>> {
    let since = Instant::now();
    let mut left = target.map_or(usize::MAX, |(_, n)| n);
    let mut at = BTreeMap::<String, String>::new();
    let mut dead = false;
    while let Some((who, step)) = child.next() {
        assert!(since.elapsed() < Duration::from_secs(120), "it has no end: {at:?}");
        let wanted = target.is_some_and(|(wanted, _)| wanted == step);
        at.insert(who, step);
        if wanted && !dead {
            left -= 1;
            if left == 0 {
                std::thread::sleep(Duration::from_micros(u64::try_from(index(400)).unwrap()));
                child.kill();
                dead = true;
            }
        }
    }
    let status = child.ended();
    if dead && !status.success() {
        return Some(at.into_values().filter(|step| step != IDLE).collect());
    }
    assert!(status.success(), "the process failed by itself: {status}, {at:?}");
    None
}

#[test]
#[ignore = "the process that the crash tests kill"]
fn child() {
    child::run::<Backlog>();
}

/// Creates the orders of a backlog, delivers each notification until it is answered for good, as a provider does,
/// sweeps, relays and consumes until nothing is left.
struct Backlog;

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

    fn step(self: &Arc<Self>) -> impl super::Say + use<> {
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
        if last && super::outbox().backlog(pool).await.unwrap().unsent == 0 {
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
