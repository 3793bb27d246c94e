//! A process that works on a backlog of notifications is killed, again and again, at every step of the flow.
//!
//! `scripts/crash-test <database> <runs>`; 20 runs each are part of the suite.

use super::{Delivery, Order, OrderRow, STEPS, Wrong, counted, tables};
use crate::db::{Db, Fixture};
use onward::Answer;
use sqlx::pool::PoolOptions;
use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    hash::{BuildHasher as _, RandomState},
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

/// How often a process is killed on each database; `ONWARD_CRASHES` is another number.
const RUNS: usize = 20;
/// The orders of one backlog, and how many notifications there are about each.
const BACKLOG: i64 = 12;
const NOTIFICATIONS: u32 = 2;
const WORKERS: usize = 4;
/// In the child: `<engine> <first order> <url>`.
const CHILD: &str = "ONWARD_CRASH_CHILD";

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
    let runs = env::var("ONWARD_CRASHES").map_or(RUNS, |runs| runs.parse().unwrap());
    let (mut kills, mut orders) = (0, 0);
    let mut hit = BTreeMap::<String, usize>::new();
    while kills < runs {
        let first = orders + 1;
        orders += BACKLOG;
        for id in first..=orders {
            let _ = Order::create(OrderRow { id }).apply(&db.pool).await.unwrap().applied().unwrap();
        }
        // Until one of them lives to see the end of the backlog.
        loop {
            let mut child = Process::start(B::ENGINE, first, &db.url);
            // Those that were seldom hit come first.
            let rare = STEPS.iter().min_by_key(|step| hit.get(**step)).unwrap();
            let step = if random().is_multiple_of(2) { rare } else { STEPS[index(STEPS.len())] };
            let target = (kills < runs).then(|| (step, 1 + index(6)));
            match tokio::task::block_in_place(|| child.killed(target)) {
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
    let Wrong { lost, doubled } = counted(&db, orders, NOTIFICATIONS.into()).await;
    println!("{}: {orders} orders; killed at {hit:?}", B::ENGINE);
    println!("killed={kills}/{runs} steps={}/{} lost={lost} doubled={doubled}", hit.len(), STEPS.len());
    assert_eq!((lost, doubled), (0, 0));
    if runs >= RUNS {
        assert_eq!(hit.len(), STEPS.len(), "{hit:?}");
    }
}

fn random() -> usize {
    usize::try_from(RandomState::new().hash_one(0) >> 33).unwrap()
}

fn index(below: usize) -> usize {
    random() % below
}

/// The process that is to be killed.
struct Process {
    child: Child,
    told: BufReader<std::process::ChildStdout>,
}

impl Process {
    fn start(engine: &str, first: i64, url: &str) -> Self {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "flow::crashes::child", "--ignored", "--nocapture"])
            .env(CHILD, format!("{engine} {first} {url}"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let told = BufReader::new(child.stdout.take().unwrap());
        Self { child, told }
    }

    /// Kills it a moment after the `n`th time that a step was reached, and says at which steps its workers were; `None`
    /// if it came to its end before.
    fn killed(&mut self, target: Option<(&str, usize)>) -> Option<BTreeSet<String>> {
        let since = Instant::now();
        let mut left = target.map_or(usize::MAX, |(_, n)| n);
        let mut at = BTreeMap::<String, String>::new();
        let mut line = String::new();
        let mut dead = false;
        while self.told.read_line(&mut line).unwrap() > 0 {
            assert!(since.elapsed() < Duration::from_secs(120), "it has no end: {at:?}");
            let mut words = line.split_whitespace();
            if let (Some("worker"), Some(worker), Some(step)) = (words.next(), words.next(), words.next()) {
                at.insert(worker.into(), step.into());
                if !dead && target.is_some_and(|(wanted, _)| wanted == step) {
                    left -= 1;
                    if left == 0 {
                        std::thread::sleep(Duration::from_micros(u64::try_from(index(400)).unwrap()));
                        self.child.kill().unwrap();
                        dead = true;
                    }
                }
            }
            line.clear();
        }
        let status = self.child.wait().unwrap();
        if dead && !status.success() {
            return Some(at.into_values().filter(|step| step != "done").collect());
        }
        assert!(status.success(), "the process failed by itself: {status}, {at:?}");
        None
    }
}

/// Delivers each notification of the backlog until it is answered for good, as a provider does.
#[test]
#[ignore = "the process that the crash tests kill"]
fn child() {
    let Ok(told) = env::var(CHILD) else { panic!("only the crash tests start this") };
    let mut words = told.splitn(3, ' ');
    let (engine, first, url) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
    let first = first.parse().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        match engine {
            #[cfg(feature = "sqlite")]
            "sqlite" => work::<sqlx::Sqlite>(first, url).await,
            #[cfg(feature = "postgres")]
            "postgres" => work::<sqlx::Postgres>(first, url).await,
            #[cfg(feature = "mysql")]
            "mariadb" => work::<sqlx::MySql>(first, url).await,
            other => panic!("{other}?"),
        }
    });
}

async fn work<B: Db>(first: i64, url: &str) {
    let url = if B::ENGINE == "sqlite" { format!("{url}?mode=rw") } else { url.to_owned() };
    let pool = PoolOptions::<B>::new().max_connections(6).connect(&url).await.unwrap();
    let orders = first..first + BACKLOG;
    let deliveries: Vec<(i64, u32)> =
        orders.flat_map(|order| (0..NOTIFICATIONS).map(move |n| (order, n))).collect();
    let deliveries = Arc::new(std::sync::Mutex::new(deliveries));
    let mut workers = Vec::new();
    for worker in 0..WORKERS {
        let (pool, deliveries) = (pool.clone(), Arc::clone(&deliveries));
        let say = move |step: &'static str| {
            let mut out = std::io::stdout().lock();
            writeln!(out, "worker {worker} {step}").and_then(|()| out.flush()).unwrap();
        };
        workers.push(tokio::spawn(async move {
            loop {
                let next = deliveries.lock().unwrap().pop();
                let Some((order, notification)) = next else { return say("done") };
                let delivery = Delivery { order, notification };
                loop {
                    match delivery.handled(&pool, say).await.answer {
                        Ok(Answer::Settled) => break,
                        Ok(Answer::Later) => tokio::time::sleep(Duration::from_millis(20)).await,
                        other => panic!("order {order}: {other:?}"),
                    }
                }
            }
        }));
    }
    for worker in workers {
        worker.await.unwrap();
    }
}
