//! Workers: several at once, stopped gracefully, safe to be dropped.

use super::inbox;
use crate::{
    db::{Db, Fixture},
    lifecycles::{AnyOrder, noon},
};
use onward::{
    Answer, BoxError, Policy,
    inbox::{Claim, Message},
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio::{sync::watch, task::JoinSet, time::sleep};

on_every_database![several_at_once_until_they_are_stopped, it_finishes_what_it_has_begun, dropped_anywhere,];

const SHORT: Duration = Duration::from_millis(5);

async fn until<B: Db>(db: &Fixture<B>, sql: &str, count: i64) {
    while db.number(sql).await != count {
        sleep(SHORT).await;
    }
}

async fn several_at_once_until_they_are_stopped<B: Db>(db: Fixture<B>) {
    db.inbox(30).await;
    let (stop, stopped) = watch::channel(false);
    let mut workers = JoinSet::new();
    for _ in 0..4 {
        let (pool, mut stopped) = (db.pool.clone(), stopped.clone());
        workers.spawn(async move {
            let inbox = inbox().poll_every(SHORT).policy(Policy::callback().delays(SHORT, SHORT));
            let handler = |claim: Claim| {
                let pool = pool.clone();
                async move {
                    let id = String::from_utf8_lossy(claim.message().body()).parse::<i64>()?;
                    let order = AnyOrder::find(&pool, id).await?.ok_or("no such order")?;
                    let paid = order.pay(format!("T-{id}"), noon()).apply_with(&pool, async move |tx, _| {
                        B::run(tx, "UPDATE stock SET available = available - 1").await?;
                        claim.applied(tx).await?;
                        Ok::<_, BoxError>(())
                    });
                    Ok::<_, BoxError>(paid.await?)
                }
            };
            inbox.work(&pool, async { drop(stopped.wait_for(|stop| *stop).await) }, handler).await;
        });
    }
    for id in 1..=31 {
        let _ = db.store(&format!("N-{id}"), &id.to_string()).await;
    }
    until(&db, "SELECT COUNT(*) FROM onward_inbox WHERE status = 'applied'", 30).await;
    until(&db, "SELECT COUNT(*) FROM onward_inbox WHERE status = 'needs_attention' AND attempts = 3", 1)
        .await;
    stop.send(true).unwrap();
    workers.join_all().await;
    assert_eq!(db.number("SELECT available FROM stock").await, 5 - 30);
    let _ = db.store("late", "1").await;
    assert_eq!(db.number("SELECT COUNT(*) FROM onward_inbox WHERE status = 'received'").await, 1);
}

async fn it_finishes_what_it_has_begun<B: Db>(db: Fixture<B>) {
    db.inbox(0).await;
    for id in 0..3 {
        let _ = db.store(&id.to_string(), "body").await;
    }
    let (begun, mut has_begun) = watch::channel(0);
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let pool = db.pool.clone();
    let worker = tokio::spawn(async move {
        let handler = async |_: Claim| {
            begun.send_modify(|begun| *begun += 1);
            sleep(Duration::from_millis(50)).await;
            Answer::Settled
        };
        inbox().work(&pool, async { drop(stopped.await) }, handler).await;
    });
    has_begun.wait_for(|begun| *begun == 1).await.unwrap();
    stop.send(()).unwrap();
    worker.await.unwrap();
    assert_eq!(db.number("SELECT COUNT(*) FROM onward_inbox WHERE status = 'applied'").await, 1);
    assert_eq!(db.number("SELECT COUNT(*) FROM onward_inbox WHERE status = 'received'").await, 2);
}

async fn dropped_anywhere<B: Db>(db: Fixture<B>) {
    db.inbox(0).await;
    for id in 0..40 {
        let wait = Duration::from_micros(50 * id);
        let (id, message) = (id.to_string(), Message::new("body").key("N-1"));
        let inbox = inbox();
        let store = inbox.store(&db.pool, &id, &message);
        let _ = tokio::time::timeout(wait, store).await;
        let _ = db.store(&id, "body").await;
    }
    assert_eq!(db.number("SELECT COUNT(*) FROM onward_inbox").await, 40);
    let done = Arc::new(AtomicU32::new(0));
    for round in 0..60 {
        let inbox = inbox().claim_for(SHORT).policy(Policy::retry(1_000)).poll_every(SHORT);
        let handler = async |_: Claim| {
            done.fetch_add(1, Relaxed);
            Answer::Settled
        };
        let work = inbox.work(&db.pool, std::future::pending(), handler);
        let _ = tokio::time::timeout(Duration::from_micros(200 * round), work).await;
    }
    let (pool, inbox) =
        (db.pool.clone(), inbox().claim_for(SHORT).policy(Policy::retry(1_000)).poll_every(SHORT));
    let worker = tokio::spawn(async move {
        inbox.work(&pool, std::future::pending(), async |_: Claim| Answer::Settled).await;
    });
    until(&db, "SELECT COUNT(*) FROM onward_inbox WHERE status = 'applied'", 40).await;
    worker.abort();
}
