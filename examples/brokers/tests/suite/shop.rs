//! A shop that writes events, relays that publish them, a receiver that credits points, and what must be true at the end.

use crate::{
    broker::Broker,
    db::{Db, Fixture},
    servers::Server,
};
use brokers::shop::POINTS;
use onward::{
    BoxError, Policy,
    outbox::{Delivery, Event, Outbox, Publish},
};
use sqlx::SqlitePool;
use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{BuildHasher as _, RandomState},
    marker::PhantomData,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    sync::watch,
    task::{JoinHandle, block_in_place},
    time::{sleep, timeout},
};

pub const SOON: Duration = Duration::from_millis(20);
const LIMIT: Duration = Duration::from_secs(60);

/// An outbox for tests: it does not give up, and looks again soon.
pub fn outbox() -> Outbox {
    let policy = Policy::retry(10_000).delays(SOON, SOON * 10);
    Outbox::new("shop").policy(policy).claim_for(Duration::from_secs(10)).poll_every(SOON)
}

pub struct Shop<K: Broker, B: Db> {
    pub server: Server,
    pub url: String,
    pub db: Fixture<B>,
    pub points: Fixture<sqlx::Sqlite>,
    pub counts: Counts,
    case: &'static str,
    written: BTreeMap<String, (String, String)>,
    broker: PhantomData<K>,
}

/// How many publications succeeded, and how many did not, as their publishers saw it.
#[derive(Clone)]
pub struct Counts {
    pub begun: Arc<watch::Sender<usize>>,
    pub confirmed: Arc<watch::Sender<usize>>,
    pub failed: Arc<watch::Sender<usize>>,
}

struct Counted<P> {
    publisher: P,
    counts: Counts,
}

impl<P: Publish> Publish for Counted<P> {
    async fn publish(&self, event: Delivery) -> Result<(), BoxError> {
        self.counts.begun.send_modify(|count| *count += 1);
        let published = self.publisher.publish(event).await;
        let count = if published.is_ok() { &self.counts.confirmed } else { &self.counts.failed };
        count.send_modify(|count| *count += 1);
        published
    }
}

/// Waits until a count is reached.
pub async fn reached(count: &watch::Sender<usize>, n: usize) {
    let mut count = count.subscribe();
    let reached = timeout(LIMIT, count.wait_for(|count| *count >= n)).await;
    drop(reached.expect("it takes too long").unwrap());
}

/// Relays that run until they are stopped.
pub struct Relays {
    stop: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
}

impl Relays {
    /// Asks them to stop, and waits until they have.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        for task in self.tasks {
            timeout(LIMIT, task).await.expect("a relay does not stop").unwrap();
        }
    }
}

/// A task that ends with the test.
pub struct Receiving(JoinHandle<()>);

impl Drop for Receiving {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<K: Broker, B: Db> Shop<K, B> {
    pub async fn open(case: &'static str) -> Self {
        let server =
            block_in_place(|| Server::launch(K::recipe)).unwrap_or_else(|sentence| panic!("{sentence}"));
        let (db, points) = (B::fresh(6).await, <sqlx::Sqlite as Db>::fresh(6).await);
        onward::migrate(&db.pool).await.unwrap();
        onward::migrate(&points.pool).await.unwrap();
        points.run(POINTS).await;
        let counts = Counts { begun: Arc::default(), confirmed: Arc::default(), failed: Arc::default() };
        let (url, written) = (server.url(""), BTreeMap::new());
        let url = url.trim_end_matches('/').to_owned();
        Self { server, url, db, points, counts, case, written, broker: PhantomData }
    }

    pub fn start(&mut self) {
        block_in_place(|| self.server.start_again()).unwrap();
    }

    /// Writes this many events of each of some keys.
    pub async fn write(&mut self, keys: usize, each: usize) {
        for n in 0..each {
            let mut tx = onward::begin(&self.db.pool).await.unwrap();
            for key in 0..keys {
                let (key, payload) = (format!("order-{key}"), format!("{:06}", self.written.len()));
                let event =
                    Event::new("order.paid", &key, payload.as_str()).version(i64::try_from(n).unwrap());
                let id = outbox().write(&mut tx, event).await.unwrap();
                self.written.insert(id, (key, payload));
            }
            tx.commit().await.unwrap();
        }
    }

    /// A publisher that counts.
    pub async fn publisher(&self) -> impl Publish + use<K, B> {
        self.publisher_by(&self.url).await
    }

    pub async fn publisher_by(&self, url: &str) -> impl Publish + use<K, B> {
        Counted { publisher: K::publisher(url).await, counts: self.counts.clone() }
    }

    /// Relays, each with a publisher of its own.
    pub async fn relays(&self, count: usize, outbox: Outbox) -> Relays {
        let (stop, mut tasks) = (watch::Sender::new(false), Vec::new());
        for _ in 0..count {
            let (outbox, pool, publisher) = (outbox.clone(), self.db.pool.clone(), self.publisher().await);
            let mut stopped = stop.subscribe();
            tasks.push(tokio::spawn(async move {
                let stop = async { drop(stopped.wait_for(|stop| *stop).await) };
                outbox.relay(&pool, stop, publisher).await;
            }));
        }
        Relays { stop, tasks }
    }

    pub fn receiving(&self) -> Receiving {
        let (url, points): (String, SqlitePool) = (self.url.clone(), self.points.pool.clone());
        Receiving(tokio::spawn(async move { K::receive(&url, &points).await }))
    }

    pub async fn unsent(&self) -> u64 {
        outbox().backlog(&self.db.pool).await.unwrap().unsent
    }

    /// Waits until every event is marked as sent.
    pub async fn all_sent(&self) {
        let since = Instant::now();
        while self.unsent().await > 0 {
            if since.elapsed() > LIMIT {
                let notes = "SELECT note FROM onward_outbox WHERE done_at IS NULL ORDER BY note DESC";
                panic!("{} are not sent, {}", self.unsent().await, self.db.text(notes).await);
            }
            sleep(SOON).await;
        }
    }

    /// Waits until the receiver has done all it was given, as far as it can be seen from its work.
    async fn all_received(&self) {
        let since = Instant::now();
        let credited = "SELECT COUNT(DISTINCT event_id) FROM points";
        while self.points.number(credited).await < i64::try_from(self.written.len()).unwrap()
            || !K::is_idle(&self.points.pool).await
        {
            assert!(since.elapsed() < LIMIT, "{} are credited", self.points.number(credited).await);
            sleep(SOON).await;
        }
    }

    /// Every event is at the broker, in order per key, and was worked on once. Says what was found, and gives the number
    /// of messages that the broker has twice.
    pub async fn check(mut self, interruptions: usize) -> usize {
        // What comes after all repeats: once this has arrived, they have.
        self.write(1, 1).await;
        let relays = self.relays(1, outbox()).await;
        let receiving = self.receiving();
        self.all_sent().await;
        self.all_received().await;
        relays.stop().await;
        drop(receiving);

        let (mut seen, mut last) = (BTreeSet::new(), BTreeMap::new());
        let (mut repeats, mut misplaced) = (0, 0);
        for kept in K::log(&self.url).await {
            assert_eq!(self.written.get(&kept.id), Some(&(kept.key.clone(), kept.payload.clone())));
            if !seen.insert(kept.id) {
                repeats += 1;
            } else if last.insert(kept.key, kept.payload.clone()).is_some_and(|last| last > kept.payload) {
                misplaced += 1;
            }
        }
        let lost = self.written.keys().filter(|id| !seen.contains(*id)).count();
        let effects = self.points.number("SELECT COUNT(*) FROM points").await;
        let right = "SELECT COUNT(*) FROM (SELECT event_id FROM points GROUP BY event_id, order_no, paid HAVING COUNT(*) = 1)";
        let right = self.points.number(right).await;
        println!(
            "{}/{} {}: events={} interruptions={interruptions} confirmed={} failed={} repeats={repeats} lost={lost} \
             misplaced={misplaced} effects={effects}",
            K::NAME,
            B::ENGINE,
            self.case,
            self.written.len(),
            *self.counts.confirmed.borrow(),
            *self.counts.failed.borrow(),
        );
        let events = i64::try_from(self.written.len()).unwrap();
        assert_eq!((lost, misplaced, effects, right), (0, 0, events, events));
        assert!(!K::DROPS_REPEATS || repeats == 0);
        repeats
    }
}

pub fn random(below: u64) -> u64 {
    RandomState::new().hash_one(0) % below
}
