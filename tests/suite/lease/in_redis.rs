//! Leases in Redis: what it forgets, the numbers from the database make good.

use super::{Keeps, acquired, crash, is_taken};
use crate::{
    child::{self, Child},
    db::{Db, Fixture},
    lifecycles::{Orders as _, noon},
    servers::{self, Server},
    stores::Ground,
};
use onward::{
    ErrorKind,
    lease::{InRedis, Lease, Leases},
    redis::{Redis, redis::aio::MultiplexedConnection},
};
use sqlx::{Pool, Sqlite};
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};

impl Keeps for Redis {
    type Store = InRedis<Sqlite>;

    async fn keeper(ground: &Ground<Self>) -> (InRedis<Sqlite>, Box<dyn Send + Sync>) {
        let db = Sqlite::fresh(10).await;
        onward::migrate(&db.pool).await.unwrap();
        (InRedis::new(&ground.store, &db.pool), Box::new(db))
    }

    async fn expire(_: &Ground<Self>, name: &str) {
        let mut connection = connection(servers::redis().admin_url()).await;
        let keys = keys(&mut connection, &format!("*:lease:{name}")).await;
        assert_eq!(keys.len(), 1, "{keys:?}");
        let deleted: i64 = command("DEL").arg(&keys[0]).query_async(&mut connection).await.unwrap();
        assert_eq!(deleted, 1);
    }
}

fn command(name: &str) -> onward::redis::redis::Cmd {
    onward::redis::redis::cmd(name)
}

async fn connection(url: &str) -> MultiplexedConnection {
    let client = onward::redis::redis::Client::open(url).unwrap();
    client.get_multiplexed_async_connection().await.unwrap()
}

async fn keys(connection: &mut MultiplexedConnection, pattern: &str) -> Vec<String> {
    command("KEYS").arg(pattern).query_async(connection).await.unwrap()
}

/// A Redis of its own, and orders in a database.
struct Shop<B: Db> {
    server: Server,
    store: InRedis<B>,
    db: Fixture<B>,
}

impl<B: Db> Shop<B> {
    async fn open(db: Fixture<B>) -> Self {
        onward::migrate(&db.pool).await.unwrap();
        db.orders(4).await;
        let server = Server::redis().unwrap_or_else(|error| panic!("{error}"));
        let redis = Redis::connect(&server.url("0")).await.unwrap();
        Self { store: InRedis::new(&redis, &db.pool), server, db }
    }

    async fn pays(&self, id: i64, lease: &Lease) -> &'static str {
        let attempt = self.db.pending(id).await.pay(format!("T-{id}"), noon()).fenced(lease);
        attempt.apply(&self.db.pool).await.unwrap().as_str()
    }
}

macro_rules! with_numbers_from {
    ($($engine:ident: $db:ty = $feature:literal),*) => { $(
        #[cfg(feature = $feature)]
        mod $engine {
            use crate::db::Db as _;

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn restarted_empty() {
                super::restarted_empty(super::Shop::open(<$db>::fresh(10).await).await).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn halted() {
                super::halted(super::Shop::open(<$db>::fresh(10).await).await).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn killed_while_it_holds() {
                super::killed_while_it_holds(super::Shop::open(<$db>::fresh(10).await).await).await;
            }
        }
    )* };
}
with_numbers_from!(sqlite: sqlx::Sqlite = "sqlite", postgres: sqlx::Postgres = "postgres", mariadb: sqlx::MySql = "mysql");

/// Killed, and started again with nothing in it: two believe to hold it, and only the newer one can write.
async fn restarted_empty<B: Db>(mut shop: Shop<B>) {
    let leases = Leases::new(&shop.store).lasting(Duration::from_secs(12));
    let late = acquired(&leases, "charge").await;
    assert_eq!(shop.pays(1, &late).await, "applied");
    shop.server.kill().unwrap();
    shop.server.start_again().unwrap();
    let next = acquired(&leases, "charge").await;
    assert!(late.is_held() && next.is_held(), "both believe it");
    assert_eq!(shop.pays(2, &late).await, "fenced");
    assert_eq!(shop.pays(2, &next).await, "applied");
    assert_eq!(shop.pays(3, &late).await, "fenced");
    // The next renewal, after a third.
    timeout(Duration::from_secs(8), late.lost().cancelled()).await.unwrap();
    assert!(!late.is_held() && next.is_held());
    // It gives back what is not its own.
    late.release().await.unwrap();
    assert!(is_taken(&leases, "charge").await);
}

/// Halted for longer than the lease lasts: its holder knows before anybody else can have it, and cannot write afterwards.
async fn halted<B: Db>(mut shop: Shop<B>) {
    let lasting = Duration::from_secs(3);
    let leases = Leases::new(&shop.store).lasting(lasting);
    let late = acquired(&leases, "charge").await;
    shop.server.pause().unwrap();
    // Money is not moved on a guess.
    let since = Instant::now();
    let other = Leases::new(&shop.store);
    let asked = tokio::spawn(async move { other.acquire("another").await });
    timeout(lasting, late.lost().cancelled()).await.expect("told before its time is over");
    assert!(since.elapsed() < lasting && !late.is_held());
    sleep(lasting).await;
    shop.server.resume().unwrap();
    if let Err(error) = asked.await.unwrap() {
        assert!(matches!(error.kind(), ErrorKind::Database | ErrorKind::CommitUnknown), "{error:?}");
    }
    let next = leases.wait_for("charge", Duration::from_secs(20)).await.unwrap().unwrap();
    assert_eq!(shop.pays(1, &late).await, "fenced");
    assert_eq!(shop.pays(1, &next).await, "applied");
}

async fn killed_while_it_holds<B: Db>(shop: Shop<B>) {
    let told = format!("{} charge", shop.server.url("0"));
    let child = Child::start::<B>("lease::in_redis::child", &shop.db.url, &told);
    crash::taken_over(child, &Leases::new(&shop.store), "charge").await;
}

#[test]
#[ignore = "the process that the crash tests kill"]
fn child() {
    child::run::<Holder>();
}

struct Holder;

impl child::Work for Holder {
    async fn run<B: Db>(pool: Pool<B>, told: String) {
        let (url, name) = told.split_once(' ').unwrap();
        let redis = Redis::connect(url).await.unwrap();
        crash::hold(&InRedis::new(&redis, &pool), name).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_is_there() {
    let mut shop = Shop::open(Sqlite::fresh(4).await).await;
    let leases = Leases::new(&shop.store);
    shop.server.kill().unwrap();
    let since = Instant::now();
    let error = leases.acquire("charge").await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Database | ErrorKind::CommitUnknown), "{error:?}");
    assert!(since.elapsed() < Duration::from_secs(30), "{:?}", since.elapsed());
    shop.server.start_again().unwrap();
    let lease = leases.wait_for("charge", Duration::from_secs(20)).await;
    assert!(lease.unwrap().is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_numbers_no_lease() {
    let shop = Shop::open(Sqlite::fresh(4).await).await;
    shop.db.run("ALTER TABLE onward_lease RENAME TO away").await;
    let leases = Leases::new(&shop.store);
    assert_eq!(leases.acquire("charge").await.unwrap_err().kind(), ErrorKind::Database);
    shop.db.run("ALTER TABLE away RENAME TO onward_lease").await;
    assert!(!is_taken(&leases, "charge").await, "it was given back");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn numbers_of_that_name_alone() {
    let shop = Shop::open(Sqlite::fresh(4).await).await;
    let leases = Leases::new(&shop.store);
    let first = acquired(&leases, "charge").await;
    let _other = acquired(&leases, "refund").await;
    assert!(is_taken(&leases, "charge").await, "whoever does not get it draws no number");
    assert_eq!(shop.pays(1, &first).await, "applied");
    // None comes again, even where the table was emptied.
    let number = first.fence();
    first.release().await.unwrap();
    assert_eq!(shop.db.run("DELETE FROM onward_lease").await, 2);
    assert!(acquired(&leases, "charge").await.fence() > number);
}

/// Whoever got no reply, from Redis or from the database, asks again, and so learns that it was he.
#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reply_is_lost_at_each_message() {
    use crate::proxy::{Harm, Protocol, Proxy, Side, through};
    let shop = Shop::open(sqlx::Postgres::fresh(4).await).await;
    let (redis_url, direct) = (shop.server.url("0"), Leases::new(&shop.store));
    let mut struck = [0, 0];
    for (place, url) in [&redis_url, &shop.db.url].into_iter().enumerate() {
        let protocol = [Protocol::Redis, Protocol::Postgres][place];
        for (side, harm) in
            [(Side::Client, Harm::CutBefore), (Side::Client, Harm::CutAfter), (Side::Server, Harm::CutBefore)]
        {
            for n in 1..50 {
                let name = format!("{protocol:?} {harm:?} at message {n} of the {side:?}");
                let proxy = Proxy::before(url, protocol).await;
                let pool = match place {
                    0 => shop.db.pool.clone(),
                    _ => through(&proxy, url).await,
                };
                let at = if place == 0 { proxy.url(url) } else { redis_url.clone() };
                let leases = Leases::new(&InRedis::new(&Redis::connect(&at).await.unwrap(), &pool));
                // A name that is known, and statements that are prepared.
                acquired(&leases, &name).await.release().await.unwrap();
                proxy.arm(side, n, harm, 1);
                let lease = acquired(&leases, &name).await;
                let strikes = proxy.disarm();
                assert!(is_taken(&direct, &name).await, "{name}");
                let mut tx = onward::begin(&shop.db.pool).await.unwrap();
                lease.hold_in(&mut tx).await.unwrap();
                tx.commit().await.unwrap();
                lease.release().await.unwrap();
                assert!(!is_taken(&direct, &name).await, "{name}");
                struck[place] += strikes;
                if strikes == 0 {
                    break;
                }
            }
        }
    }
    assert!(struck.iter().all(|struck| *struck >= 3), "{struck:?}");
}

/// The time it takes to get a number is time of the lease.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_number_that_was_waited_for() {
    let mut shop = Shop::open(Sqlite::fresh(4).await).await;
    let asked = async |lasting: Duration, name: &'static str, waits: Duration| {
        let leases = Leases::new(&shop.store).lasting(lasting);
        acquired(&leases, name).await.release().await.unwrap();
        let mut tx = onward::begin(&shop.db.pool).await.unwrap();
        Sqlite::run(&mut tx, "UPDATE onward_lease SET held = held").await.unwrap();
        let sent = Instant::now();
        let asked = tokio::spawn(async move { leases.acquire(name).await.unwrap() });
        sleep(waits).await;
        assert!(!asked.is_finished(), "it did not wait");
        tx.rollback().await;
        (sent, asked.await.unwrap())
    };
    // Redis has given it up meanwhile, to whoever comes first.
    let (_, lease) = asked(Duration::from_millis(900), "brief", Duration::from_millis(1500)).await;
    assert!(lease.is_none());

    let lasting = Duration::from_secs(6);
    let (sent, lease) = asked(lasting, "charge", Duration::from_millis(1500)).await;
    let lease = lease.unwrap();
    shop.server.kill().unwrap();
    timeout(lasting - sent.elapsed(), lease.lost().cancelled()).await.expect("told before its time is over");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_key_expires() {
    let shop = Shop::open(Sqlite::fresh(4).await).await;
    let leases = Leases::new(&shop.store).lasting(Duration::from_secs(3));
    let mut connection = connection(&shop.server.url("0")).await;
    let _held = [acquired(&leases, "one").await, acquired(&leases, "two").await];
    assert!(is_taken(&leases, "one").await);
    for _ in 0..2 {
        let mut keys = keys(&mut connection, "*").await;
        keys.sort_unstable();
        assert_eq!(keys, ["onward:lease:one", "onward:lease:two"]);
        for key in keys {
            let left: i64 = command("PTTL").arg(&key).query_async(&mut connection).await.unwrap();
            assert!((1..=3000).contains(&left), "{key}: {left} ms");
        }
        // Renewed meanwhile.
        sleep(Duration::from_millis(3500)).await;
    }
}
