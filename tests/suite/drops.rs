//! Futures of every entry point dropped anywhere: no connection of the pool may be left inside a transaction or in
//! the middle of the protocol, and no row may be left halfway.

mod moment;

use crate::{
    db::{Db, Fixture},
    lifecycles::{AnyOrder, ORDERS, Order, Pending, noon, row},
};
use moment::{Moment, Random};
use onward::{BoxError, Outcome, Policy};
use sqlx::{Connection as _, Pool, pool::PoolOptions};
use std::{
    env,
    hash::{BuildHasher as _, RandomState},
    time::{Duration, Instant},
};
use tokio::time::timeout;

/// How many futures are dropped on each database; `ONWARD_DROPS` is another number. On a cluster, which is slower to
/// commit, a third of them.
const DROPS: u64 = 600;
/// All is looked at after this many.
const ROUND: i64 = 50;
/// Keys of new rows are those of the old ones and this.
const NEW: i64 = 1_000_000_000;
const LIMIT: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    Find,
    Load,
    List,
    Lock,
    Create,
    Pay,
    Cancel,
    Commit,
    Rollback,
    ApplyWith,
    ApplyIn,
    Amend,
    Begin,
}

const ENTRIES: [Entry; 13] = [
    Entry::Find,
    Entry::Load,
    Entry::List,
    Entry::Lock,
    Entry::Create,
    Entry::Pay,
    Entry::Cancel,
    Entry::Commit,
    Entry::Rollback,
    Entry::ApplyWith,
    Entry::ApplyIn,
    Entry::Amend,
    Entry::Begin,
];

impl Entry {
    async fn run<B: Db>(self, order: Order<Pending>, pool: Pool<B>) -> Result<(), BoxError> {
        let (id, pool) = (order.id, &pool);
        let pay = |order: Order<Pending>| order.pay(format!("T-{id}"), noon());
        let effect = format!("INSERT INTO effects VALUES ({id}, 'mail')");
        match self {
            Entry::Find => drop(AnyOrder::find(pool, id).await?.ok_or("the row is gone")?),
            Entry::Load => drop(Order::<Pending>::load(pool, id).await?),
            Entry::List => drop(Order::<Pending>::list(pool, None, 5).await?),
            Entry::Lock => {
                let mut tx = onward::begin(pool).await?;
                AnyOrder::lock(&mut tx, id).await?.ok_or("the row is gone")?;
                tx.rollback().await;
            }
            Entry::Create => drop(Order::create(row(NEW + id)).apply(pool).await?.applied()?),
            Entry::Pay => drop(pay(order).apply(pool).await?.applied()?),
            Entry::Cancel => drop(order.cancel().apply(pool).await?.applied()?),
            Entry::Commit | Entry::Rollback => {
                let Outcome::Applied(mut won) = pay(order).begin(pool).await? else {
                    return Err("lost to nobody".into());
                };
                B::run(won.parts().0, &effect).await?;
                match self {
                    Entry::Commit => drop(won.commit().await?),
                    _ => drop(won.rollback().await?),
                }
            }
            Entry::ApplyWith => {
                let work = async move |tx: &mut B::Connection, _: &_| B::run(tx, &effect).await.map(drop);
                drop(pay(order).apply_with(pool, work).await?.applied()?);
            }
            Entry::ApplyIn => {
                let mut tx = onward::begin(pool).await?;
                let paid = pay(order).apply_in(&mut tx).await?.applied()?;
                B::run(&mut tx, &effect).await?;
                tx.commit().await?;
                drop(paid.committed());
            }
            Entry::Amend => {
                let amended = order.amend(|row| row.amount_cents += 10).policy(Policy::retry(3));
                drop(amended.apply(pool).await?.applied()?);
            }
            Entry::Begin => drop(onward::begin(pool).await?),
        }
        Ok(())
    }

    /// State, version, amount and number of effects of its row once it has taken effect.
    fn after(self) -> &'static str {
        match self {
            Entry::Pay => "paid:1 500 0",
            Entry::Commit | Entry::ApplyWith | Entry::ApplyIn => "paid:1 500 1",
            Entry::Cancel => "cancelled:1 500 0",
            Entry::Amend => "pending:1 510 0",
            _ => BEFORE,
        }
    }
}

const BEFORE: &str = "pending:0 500 0";

/// What was tried on a row.
struct Tried {
    id: i64,
    entry: Entry,
    moment: Moment,
    finished: bool,
}

impl std::fmt::Display for Tried {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let done = if self.finished { "finished before" } else { "dropped at" };
        write!(f, "{}: {:?} {done} {:?}", self.id, self.entry, self.moment)
    }
}

struct Ground<B: Db> {
    db: Fixture<B>,
    /// The pool on which futures are dropped; looked at from outside of it.
    pool: Pool<B>,
    connections: u32,
    tried: Vec<Tried>,
    probes: i64,
}

impl<B: Db> Ground<B> {
    async fn new(db: Fixture<B>, connections: u32) -> Self {
        db.run(ORDERS).await;
        db.run("CREATE INDEX effects_of ON effects (order_id)").await;
        // The options of the fixture, a WAL file among them.
        let options = PoolOptions::new().max_connections(connections).acquire_timeout(LIMIT);
        let pool = options.connect_with((*db.pool.connect_options()).clone()).await.unwrap();
        Self { db, pool, connections, tried: Vec::new(), probes: 0 }
    }

    /// Drops up to one future for each of some new rows, a few at the same time; returns how many were dropped.
    async fn round(&mut self, random: &mut Random) -> u64 {
        let first = i64::try_from(self.tried.len()).unwrap() + 1;
        let rows: Vec<String> =
            (first..first + ROUND).map(|id| format!("({id}, 'N-{id}', 7, 500, 'pending', 0)")).collect();
        let columns = "id, order_no, cust_no, amount_cents, state, lock_version";
        self.db.run(&format!("INSERT INTO orders ({columns}) VALUES {}", rows.join(", "))).await;
        let page = Order::<Pending>::list(&self.db.pool, Some(first - 1), ROUND as u32).await.unwrap();
        let mut orders = page.rows.into_iter().map(Result::unwrap).peekable();
        let mut dropped = 0;
        while orders.peek().is_some() {
            // More than a pool of one has connections for, so that waiting for one is given up, too.
            let at_once = 1 + random.below(u64::from(self.connections.min(4)) + 1);
            let mut tasks = Vec::new();
            for order in orders.by_ref().take(at_once as usize) {
                let entry = ENTRIES[random.below(ENTRIES.len() as u64) as usize];
                let (id, moment, pool) = (order.id, random.moment(), self.pool.clone());
                let task = tokio::spawn(async move { moment.cut(Box::pin(entry.run(order, pool))).await });
                tasks.push((Tried { id, entry, moment, finished: false }, task));
            }
            for (mut tried, task) in tasks {
                match task.await.unwrap() {
                    None => dropped += 1,
                    Some(Ok(())) => tried.finished = true,
                    Some(Err(error)) => panic!("{tried}: {error:?}"),
                }
                self.tried.push(tried);
            }
        }
        dropped
    }

    /// Each connection of the pool must write for good: seen from outside as soon as it is answered.
    async fn every_connection_works(&mut self) {
        let mut held = Vec::new();
        for _ in 0..self.connections {
            let acquired = timeout(LIMIT, self.pool.acquire()).await;
            held.push(acquired.expect("the pool hangs").expect("the pool is broken"));
        }
        for connection in &mut held {
            if B::ENGINE == "mariadb" {
                let sql = "SELECT CAST(@@autocommit AS SIGNED) * 10 + CAST(@@in_transaction AS SIGNED)";
                let modes = B::numbers(connection, sql).await.unwrap();
                assert_eq!(modes, [10], "a connection with autocommit off, or inside a transaction");
            }
            let write = B::run(connection, "INSERT INTO effects VALUES (0, 'probe')");
            timeout(LIMIT, write).await.expect("a connection hangs").expect("a connection is broken");
            self.probes += 1;
            let seen = self.db.number("SELECT COUNT(*) FROM effects WHERE order_id = 0").await;
            assert_eq!(seen, self.probes, "a write on a connection of the pool is not there");
        }
    }

    /// Servers take a moment to notice that a client has gone.
    async fn no_transaction_is_open(&self) {
        let since = Instant::now();
        for node in &self.db.nodes {
            while !Self::nothing_is_open(node).await {
                assert!(since.elapsed() < Duration::from_secs(20), "a transaction stays open");
                // MariaDB renews its list of transactions only when nobody has read it for 100 ms, and others read it
                // too.
                let uneven = u64::from(since.elapsed().subsec_micros() % 100);
                tokio::time::sleep(Duration::from_millis(110 + uneven)).await;
            }
        }
    }

    async fn nothing_is_open(node: &str) -> bool {
        let mut direct = B::Connection::connect(node).await.unwrap();
        let nothing = match B::ENGINE {
            "postgres" => {
                let sql = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database()
                    AND backend_type = 'client backend' AND xact_start IS NOT NULL AND pid <> pg_backend_pid()";
                B::numbers(&mut direct, sql).await.unwrap() == [0]
            }
            "mariadb" => {
                B::run(&mut direct, "START TRANSACTION WITH CONSISTENT SNAPSHOT").await.unwrap();
                let sql = "SELECT CAST(id = CONNECTION_ID() AS SIGNED) FROM information_schema.innodb_trx
                    JOIN information_schema.processlist ON id = trx_mysql_thread_id WHERE db = DATABASE()";
                // Its own, which proves that the list is new, and no other.
                B::numbers(&mut direct, sql).await.unwrap() == [1]
            }
            _ => {
                B::run(&mut direct, "PRAGMA busy_timeout = 0").await.unwrap();
                B::run(&mut direct, "BEGIN IMMEDIATE; ROLLBACK").await.is_ok()
            }
        };
        direct.close().await.unwrap();
        nothing
    }

    /// Each row is as it was or was moved once, and has its effect if it was.
    async fn rows_are_whole(&self, from: usize) {
        let tried = &self.tried[from..];
        let Some(first) = tried.first() else { return };
        let sql = format!(
            "SELECT CONCAT(state, ':', lock_version, ' ', amount_cents, ' ',
                (SELECT COUNT(*) FROM effects WHERE order_id = id)) FROM orders WHERE id BETWEEN {} AND {} ORDER BY id",
            first.id, NEW
        );
        let mut direct = self.db.pool.acquire().await.unwrap();
        let found = B::texts(&mut direct, &sql).await.unwrap();
        assert_eq!(found.len(), tried.len());
        let created =
            B::numbers(&mut direct, &format!("SELECT id FROM orders WHERE id > {NEW}")).await.unwrap();
        for (tried, found) in tried.iter().zip(found) {
            let unmoved = found == BEFORE && !tried.finished;
            assert!(unmoved || found == tried.entry.after(), "{tried}: {found}");
            let new = created.contains(&(NEW + tried.id));
            assert!(!new || tried.entry == Entry::Create, "{tried}: a row is there");
            assert!(new || !tried.finished || tried.entry != Entry::Create, "{tried}: no row is there");
        }
    }
}

async fn drops<B: Db>(db: Fixture<B>, connections: u32) {
    let number = |name: &str| env::var(name).ok().map(|value| value.parse::<u64>().unwrap());
    // Half of them on a pool of one, half on a pool of ten.
    let usual = DROPS / db.nodes.len() as u64;
    let wanted = number("ONWARD_DROPS").unwrap_or(usual).div_ceil(2);
    let seed = number("ONWARD_DROPS_SEED").unwrap_or_else(|| RandomState::new().hash_one(0)) | 1;
    let begun = Instant::now();
    println!("ONWARD_DROPS_SEED={seed}");
    let mut random = Random(seed);
    let mut ground = Ground::new(db, connections).await;
    let mut dropped = 0;
    while dropped < wanted {
        let from = ground.tried.len();
        dropped += ground.round(&mut random).await;
        ground.every_connection_works().await;
        ground.no_transaction_is_open().await;
        ground.rows_are_whole(from).await;
    }
    // What a server did late would have been done by now.
    ground.rows_are_whole(0).await;
    let tried = ground.tried.len();
    println!("{} of {connections}: {dropped} dropped of {tried} in {:?}", B::ENGINE, begun.elapsed());
}

async fn on_a_pool_of_one<B: Db>(db: Fixture<B>) {
    drops(db, 1).await;
}

async fn on_a_pool_of_ten<B: Db>(db: Fixture<B>) {
    drops(db, 10).await;
}

on_every_database!(on_a_pool_of_one, on_a_pool_of_ten);
