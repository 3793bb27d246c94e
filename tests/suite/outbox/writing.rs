//! Events are committed with what they tell about, or not at all.

use super::{Published, outbox};
use crate::{
    db::{Db, Fixture},
    lifecycles::{AnyOrder, Orders as _, noon},
};
use onward::{
    BoxError, ErrorKind, Outcome,
    outbox::{Delivery, Event, Outbox, Status},
};
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering::Relaxed},
};
use tokio::task::JoinSet;

on_every_database![
    in_every_kind_of_transaction,
    outside_of_a_transaction,
    rolled_back_it_is_never_published,
    rolled_back_to_a_savepoint,
    what_is_not_committed_is_not_published,
    delivered_only_once_the_state_can_be_read,
    all_of_it_arrives,
    what_is_in_it_is_not_shown,
    names_that_are_too_long,
    outboxes_are_apart,
    in_a_spawned_task,
];

fn event(payload: &str) -> Event {
    Event::new("order.paid", "order-1", payload)
}

async fn in_every_kind_of_transaction<B: Db>(db: Fixture<B>) {
    db.outbox(2).await;
    let to = outbox();
    let paid = db.pending(1).await.pay("T-1".into(), noon());
    let paid =
        paid.apply_with(&db.pool, async move |tx, _| to.write(tx, event("with")).await.map(drop)).await;
    assert_eq!(paid.unwrap().as_str(), "applied");

    let paid = db.pending(2).await.pay("T-2".into(), noon()).begin(&db.pool).await.unwrap();
    let Outcome::Applied(mut won) = paid else { panic!() };
    let (tx, _) = won.parts();
    outbox().write(tx, event("parts")).await.unwrap();
    outbox().write(&mut won, event("won")).await.unwrap();
    let _ = won.commit().await.unwrap();

    db.written("order-1", &["ours"]).await;
    let mut tx = db.pool.begin().await.unwrap();
    outbox().write(&mut tx, event("sqlx")).await.unwrap();
    tx.commit().await.unwrap();

    let published = Published::default();
    assert_eq!(db.relayed(&published.publisher()).await, [Status::Sent; 5]);
    assert_eq!(published.payloads(), ["with", "parts", "won", "ours", "sqlx"]);
}

async fn outside_of_a_transaction<B: Db>(db: Fixture<B>) {
    db.outbox(0).await;
    let mut connection = db.pool.acquire().await.unwrap();
    let error = outbox().write(&mut connection, event("")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotInTransaction);
    assert_eq!(db.number("SELECT COUNT(*) FROM onward_outbox").await, 0);
}

async fn rolled_back_it_is_never_published<B: Db>(db: Fixture<B>) {
    db.outbox(1).await;
    let mut tx = onward::begin(&db.pool).await.unwrap();
    let paid = db.pending(1).await.pay("T-1".into(), noon());
    let _ = paid.apply_in(&mut tx).await.unwrap().applied().unwrap();
    outbox().write(&mut tx, event("rolled back")).await.unwrap();
    tx.rollback().await;

    let to = outbox();
    let paid = db.pending(1).await.pay("T-1".into(), noon()).apply_with(&db.pool, async move |tx, _| {
        to.write(tx, event("failed")).await?;
        Err::<(), BoxError>("sold out".into())
    });
    assert_eq!(paid.await.unwrap_err().kind(), ErrorKind::Effect);

    let mut tx = onward::begin(&db.pool).await.unwrap();
    outbox().write(&mut tx, event("dropped")).await.unwrap();
    drop(tx);

    let published = Published::default();
    assert_eq!(db.relayed(&published.publisher()).await, []);
    assert_eq!((published.payloads().len(), db.state(1).await.as_str()), (0, "pending:0"));
}

async fn rolled_back_to_a_savepoint<B: Db>(db: Fixture<B>) {
    db.outbox(1).await;
    let order = db.pending(1).await;
    let mut tx = db.pool.begin().await.unwrap();
    outbox().write(&mut tx, event("outer")).await.unwrap();
    let mut inner = sqlx::Connection::begin(&mut *tx).await.unwrap();
    let _ = order.pay("T-1".into(), noon()).apply_in(&mut inner).await.unwrap().applied().unwrap();
    outbox().write(&mut inner, event("inner")).await.unwrap();
    inner.rollback().await.unwrap();
    outbox().write(&mut tx, event("outer again")).await.unwrap();
    tx.commit().await.unwrap();

    let published = Published::default();
    db.relayed(&published.publisher()).await;
    assert_eq!(published.payloads(), ["outer", "outer again"]);
    assert_eq!(db.state(1).await, "pending:0");
}

async fn what_is_not_committed_is_not_published<B: Db>(db: Fixture<B>) {
    db.outbox(0).await;
    let published = Published::default();
    let mut tx = onward::begin(&db.pool).await.unwrap();
    outbox().write(&mut tx, event("committed")).await.unwrap();
    assert_eq!(db.relayed(&published.publisher()).await, []);
    tx.commit().await.unwrap();
    assert_eq!(db.relayed(&published.publisher()).await, [Status::Sent]);
    assert_eq!(published.payloads(), ["committed"]);
}

async fn delivered_only_once_the_state_can_be_read<B: Db>(db: Fixture<B>) {
    db.outbox(20).await;
    let seen = Arc::new(AtomicU32::new(0));
    let mut relays = JoinSet::new();
    for _ in 0..2 {
        let (pool, seen) = (db.pool.clone(), Arc::clone(&seen));
        relays.spawn(async move {
            let publish = |delivery: Delivery| {
                let (pool, seen) = (pool.clone(), Arc::clone(&seen));
                async move {
                    let id = delivery.key().trim_start_matches("order-").parse::<i64>().unwrap();
                    let order = AnyOrder::find(&pool, id).await?.unwrap();
                    assert_eq!(Some(order.version()), delivery.row_version());
                    seen.fetch_add(1, Relaxed);
                    Ok::<_, onward::Error>(())
                }
            };
            outbox().relay(&pool, std::future::pending(), publish).await;
        });
    }
    for id in 1..=20 {
        let (order, to) = (db.pending(id).await, outbox());
        let paid = order.pay(format!("T-{id}"), noon()).apply_with(&db.pool, async move |tx, paid| {
            let event = Event::new("order.paid", format!("order-{}", paid.id), "").version(paid.version());
            to.write(tx, event).await.map(drop)
        });
        assert_eq!(paid.await.unwrap().as_str(), "applied");
    }
    while db.unsent().await > 0 {
        assert!(relays.try_join_next().is_none(), "a relay has come to an end");
        tokio::time::sleep(super::SHORT).await;
    }
    assert_eq!(seen.load(Relaxed), 20);
}

async fn all_of_it_arrives<B: Db>(db: Fixture<B>) {
    db.outbox(0).await;
    let bytes: Vec<u8> = (0..=255).collect();
    let event = Event::new("thé", "a 'key' ", bytes).header("a:b", "c\nd").header("", "").version(7);
    let mut tx = onward::begin(&db.pool).await.unwrap();
    let id = outbox().write(&mut tx, event.clone()).await.unwrap();
    tx.commit().await.unwrap();
    let publish = |delivery: Delivery| {
        assert_eq!((&*delivery, delivery.id(), delivery.attempts()), (&event, id.as_str(), 1));
        let age = delivery.written_at().elapsed().unwrap_or_default();
        assert!(age < std::time::Duration::from_secs(60), "{age:?}");
        async { Ok::<_, BoxError>(()) }
    };
    let sent = outbox().relay_next(&db.pool, &publish).await;
    assert_eq!(sent.unwrap(), Some(Status::Sent));
}

async fn what_is_in_it_is_not_shown<B: Db>(db: Fixture<B>) {
    db.outbox(0).await;
    let secret = Event::new("topic", "secret-key", "secret-payload").header("secret-name", "secret-value");
    let mut shown = format!("{secret:?} {:?}", outbox());
    let mut tx = onward::begin(&db.pool).await.unwrap();
    let id = outbox().write(&mut tx, secret).await.unwrap();
    tx.commit().await.unwrap();
    let debug = std::sync::Mutex::new(String::new());
    let publish = |delivery: Delivery| {
        *debug.lock().unwrap() = format!("{delivery:?}");
        async { Err::<(), _>("no") }
    };
    db.relayed(&publish).await;
    let page = outbox().about(&db.pool, "secret-key", None, 9).await.unwrap();
    shown += &format!("{} {:?} {id}", debug.into_inner().unwrap(), page.rows);
    assert!(shown.contains(&id) && !shown.contains("secret"), "{shown}");
}

async fn names_that_are_too_long<B: Db>(db: Fixture<B>) {
    db.outbox(0).await;
    let mut tx = onward::begin(&db.pool).await.unwrap();
    let (fits, long) = ("k".repeat(512), "k".repeat(513));
    outbox().write(&mut tx, Event::new(&fits, &fits, "")).await.unwrap();
    for event in [Event::new(&long, "", ""), Event::new("", &long, "")] {
        let error = outbox().write(&mut tx, event).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLong);
    }
    let error = Outbox::new("o".repeat(65)).write(&mut tx, event("")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLong);
    // The transaction lives on.
    tx.commit().await.unwrap();
    assert_eq!(db.unsent().await, 1);
}

async fn outboxes_are_apart<B: Db>(db: Fixture<B>) {
    db.outbox(0).await;
    let other = Outbox::new("invoices").poll_every(super::SHORT);
    let mut tx = onward::begin(&db.pool).await.unwrap();
    other.write(&mut tx, event("theirs")).await.unwrap();
    outbox().write(&mut tx, event("ours")).await.unwrap();
    tx.commit().await.unwrap();
    let published = Published::default();
    db.relayed(&published.publisher()).await;
    assert_eq!(published.payloads(), ["ours"]);
    let sent = other.relay_next(&db.pool, &published.publisher()).await.unwrap();
    assert_eq!((sent, published.payloads().len()), (Some(Status::Sent), 2));
}

async fn in_a_spawned_task<B: Db>(db: Fixture<B>) {
    db.outbox(1).await;
    let pool = db.pool.clone();
    let task = tokio::spawn(async move {
        let outbox = outbox();
        let Some(AnyOrder::Pending(order)) = AnyOrder::find(&pool, 1).await? else { panic!() };
        let to = outbox.clone();
        let paid = order.pay("T-1".into(), noon()).apply_with(&pool, async move |tx, paid| {
            to.write(tx, event("spawned").version(paid.version())).await?;
            Ok::<_, BoxError>(())
        });
        let _ = paid.await?.applied()?;
        outbox.wake();
        let publish = async |_: Delivery| Ok::<_, BoxError>(());
        let sent = outbox.relay_next(&pool, &publish).await?;
        let backlog = outbox.backlog(&pool).await?;
        let purged = outbox.purge(&pool).await?;
        Ok::<_, BoxError>((sent, backlog.unsent, purged))
    });
    assert_eq!(task.await.unwrap().unwrap(), (Some(Status::Sent), 0, 0));
}
