//! Relays: killed, late, stopped, dropped and woken.

use super::{Published, SHORT, outbox};
use crate::db::{Db, Fixture};
use onward::{
    BoxError, Policy,
    outbox::{Delivery, Status},
};
use std::{
    collections::HashSet,
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio::{sync::watch, time::sleep};

on_every_database![
    killed_between_claim_and_publish,
    killed_between_publish_and_mark,
    one_that_kills_its_relays_ends_with_a_person,
    a_publisher_that_takes_too_long,
    a_late_original_marks_nothing,
    one_that_is_held_up_before_it_publishes,
    tried_again_after_a_delay,
    stopped_gracefully,
    woken,
    found_without_being_woken,
    dropped_anywhere,
];

/// Relays one event until its publisher is there, and ends in the middle of it, as a kill would.
pub async fn killed<B: Db>(db: &Fixture<B>, published: Option<&Published>) {
    let (begun, mut has_begun) = watch::channel(false);
    let (pool, published) = (db.pool.clone(), published.cloned());
    let relay = tokio::spawn(async move {
        let publish = |delivery: Delivery| {
            if let Some(published) = &published {
                published.push(&delivery);
            }
            begun.send_replace(true);
            pending::<Result<(), BoxError>>()
        };
        outbox().relay(&pool, pending(), publish).await;
    });
    has_begun.wait_for(|begun| *begun).await.unwrap();
    relay.abort();
    assert!(relay.await.unwrap_err().is_cancelled());
}

async fn killed_between_claim_and_publish<B: Db>(db: Fixture<B>) {
    db.outbox(0).await;
    let ids = db.written("key", &["event"]).await;
    killed(&db, None).await;
    let published = Published::default();
    assert_eq!(db.relayed(&published.publisher()).await, []);
    db.make_due().await;
    assert_eq!(db.relayed(&published.publisher()).await, [Status::Sent]);
    assert_eq!(published.all(), [(ids[0].clone(), "key".into(), "event".into())]);
}

async fn killed_between_publish_and_mark<B: Db>(db: Fixture<B>) {
    db.outbox(0).await;
    let ids = db.written("key", &["first", "second"]).await;
    let published = Published::default();
    killed(&db, Some(&published)).await;
    // The next one of its key waits, although the first has been seen.
    assert_eq!(db.relayed(&published.publisher()).await, []);
    db.make_due().await;
    assert_eq!(db.relayed(&published.publisher()).await, [Status::Sent; 2]);
    let sent: Vec<String> = published.all().into_iter().map(|(id, ..)| id).collect();
    assert_eq!(sent, [&*ids[0], &*ids[0], &*ids[1]]);
}

async fn one_that_kills_its_relays_ends_with_a_person<B: Db>(db: Fixture<B>) {
    db.outbox(0).await;
    db.written("key", &["event"]).await;
    for _ in 0..3 {
        killed(&db, None).await;
        db.make_due().await;
    }
    assert_eq!(db.relayed(&Published::default().publisher()).await, []);
    let page = outbox().needs_attention(&db.pool, None, 9).await.unwrap();
    let entry = page.rows[0].as_ref().unwrap();
    assert_eq!((entry.attempts, entry.note.as_deref()), (3, Some("abandoned")));
}

async fn a_publisher_that_takes_too_long<B: Db>(db: Fixture<B>) {
    db.outbox(0).await;
    db.written("key", &["event"]).await;
    let hung = |_: Delivery| pending::<Result<(), BoxError>>();
    let short = outbox().claim_for(Duration::from_millis(30));
    assert_eq!(short.relay_next(&db.pool, &hung).await.unwrap(), Some(Status::Failed));
    let page = outbox().about(&db.pool, "key", None, 9).await.unwrap();
    let note = page.rows[0].as_ref().unwrap().note.clone().unwrap();
    assert!(note.contains("took longer"), "{note}");
}

async fn a_late_original_marks_nothing<B: Db>(db: Fixture<B>) {
    db.outbox(0).await;
    db.written("key", &["first", "second"]).await;
    let published = Published::default();
    let late = |delivery: Delivery| {
        let (db, published) = (&db, published.clone());
        async move {
            db.make_due().await;
            // Somebody else takes it over meanwhile, and goes on.
            assert_eq!(db.relayed(&published.publisher()).await, [Status::Sent; 2]);
            published.push(&delivery);
            Ok::<_, BoxError>(())
        }
    };
    assert_eq!(outbox().relay_next(&db.pool, &late).await.unwrap(), Some(Status::Claimed));
    assert_eq!(published.payloads(), ["first", "second", "first"]);
    assert_eq!(db.unsent().await, 0);
}

/// By its pool, until its claim has run out: it would come after those that took over.
async fn one_that_is_held_up_before_it_publishes<B: Db>(db: Fixture<B>) {
    db.outbox(0).await;
    db.written("key", &["first", "second"]).await;
    let narrow = sqlx::pool::PoolOptions::<B>::new().max_connections(1).connect(&db.url).await.unwrap();
    let (published, late) = (Published::default(), Published::default());
    let (pool, publish) = (narrow.clone(), late.publisher());
    let relay = tokio::spawn(async move {
        let short = outbox().claim_for(Duration::from_millis(300));
        short.relay_next(&pool, &publish).await.unwrap()
    });
    let claimed = "SELECT COUNT(*) FROM onward_outbox WHERE status = 'claimed'";
    // The pool gives its one connection to whoever has waited longest: one of these is there before the relay again.
    let between = async || loop {
        let held = narrow.acquire().await.unwrap();
        if db.number(claimed).await > 0 {
            return held;
        }
    };
    let held = tokio::select! { held = between() => held, held = between() => held };
    db.make_due().await;
    assert_eq!(db.relayed(&published.publisher()).await, [Status::Sent; 2]);
    sleep(Duration::from_millis(400)).await;
    drop(held);
    assert_eq!(relay.await.unwrap(), Some(Status::Claimed));
    assert_eq!((published.payloads(), late.payloads().len()), (vec!["first".into(), "second".into()], 0));
}

async fn tried_again_after_a_delay<B: Db>(db: Fixture<B>) {
    db.outbox(0).await;
    db.written("key", &["event"]).await;
    let patient = outbox().policy(Policy::callback());
    let fails = async |_: Delivery| Err::<(), BoxError>("the broker is down".into());
    assert_eq!(patient.relay_next(&db.pool, &fails).await.unwrap(), Some(Status::Failed));
    assert_eq!(patient.relay_next(&db.pool, &fails).await.unwrap(), None);
    db.make_due().await;
    let published = Published::default();
    assert_eq!(patient.relay_next(&db.pool, &published.publisher()).await.unwrap(), Some(Status::Sent));
}

async fn stopped_gracefully<B: Db>(db: Fixture<B>) {
    db.outbox(0).await;
    db.written("key", &["1", "2", "3"]).await;
    let (begun, mut has_begun) = watch::channel(0);
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let pool = db.pool.clone();
    let relay = tokio::spawn(async move {
        let publish = async |_: Delivery| {
            begun.send_modify(|begun| *begun += 1);
            sleep(Duration::from_millis(50)).await;
            Ok::<_, BoxError>(())
        };
        outbox().relay(&pool, async { drop(stopped.await) }, publish).await;
    });
    has_begun.wait_for(|begun| *begun == 1).await.unwrap();
    stop.send(()).unwrap();
    relay.await.unwrap();
    assert_eq!(db.unsent().await, 2);
    assert_eq!(db.number("SELECT COUNT(*) FROM onward_outbox WHERE status = 'sent'").await, 1);
}

async fn woken<B: Db>(db: Fixture<B>) {
    db.outbox(0).await;
    let published = Published::default();
    let outbox = outbox().poll_every(Duration::from_secs(3_600));
    let (pool, relayed, publish) = (db.pool.clone(), outbox.clone(), published.publisher());
    let relay = tokio::spawn(async move { relayed.relay(&pool, pending(), publish).await });
    for payload in ["1", "2", "3"] {
        db.written("key", &[payload]).await;
        outbox.wake();
        while db.unsent().await > 0 {
            sleep(SHORT).await;
        }
    }
    assert_eq!(published.payloads(), ["1", "2", "3"]);
    relay.abort();
}

async fn found_without_being_woken<B: Db>(db: Fixture<B>) {
    db.outbox(0).await;
    let published = Published::default();
    let (pool, publish) = (db.pool.clone(), published.publisher());
    let relay = tokio::spawn(async move { outbox().relay(&pool, pending(), publish).await });
    sleep(Duration::from_millis(30)).await;
    db.written("key", &["1"]).await;
    while db.unsent().await > 0 {
        sleep(SHORT).await;
    }
    relay.abort();
}

async fn dropped_anywhere<B: Db>(db: Fixture<B>) {
    db.outbox(0).await;
    let mut ids = HashSet::new();
    for key in 0..20 {
        ids.extend(db.written(&key.to_string(), &["1", "2"]).await);
    }
    let patient =
        || outbox().claim_for(Duration::from_millis(5)).policy(Policy::retry(1_000).delays(SHORT, SHORT));
    let done = Arc::new(AtomicU32::new(0));
    let published = Published::default();
    for round in 0..60 {
        let (patient, done) = (patient(), Arc::clone(&done));
        let publish = |delivery: Delivery| {
            done.fetch_add(1, Relaxed);
            published.push(&delivery);
            async { Ok::<_, BoxError>(()) }
        };
        let relay = patient.relay(&db.pool, pending(), publish);
        let _ = tokio::time::timeout(Duration::from_micros(200 * round), relay).await;
    }
    let (pool, publish) = (db.pool.clone(), published.publisher());
    let relay = tokio::spawn(async move {
        patient().claim_for(Duration::from_secs(1)).relay(&pool, pending(), publish).await;
    });
    while db.unsent().await > 0 {
        sleep(SHORT).await;
    }
    relay.abort();
    let sent: HashSet<String> = published.all().into_iter().map(|(id, ..)| id).collect();
    assert_eq!(sent, ids);
    for key in 0..20 {
        assert_eq!(published.of(&key.to_string()), ["1", "2"]);
    }
}
