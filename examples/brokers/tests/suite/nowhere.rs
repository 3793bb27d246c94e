//! What no queue and no stream takes is not taken for sent.

use crate::{
    broker::Broker,
    db::Db,
    shop::{SOON, Shop, outbox},
};
use onward::{Policy, outbox::Status};
use tokio::time::sleep;

with_every_broker![nobody_takes_it];

async fn nobody_takes_it<K: Broker, B: Db>(mut shop: Shop<K, B>) {
    shop.write(1, 2).await;
    let publisher = shop.publisher().await;
    let impatient = outbox().policy(Policy::retry(2).delays(SOON, SOON));
    let mut statuses = Vec::new();
    while !matches!(statuses.last(), Some(Status::NeedsAttention | Status::Sent)) {
        statuses.extend(impatient.relay_next(&shop.db.pool, &publisher).await.unwrap());
        sleep(SOON).await;
    }
    assert_eq!(statuses, [Status::Failed, Status::NeedsAttention]);
    let page = outbox().needs_attention(&shop.db.pool, None, 9).await.unwrap();
    let entry = page.rows[0].as_ref().unwrap();
    let note = entry.note.as_deref().unwrap();
    assert!(note.contains("NO_ROUTE") || note.contains("no stream found"), "{note}");
    K::prepare(&shop.url).await;
    outbox().give_back(&shop.db.pool, entry.id).await.unwrap();
    assert_eq!(shop.check(0).await, 0);
}
