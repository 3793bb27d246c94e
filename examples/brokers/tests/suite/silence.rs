//! A publication whose confirmation does not come: the broker has it or not, and nobody can tell.

use crate::{
    broker::Broker,
    db::Db,
    proxy::Proxy,
    shop::{SOON, Shop, outbox, reached},
};
use onward::outbox::Status;
use std::time::Duration;
use tokio::{
    task::block_in_place,
    time::{sleep, timeout},
};

with_every_broker![the_confirmation_is_lost, killed_while_it_is_awaited, a_broker_that_hangs];

/// The broker has the message, and the connection is cut before it can say so.
async fn the_confirmation_is_lost<K: Broker, B: Db>(mut shop: Shop<K, B>) {
    const CUTS: usize = 3;
    K::prepare(&shop.url).await;
    let (host, port) = shop.url.rsplit_once(':').unwrap();
    let proxy = Proxy::before(port.parse().unwrap()).await;
    let publisher = shop.publisher_by(&format!("{host}:{}", proxy.port)).await;
    let receiving = shop.receiving();
    for _ in 0..CUTS {
        shop.write(1, 2).await;
        while shop.unsent().await > 1 {
            // Until the client is there again
            let _ = outbox().relay_next(&shop.db.pool, &publisher).await.unwrap();
            sleep(SOON).await;
        }
        proxy.withhold();
        let arrived = shop.points.number("SELECT COUNT(*) FROM points").await;
        let cut = async {
            while shop.points.number("SELECT COUNT(*) FROM points").await < arrived.max(1) + 1 {
                sleep(SOON).await;
            }
            proxy.cut();
        };
        let outbox = outbox();
        let (relayed, ()) = tokio::join!(outbox.relay_next(&shop.db.pool, &publisher), cut);
        assert_eq!(relayed.unwrap(), Some(Status::Failed));
        let again = async {
            while shop.unsent().await > 0 {
                let _ = outbox.relay_next(&shop.db.pool, &publisher).await.unwrap();
                sleep(SOON).await;
            }
        };
        timeout(Duration::from_secs(30), again).await.unwrap();
    }
    drop(receiving);
    let repeats = shop.check(CUTS).await;
    assert_eq!(repeats, if K::DROPS_REPEATS { 0 } else { CUTS });
}

/// Halted with the message in its hands, and killed.
async fn killed_while_it_is_awaited<K: Broker, B: Db>(mut shop: Shop<K, B>) {
    K::prepare(&shop.url).await;
    shop.write(2, 1).await;
    let (publisher, outbox) = (shop.publisher().await, outbox());
    while shop.unsent().await > 1 {
        let _ = outbox.relay_next(&shop.db.pool, &publisher).await.unwrap();
    }
    block_in_place(|| shop.server.pause()).unwrap();
    let begun = *shop.counts.begun.borrow();
    let pool = shop.db.pool.clone();
    let relayed = tokio::spawn(async move { outbox.relay_next(&pool, &publisher).await });
    reached(&shop.counts.begun, begun + 1).await;
    sleep(SOON).await;
    block_in_place(|| shop.server.kill()).unwrap();
    assert_eq!(relayed.await.unwrap().unwrap(), Some(Status::Failed));
    shop.start();
    shop.check(1).await;
}

/// The connection stays, nobody answers, and later all comes through at once.
async fn a_broker_that_hangs<K: Broker, B: Db>(mut shop: Shop<K, B>) {
    K::prepare(&shop.url).await;
    shop.write(4, 10).await;
    let relays = shop.relays(2, outbox().claim_for(Duration::from_millis(400))).await;
    let receiving = shop.receiving();
    reached(&shop.counts.confirmed, 10).await;
    block_in_place(|| shop.server.pause()).unwrap();
    let late = "SELECT COUNT(*) FROM onward_outbox WHERE note LIKE '%took longer%'";
    let given_up = async {
        while shop.db.number(late).await < 4 {
            sleep(SOON).await;
        }
    };
    timeout(Duration::from_secs(30), given_up).await.expect("publishers wait forever");
    block_in_place(|| shop.server.resume()).unwrap();
    shop.all_sent().await;
    relays.stop().await;
    drop(receiving);
    shop.check(1).await;
}
