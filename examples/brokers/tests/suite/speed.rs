//! What publishing costs in times of the outbox's own work: `scripts/broker-test --ignored speed`.

use crate::{
    broker::Broker,
    db::Db,
    shop::{Shop, outbox},
};
use onward::{
    BoxError,
    outbox::{Delivery, Publish},
};
use std::time::Instant;

const ROUNDS: usize = 9;
const EVENTS: usize = 100;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement"]
async fn rabbitmq() {
    measured(Shop::<crate::rabbitmq::Rabbit, sqlx::Sqlite>::open("speed").await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement"]
async fn nats() {
    measured(Shop::<crate::nats::JetStream, sqlx::Sqlite>::open("speed").await).await;
}

async fn measured<K: Broker, B: Db>(mut shop: Shop<K, B>) {
    K::prepare(&shop.url).await;
    let nowhere = async |_: Delivery| Ok::<_, BoxError>(());
    let publisher = K::publisher(&shop.url).await;
    let (mut ratios, mut rates) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let own = a_second(&mut shop, &nowhere).await;
        let published = a_second(&mut shop, &publisher).await;
        ratios.push(own / published);
        rates.push(published);
    }
    ratios.sort_by(f64::total_cmp);
    rates.sort_by(f64::total_cmp);
    let (ratio, rate) = (ratios[ROUNDS / 2], rates[ROUNDS / 2]);
    println!(
        "{}: one relay takes {ratio:.2} times as long as without a broker, {rate:.0} events a second",
        K::NAME
    );
}

/// How many events, each of a key of its own, one relay publishes in a second.
async fn a_second<K: Broker, B: Db>(shop: &mut Shop<K, B>, publisher: &impl Publish) -> f64 {
    shop.write(EVENTS, 1).await;
    let (outbox, since) = (outbox(), Instant::now());
    while outbox.relay_next(&shop.db.pool, publisher).await.unwrap().is_some() {}
    EVENTS as f64 / since.elapsed().as_secs_f64()
}
