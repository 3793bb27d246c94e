//! The broker is stopped or killed while relays work on a backlog, and started again.

use crate::{
    broker::Broker,
    db::Db,
    servers::Server,
    shop::{Shop, outbox, random, reached},
};
use std::{env, time::Duration};
use tokio::{task::block_in_place, time::sleep};

with_every_broker![stopped_amid_a_backlog, killed_amid_a_backlog];

/// How often in one test; `ONWARD_BROKER_STOPS` is another number.
const STOPS: usize = 3;
const KEYS: usize = 10;
const EACH: usize = 20;

async fn stopped_amid_a_backlog<K: Broker, B: Db>(shop: Shop<K, B>) {
    interrupted(shop, Server::stop).await;
}

async fn killed_amid_a_backlog<K: Broker, B: Db>(shop: Shop<K, B>) {
    interrupted(shop, Server::kill).await;
}

async fn interrupted<K: Broker, B: Db>(mut shop: Shop<K, B>, how: fn(&mut Server) -> Result<(), String>) {
    let stops = env::var("ONWARD_BROKER_STOPS").map_or(STOPS, |stops| stops.parse().unwrap());
    K::prepare(&shop.url).await;
    shop.write(KEYS, EACH * stops).await;
    let relays = shop.relays(2, outbox()).await;
    let receiving = shop.receiving();
    for stop in 0..stops {
        // Half of what a stop has, so that there is something left to send.
        reached(&shop.counts.confirmed, KEYS * EACH * stop + KEYS * EACH / 2).await;
        sleep(Duration::from_micros(random(3_000))).await;
        let failed = *shop.counts.failed.borrow();
        block_in_place(|| how(&mut shop.server)).unwrap();
        let left = shop.unsent().await;
        assert!(left > 0, "it came too late");
        // The relays go on, and get nowhere.
        reached(&shop.counts.failed, failed + KEYS).await;
        shop.start();
    }
    shop.all_sent().await;
    relays.stop().await;
    drop(receiving);
    shop.check(stops).await;
}
