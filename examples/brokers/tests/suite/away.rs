//! The broker is away from the start: events wait, their attempts are counted, nothing is lost.

use crate::{
    broker::Broker,
    db::Db,
    shop::{SOON, Shop, outbox, reached},
};
use onward::{Policy, outbox::Status};
use tokio::{task::block_in_place, time::sleep};

with_every_broker![they_wait, after_the_last_attempt_a_person_decides];

const KEYS: usize = 5;
const EACH: usize = 4;

async fn they_wait<K: Broker, B: Db>(mut shop: Shop<K, B>) {
    K::prepare(&shop.url).await;
    block_in_place(|| shop.server.stop()).unwrap();
    shop.write(KEYS, EACH).await;
    let relays = shop.relays(2, outbox()).await;
    let receiving = shop.receiving();
    reached(&shop.counts.failed, KEYS * 4).await;
    let backlog = outbox().backlog(&shop.db.pool).await.unwrap();
    assert_eq!((backlog.unsent, backlog.needs_attention), ((KEYS * EACH) as u64, 0));
    // Those that can be sent were tried, those behind them were not.
    let tried = shop.db.number("SELECT COUNT(*) FROM onward_outbox WHERE attempts > 0").await;
    assert_eq!(tried, KEYS as i64);
    shop.start();
    shop.all_sent().await;
    relays.stop().await;
    drop(receiving);
    assert_eq!(shop.check(1).await, 0);
}

async fn after_the_last_attempt_a_person_decides<K: Broker, B: Db>(mut shop: Shop<K, B>) {
    K::prepare(&shop.url).await;
    block_in_place(|| shop.server.stop()).unwrap();
    shop.write(KEYS, EACH).await;
    let impatient = outbox().policy(Policy::retry(3).delays(SOON, SOON));
    let relays = shop.relays(2, impatient).await;
    while outbox().backlog(&shop.db.pool).await.unwrap().needs_attention < KEYS as u64 {
        sleep(SOON).await;
    }
    shop.start();
    // Nothing is sent by itself any more, and nothing is lost.
    sleep(SOON * 20).await;
    relays.stop().await;
    assert_eq!((shop.unsent().await, *shop.counts.begun.borrow()), ((KEYS * EACH) as u64, KEYS * 3));
    let page = outbox().needs_attention(&shop.db.pool, None, 100).await.unwrap();
    assert_eq!(page.rows.len(), KEYS);
    for entry in page.rows {
        let entry = entry.unwrap();
        assert_eq!((entry.status, entry.attempts), (Status::NeedsAttention, 3));
        assert!(entry.note.is_some_and(|note| !note.is_empty()));
        outbox().give_back(&shop.db.pool, entry.id).await.unwrap();
    }
    assert_eq!(shop.check(1).await, 0);
}
