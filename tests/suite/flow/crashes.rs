//! A process that works on a backlog of orders is killed, again and again, at every step of the flow.
//!
//! `scripts/crash-test <database> <runs>`; 20 runs each are part of the suite.

mod backlog;

use super::{
    End,
    broker::Broker,
    counted::{Wrong, counted},
    index, tables,
};
use crate::{
    child::{self, Child},
    db::{Db, Fixture},
};
use backlog::{BACKLOG, Backlog, IDLE, NOTIFICATIONS};
use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    time::{Duration, Instant},
};

/// How often a process is killed on each database; `ONWARD_CRASHES` is another number.
const RUNS: usize = 20;

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
