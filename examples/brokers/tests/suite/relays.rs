//! The relay is stopped while it publishes, or its process is killed between a publication and its mark.

use crate::{
    broker::Broker,
    db::Db,
    shop::{Shop, outbox, random, reached},
};
use onward::outbox::{Delivery, Publish};
use std::{
    env,
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::Duration,
};
use tokio::task::spawn_blocking;

with_every_broker![stopped_while_it_publishes, killed_between_publication_and_mark];

/// In the child: `<broker> <engine> <publications> <broker's URL> <database's URL>`.
const CHILD: &str = "ONWARD_BROKER_CHILD";

async fn stopped_while_it_publishes<K: Broker, B: Db>(mut shop: Shop<K, B>) {
    const STOPS: usize = 10;
    K::prepare(&shop.url).await;
    shop.write(5, 4 * STOPS).await;
    for _ in 0..STOPS {
        let begun = *shop.counts.begun.borrow();
        let relays = shop.relays(2, outbox()).await;
        reached(&shop.counts.begun, begun + 5 + random(5) as usize).await;
        relays.stop().await;
        // The event at hand was finished.
        let sent = shop.db.number("SELECT COUNT(*) FROM onward_outbox WHERE status = 'sent'").await;
        let claimed = shop.db.number("SELECT COUNT(*) FROM onward_outbox WHERE status = 'claimed'").await;
        let counts = &shop.counts;
        assert_eq!((sent, claimed), (*counts.confirmed.borrow() as i64, 0));
        assert_eq!(*counts.begun.borrow(), *counts.confirmed.borrow() + *counts.failed.borrow());
    }
    assert!(shop.unsent().await > 0, "it came too late");
    assert_eq!(shop.check(STOPS).await, 0);
}

/// Two processes at once, killed with `kill -9` when they hold a confirmation that they have not marked yet.
async fn killed_between_publication_and_mark<K: Broker, B: Db>(mut shop: Shop<K, B>) {
    const ROUNDS: usize = 5;
    K::prepare(&shop.url).await;
    shop.write(10, 4 * ROUNDS).await;
    let receiving = shop.receiving();
    for _ in 0..ROUNDS {
        let killed = [(); 2].map(|()| {
            let publications = 1 + random(12);
            let told = format!("{} {} {publications} {} {}", K::NAME, B::ENGINE, shop.url, shop.db.url);
            spawn_blocking(move || killed(start(&told)))
        });
        for killed in killed {
            killed.await.unwrap();
        }
    }
    let claimed = shop.db.number("SELECT COUNT(*) FROM onward_outbox WHERE status = 'claimed'").await;
    assert!(claimed > 0 && shop.unsent().await > 10, "{claimed}");
    drop(receiving);
    let pool = shop.db.pool.clone();
    let repeats = shop.check(2 * ROUNDS).await;
    // One more attempt for each kill; the same event can be hit again.
    let again = "SELECT CAST(SUM(attempts - 1) AS BIGINT) FROM onward_outbox";
    let mut connection = pool.acquire().await.unwrap();
    assert_eq!(B::numbers(&mut connection, again).await.unwrap(), [2 * ROUNDS as i64]);
    assert_eq!(repeats, if K::DROPS_REPEATS { 0 } else { 2 * ROUNDS });
}

fn start(told: &str) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "relays::child", "--ignored", "--nocapture"])
        .env(CHILD, told)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

fn killed(mut child: Child) {
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let published = lines.by_ref().any(|line| line.unwrap().contains("published, and not marked"));
    assert!(published, "it ended by itself: {:?}", child.wait());
    child.kill().unwrap();
    assert!(!child.wait().unwrap().success());
}

#[test]
#[ignore = "the process that is killed"]
fn child() {
    let Ok(told) = env::var(CHILD) else { panic!("only the test starts this") };
    let words: Vec<&str> = told.splitn(5, ' ').collect();
    let [broker, engine, publications, url, database] = words[..] else { panic!("{told}?") };
    let publications = publications.parse().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        match broker {
            "rabbitmq" => {
                relay_on(engine, publications, crate::rabbitmq::Rabbit::publisher(url).await, database).await
            }
            "nats" | "forgetful" => {
                relay_on(engine, publications, crate::nats::JetStream::publisher(url).await, database).await
            }
            other => panic!("{other}?"),
        }
    });
}

async fn relay_on(engine: &str, publications: usize, publisher: impl Publish, database: &str) {
    match engine {
        "sqlite" => relay::<sqlx::Sqlite>(publications, publisher, &format!("{database}?mode=rw")).await,
        #[cfg(feature = "postgres")]
        "postgres" => relay::<sqlx::Postgres>(publications, publisher, database).await,
        other => panic!("{other}?"),
    }
}

/// Relays until this many events are published, and goes no further with the last of them.
async fn relay<B: Db>(publications: usize, publisher: impl Publish, database: &str) {
    let pool = sqlx::Pool::<B>::connect(database).await.unwrap();
    let count = AtomicUsize::new(0);
    let (count, publisher) = (&count, &publisher);
    let publish = async |event: Delivery| {
        publisher.publish(event).await?;
        if count.fetch_add(1, Relaxed) + 1 == publications {
            println!("published, and not marked");
            std::future::pending::<()>().await;
        }
        Ok::<_, onward::BoxError>(())
    };
    let short = outbox().claim_for(Duration::from_secs(4));
    short.relay(&pool, std::future::pending(), publish).await;
}
