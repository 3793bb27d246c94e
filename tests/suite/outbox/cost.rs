//! What it costs to relay an event beside many that are done, or that wait behind a poisonous one; beside the same in an
//! empty table, in the same run: `scripts/volume-cost`.

use super::{Published, many, outbox};
use crate::{
    db::{Db, Fixture},
    volume::{again, median, rounds, rows},
};
use onward::outbox::Status;
use std::time::{Duration, Instant};

const EVENTS: usize = 20;

measured_on_each_database!();

async fn measured<B: Db>(empty: Fixture<B>) {
    let finished = rows();
    let (done, waiting) = (empty.another(1).await, empty.another(1).await);
    for db in [&empty, &done, &waiting] {
        db.outbox(0).await;
    }
    done.run(&many::<B>(finished)).await;
    // A row of them behind one that a person has to look at, as relays leave it.
    waiting.run(&many::<B>(finished / 10)).await;
    let row = "UPDATE onward_outbox SET event_key = 'poison', status = 'pending', done_at = NULL";
    waiting.run(row).await;
    waiting.run("UPDATE onward_outbox SET status = 'needs_attention' WHERE id = 1").await;
    if B::ENGINE == "postgres" {
        // As the server does by itself before long; no relay leaves as many dead rows at once.
        for db in [&done, &waiting] {
            db.run("VACUUM ANALYZE onward_outbox").await;
        }
    }
    let mut ratios = [Vec::new(), Vec::new()];
    for n in 0..rounds() {
        let mut took = [Duration::ZERO; 3];
        for (place, db) in [&empty, &done, &waiting].into_iter().enumerate() {
            took[place] = round(db, n).await;
        }
        for (place, ratios) in ratios.iter_mut().enumerate() {
            ratios.push(took[place + 1].as_secs_f64() / took[0].as_secs_f64());
        }
    }
    let [done, waiting] = ratios.map(median);
    let engine = B::ENGINE;
    println!(
        "{engine}: relaying an event takes {done:.2} times as long beside {finished} that are done, and {waiting:.2} \
         times beside {} that wait",
        finished / 10
    );
    assert!(done < 1.5 && waiting < 1.5);
}

/// Relays some events of different keys: claimed, published nowhere, marked.
async fn round<B: Db>(db: &Fixture<B>, n: usize) -> Duration {
    for event in 0..EVENTS {
        db.written(&format!("key-{n}-{event}"), &["payload"]).await;
    }
    if B::ENGINE == "postgres" {
        // As the server does by itself before long.
        db.run("ANALYZE onward_outbox").await;
    }
    let (outbox, publish, pool) = (outbox(), Published::default().publisher(), again(db).await);
    let since = Instant::now();
    for _ in 0..EVENTS {
        assert_eq!(outbox.relay_next(&pool, &publish).await.unwrap(), Some(Status::Sent));
    }
    let took = since.elapsed();
    pool.close().await;
    took
}
