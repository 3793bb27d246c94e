//! Leases: one at a time, renewed while they are held, and lost for good.

use crate::{
    db::{Db, fresh_name},
    stores::{Ground, Place},
};
use onward::{
    ErrorKind,
    lease::{Lease, LeaseStore, Leases},
};
use sqlx::Pool;
use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};
use tokio::{
    sync::{Barrier, Mutex},
    task::JoinSet,
    time::{sleep, timeout},
};

#[cfg(any(feature = "postgres", feature = "mysql"))]
mod away;
#[cfg(feature = "mysql")]
mod certified;
mod crash;
mod fenced;
#[cfg(all(feature = "redis", feature = "sqlite"))]
mod in_redis;
mod renewing;

in_every_store![
    one_of_a_hundred,
    one_after_the_other,
    waits_for_a_while,
    of_that_name_alone,
    released_by_its_owner_alone,
    numbers_grow,
    renewed_while_its_holder_is_busy,
    told_at_once,
    dropped,
    dropped_while_it_is_acquired,
    in_a_spawned_task,
    for_as_long_as_there_is,
];

/// A store for leases.
pub trait Keeps: Place + Sized {
    type Store: LeaseStore;

    /// It, and what goes with the test.
    fn keeper(ground: &Ground<Self>) -> impl Future<Output = (Self::Store, Box<dyn Send + Sync>)> + Send;
    /// As if the time of a lease was over.
    fn expire(ground: &Ground<Self>, name: &str) -> impl Future<Output = ()> + Send;
}

impl<B: Db> Keeps for Pool<B> {
    type Store = Self;

    async fn keeper(ground: &Ground<Self>) -> (Self, Box<dyn Send + Sync>) {
        (ground.store.clone(), Box::new(()))
    }

    async fn expire(ground: &Ground<Self>, name: &str) {
        expire(&ground.store, name).await;
    }
}

async fn expire<B: Db>(pool: &Pool<B>, name: &str) {
    let sql = format!("UPDATE onward_lease SET expires_at = '2000-01-01 00:00:00' WHERE name = '{name}'");
    assert_eq!(B::run(&mut *pool.acquire().await.unwrap(), &sql).await.unwrap(), 1);
}

pub async fn acquired<L: LeaseStore>(leases: &Leases<L>, name: &str) -> Lease {
    leases.acquire(name).await.unwrap().unwrap_or_else(|| panic!("somebody else has `{name}`"))
}

pub async fn is_taken<L: LeaseStore>(leases: &Leases<L>, name: &str) -> bool {
    leases.acquire(name).await.unwrap().is_none()
}

async fn one_of_a_hundred<S: Keeps>(ground: Ground<S>) {
    const CALLERS: usize = 100;
    let (store, _kept) = S::keeper(&ground).await;
    let leases = Leases::new(&store);
    let mut last = 0;
    for round in 0..20 {
        let start = Arc::new(Barrier::new(CALLERS));
        let mut callers = JoinSet::new();
        for _ in 0..CALLERS {
            let (leases, start) = (leases.clone(), start.clone());
            callers.spawn(async move {
                start.wait().await;
                leases.acquire("settle").await.unwrap()
            });
        }
        let mut held: Vec<Lease> = callers.join_all().await.into_iter().flatten().collect();
        assert_eq!(held.len(), 1, "round {round}");
        let lease = held.pop().unwrap();
        assert!(lease.is_held() && lease.fence() > last, "round {round}: {lease:?} after {last}");
        last = lease.fence();
        lease.release().await.unwrap();
    }
}

async fn one_after_the_other<S: Keeps>(ground: Ground<S>) {
    let (store, _kept) = S::keeper(&ground).await;
    let leases = Leases::new(&store);
    let (inside, numbers) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Vec::new())));
    let mut workers = JoinSet::new();
    for _ in 0..12 {
        let (leases, inside, numbers) = (leases.clone(), inside.clone(), numbers.clone());
        workers.spawn(async move {
            let lease = leases.wait_for("settle", Duration::from_secs(60)).await.unwrap().unwrap();
            assert!(!inside.swap(true, SeqCst), "two at a time");
            numbers.lock().await.push(lease.fence());
            sleep(Duration::from_millis(5)).await;
            inside.store(false, SeqCst);
            lease.release().await.unwrap();
        });
    }
    workers.join_all().await;
    let numbers = numbers.lock().await.clone();
    assert_eq!(numbers.len(), 12);
    assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
}

async fn waits_for_a_while<S: Keeps>(ground: Ground<S>) {
    let (store, _kept) = S::keeper(&ground).await;
    let leases = Leases::new(&store);
    let lease = acquired(&leases, "settle").await;
    let since = Instant::now();
    assert!(leases.wait_for("settle", Duration::from_millis(400)).await.unwrap().is_none());
    assert!(since.elapsed() >= Duration::from_millis(400) && since.elapsed() < Duration::from_secs(5));

    let released = tokio::spawn(async move {
        sleep(Duration::from_millis(400)).await;
        lease.release().await.unwrap();
    });
    let since = Instant::now();
    assert!(leases.wait_for("settle", Duration::from_secs(20)).await.unwrap().is_some());
    assert!(since.elapsed() < Duration::from_secs(10), "long before it would have run out");
    released.await.unwrap();
}

async fn of_that_name_alone<S: Keeps>(ground: Ground<S>) {
    let (store, _kept) = S::keeper(&ground).await;
    let leases = Leases::new(&store);
    let longest = "ü".repeat(256);
    let names = ["settle", "Settle", "settle ", "", "it's; --", &longest];
    let mut held = Vec::new();
    for name in names {
        held.push(acquired(&leases, name).await);
    }
    for name in names {
        assert!(is_taken(&leases, name).await, "{name:?}");
    }
    let error = leases.acquire(&format!("{longest}.")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLong);
    assert_eq!(held[2].name(), "settle ");
    for lease in held {
        lease.release().await.unwrap();
    }
    for name in names {
        let _lease = acquired(&leases, name).await;
    }
}

async fn released_by_its_owner_alone<S: Keeps>(ground: Ground<S>) {
    let (store, _kept) = S::keeper(&ground).await;
    let (leases, name) = (Leases::new(&store), fresh_name());
    for ends in 0..2 {
        let late = acquired(&leases, &name).await;
        S::expire(&ground, &name).await;
        let next = acquired(&leases, &name).await;
        match ends {
            0 => late.release().await.unwrap(),
            _ => drop(late),
        }
        sleep(Duration::from_millis(300)).await;
        assert!(is_taken(&leases, &name).await && next.is_held());
        next.release().await.unwrap();
    }
}

async fn numbers_grow<S: Keeps>(ground: Ground<S>) {
    let (store, _kept) = S::keeper(&ground).await;
    let (leases, name) = (Leases::new(&store), fresh_name());
    let mut late = Vec::new();
    for round in 0..12 {
        let lease = acquired(&leases, &name).await;
        if round % 2 == 0 {
            S::expire(&ground, &name).await;
            late.push((lease.fence(), Some(lease)));
        } else {
            late.push((lease.fence(), None));
            lease.release().await.unwrap();
        }
    }
    assert!(late.is_sorted_by(|(a, _), (b, _)| a < b), "{late:?}");
}

async fn renewed_while_its_holder_is_busy<S: Keeps>(ground: Ground<S>) {
    let (store, _kept) = S::keeper(&ground).await;
    let leases = Leases::new(&store).lasting(Duration::from_millis(1500));
    let lease = acquired(&leases, "settle").await;
    let busy = tokio::spawn(async move {
        std::thread::sleep(Duration::from_secs(4));
        assert!(lease.is_held() && !lease.lost().is_cancelled());
        lease
    });
    while !busy.is_finished() {
        assert!(is_taken(&leases, "settle").await);
        sleep(Duration::from_millis(50)).await;
    }
    busy.await.unwrap().release().await.unwrap();
    assert!(!is_taken(&leases, "settle").await);
}

/// By the next renewal, not only at the end of its time.
async fn told_at_once<S: Keeps>(ground: Ground<S>) {
    let (store, _kept) = S::keeper(&ground).await;
    let (leases, name) = (Leases::new(&store).lasting(Duration::from_secs(6)), fresh_name());
    let late = acquired(&leases, &name).await;
    S::expire(&ground, &name).await;
    let next = acquired(&leases, &name).await;
    let job = late.lost().run_until_cancelled_owned(std::future::pending::<()>());
    let told = timeout(Duration::from_secs(4), job).await;
    assert_eq!(told, Ok(None), "a third is two seconds");
    assert!(!late.is_held());
    assert!(next.is_held() && next.fence() > late.fence());
    assert!(timeout(Duration::from_secs(3), next.lost().cancelled()).await.is_err(), "it is renewed");
    assert!(is_taken(&leases, &name).await && next.is_held());
}

async fn dropped<S: Keeps>(ground: Ground<S>) {
    let (store, _kept) = S::keeper(&ground).await;
    let leases = Leases::new(&store);
    let lease = acquired(&leases, "settle").await;
    let lost = lease.lost();
    // Where no runtime is at hand.
    std::thread::spawn(move || drop(lease)).join().unwrap();
    let next = leases.wait_for("settle", Duration::from_secs(10)).await.unwrap();
    assert!(next.is_some(), "it was given back");
    timeout(Duration::from_secs(10), lost.cancelled()).await.unwrap();
}

async fn dropped_while_it_is_acquired<S: Keeps>(ground: Ground<S>) {
    let (store, _kept) = S::keeper(&ground).await;
    let leases = Leases::new(&store);
    for round in 0..25 {
        if let Ok(acquired) = timeout(Duration::from_micros(300 * round), leases.acquire("settle")).await {
            drop(acquired.unwrap());
        }
    }
    let lease = leases.wait_for("settle", Duration::from_secs(15)).await.unwrap();
    assert!(lease.is_some(), "what came too late was given back");
}

async fn for_as_long_as_there_is<S: Keeps>(ground: Ground<S>) {
    let (store, _kept) = S::keeper(&ground).await;
    let leases = Leases::new(&store).lasting(Duration::MAX);
    let lease = acquired(&leases, "settle").await;
    assert!(is_taken(&leases, "settle").await && lease.is_held());
}

async fn in_a_spawned_task<S: Keeps>(ground: Ground<S>) {
    let (store, _kept) = S::keeper(&ground).await;
    let leases = Leases::new(&store);
    let done = tokio::spawn(async move {
        let name = String::from("settle");
        let lease = leases.wait_for(&name, Duration::from_secs(5)).await?.unwrap();
        let done = lease.lost().run_until_cancelled(async { lease.fence() }).await;
        lease.release().await?;
        Ok::<_, onward::Error>((done, leases.acquire(&name).await?))
    });
    let (done, next) = done.await.unwrap().unwrap();
    assert!(done.unwrap() < next.unwrap().fence());
}
