//! In order per key, whatever commits first; a poisonous event holds up its own key alone.

use super::{Published, SHORT, outbox, relays::killed};
use crate::{
    db::{Db, Fixture},
    lifecycles::{AnyOrder, OrderRow},
};
use onward::{
    BoxError, Policy,
    outbox::{Delivery, Event, Status},
};
use std::time::Duration;
use tokio::{sync::oneshot, task::JoinSet, time::sleep};

on_every_database![
    the_later_number_commits_first,
    numbers_rise_with_the_commits_on_all_nodes,
    the_order_of_a_key_is_that_of_its_commits,
    a_backlog_of_many_keys_and_a_poisonous_one,
    a_long_row_of_one_key_holds_up_no_other,
    one_that_is_put_behind_has_its_turn,
    put_behind_while_the_first_is_being_finished,
    an_older_one_that_comes_late,
    several_relays_send_each_event_once,
];

/// Two writers, and the one with the smaller number commits last.
async fn the_later_number_commits_first<B: Db>(db: Fixture<B>) {
    db.outbox(0).await;
    let published = Published::default();
    for (first, second) in [("a", "b"), ("c", "c")] {
        if B::ENGINE == "sqlite" {
            // One writer at a time: there the numbers rise with the commits.
            for (key, payload) in [(second, "early"), (first, "late")] {
                db.written(key, &[payload]).await;
                assert_eq!(db.relayed(&published.publisher()).await, [Status::Sent]);
            }
            continue;
        }
        let mut late = onward::begin(&db.pool).await.unwrap();
        outbox().write(&mut late, Event::new("topic", first, "late")).await.unwrap();
        let mut early = onward::begin(&db.pool).await.unwrap();
        outbox().write(&mut early, Event::new("topic", second, "early")).await.unwrap();
        early.commit().await.unwrap();
        assert_eq!(db.relayed(&published.publisher()).await, [Status::Sent]);
        late.commit().await.unwrap();
        assert_eq!(db.relayed(&published.publisher()).await, [Status::Sent]);
    }
    assert_eq!(published.payloads(), ["early", "late", "early", "late"]);
    assert_eq!(db.unsent().await, 0);
}

/// One after the other, each on another connection, and of a cluster on another node.
async fn numbers_rise_with_the_commits_on_all_nodes<B: Db>(db: Fixture<B>) {
    db.outbox(0).await;
    let mut ids = Vec::new();
    for payload in 0..40 {
        ids.extend(db.written("key", &[&payload.to_string()]).await);
    }
    let page = outbox().about(&db.pool, "key", None, 100).await.unwrap();
    let by_number: Vec<String> = page.rows.into_iter().map(|entry| entry.unwrap().event_id).collect();
    assert_eq!(by_number, ids);
}

async fn the_order_of_a_key_is_that_of_its_commits<B: Db>(db: Fixture<B>) {
    const STEPS: i64 = 8;
    db.outbox(4).await;
    let published = Published::default();
    let mut relays = JoinSet::new();
    for _ in 0..3 {
        let (pool, publish) = (db.pool.clone(), published.publisher());
        relays.spawn(async move { outbox().relay(&pool, std::future::pending(), publish).await });
    }
    let mut writers = JoinSet::new();
    for task in 0..8 {
        let pool = db.pool.clone();
        writers.spawn(async move {
            for _ in 0..STEPS / 2 {
                let id = 1 + task % 4;
                loop {
                    let order = AnyOrder::find(&pool, id).await.unwrap().unwrap();
                    let edit = |row: &mut OrderRow| row.amount_cents += 1;
                    let to = outbox();
                    let amended = order.amend(edit).policy(Policy::retry(100)).apply_with(
                        &pool,
                        async move |tx, amended| {
                            let version = amended.version();
                            let event =
                                Event::new("order.amended", format!("order-{id}"), version.to_string());
                            to.write(tx, event.version(version)).await?;
                            Ok::<_, BoxError>(())
                        },
                    );
                    match amended.await {
                        Ok(outcome) if outcome.as_str() == "applied" => break,
                        Ok(_) => {}
                        Err(error) => assert!(error.is_transient(), "{error:?}"),
                    }
                }
            }
        });
    }
    while let Some(writer) = writers.join_next().await {
        writer.unwrap();
    }
    while db.unsent().await > 0 {
        sleep(SHORT).await;
    }
    let versions: Vec<String> = (1..=STEPS).map(|version| version.to_string()).collect();
    for id in 1..=4 {
        assert_eq!(published.of(&format!("order-{id}")), versions, "order {id}");
    }
}

async fn a_backlog_of_many_keys_and_a_poisonous_one<B: Db>(db: Fixture<B>) {
    db.outbox(0).await;
    let keys: Vec<String> = (0..25).map(|key| format!("key-{key}")).collect();
    for payload in ["1", "2", "3"] {
        for key in &keys {
            db.written(key, &[payload]).await;
        }
    }
    let published = Published::default();
    let mut relays = JoinSet::new();
    for _ in 0..4 {
        let (pool, published) = (db.pool.clone(), published.clone());
        relays.spawn(async move {
            let publish = |delivery: Delivery| {
                let poison = delivery.key() == "key-7" && delivery.payload() == b"2";
                if !poison {
                    published.push(&delivery);
                }
                async move { if poison { Err("poison") } else { Ok(()) } }
            };
            outbox().relay(&pool, std::future::pending(), publish).await;
        });
    }
    while db.unsent().await > 2 || outbox().backlog(&db.pool).await.unwrap().needs_attention == 0 {
        sleep(SHORT).await;
    }
    sleep(Duration::from_millis(50)).await;
    for key in &keys {
        let sent: &[&str] = if key == "key-7" { &["1"] } else { &["1", "2", "3"] };
        assert_eq!(published.of(key), sent, "{key}");
    }
    let page = outbox().needs_attention(&db.pool, None, 10).await.unwrap();
    let poison = page.rows[0].as_ref().unwrap();
    assert_eq!((page.rows.len(), poison.attempts, poison.note.as_deref()), (1, 3, Some("poison")));
    // Later ones wait until a person decides.
    outbox().close(&db.pool, poison.id, "not needed").await.unwrap();
    while db.unsent().await > 0 {
        sleep(SHORT).await;
    }
    assert_eq!(published.of("key-7"), ["1", "3"]);
}

async fn a_long_row_of_one_key_holds_up_no_other<B: Db>(db: Fixture<B>) {
    db.outbox(0).await;
    let many: Vec<String> = (0..150).map(|i| i.to_string()).collect();
    db.written("poison", &many.iter().map(String::as_str).collect::<Vec<_>>()).await;
    db.written("other", &["other"]).await;
    let published = Published::default();
    let publish = |delivery: Delivery| {
        let poison = delivery.key() == "poison";
        published.push(&delivery);
        async move { if poison { Err("poison") } else { Ok(()) } }
    };
    // The first of the row fails, and nothing of it is due after that.
    let mut all = Vec::new();
    while !all.contains(&Status::Sent) {
        all.extend(db.relayed(&publish).await);
        assert!(all.len() <= 4, "{all:?}");
        sleep(SHORT).await;
    }
    while outbox().backlog(&db.pool).await.unwrap().needs_attention == 0 {
        db.relayed(&publish).await;
        sleep(SHORT).await;
    }
    assert_eq!(db.relayed(&publish).await, []);
    assert_eq!(db.number("SELECT COUNT(*) FROM onward_outbox WHERE next_at IS NOT NULL").await, 0);
    assert_eq!((published.of("poison"), published.of("other")), (vec!["0".into()], vec!["other".into()]));
}

async fn one_that_is_put_behind_has_its_turn<B: Db>(db: Fixture<B>) {
    db.outbox(0).await;
    db.written("key", &["first", "second", "third"]).await;
    let published = Published::default();
    let (finish, finished) = oneshot::channel::<()>();
    let finished = std::sync::Mutex::new(Some(finished));
    let (begun, has_begun) = oneshot::channel::<()>();
    let begun = std::sync::Mutex::new(Some(begun));
    let (pool, record) = (db.pool.clone(), published.clone());
    let first = tokio::spawn(async move {
        let publish = |delivery: Delivery| {
            record.push(&delivery);
            let _ = begun.lock().unwrap().take().unwrap().send(());
            finished.lock().unwrap().take().unwrap()
        };
        outbox().relay_next(&pool, &publish).await.unwrap()
    });
    has_begun.await.unwrap();
    assert_eq!(db.relayed(&published.publisher()).await, []);
    let waiting = "SELECT COUNT(*) FROM onward_outbox WHERE status = 'pending' AND next_at IS NULL";
    assert_eq!(db.number(waiting).await, 2);
    finish.send(()).unwrap();
    assert_eq!(first.await.unwrap(), Some(Status::Sent));
    assert_eq!(db.number(waiting).await, 1);
    assert_eq!(db.relayed(&published.publisher()).await, [Status::Sent; 2]);
    assert_eq!(published.payloads(), ["first", "second", "third"]);
}

/// Nobody is forgotten, whoever is put behind at whatever moment.
async fn put_behind_while_the_first_is_being_finished<B: Db>(db: Fixture<B>) {
    db.outbox(0).await;
    let published = Published::default();
    let mut relays = JoinSet::new();
    for _ in 0..4 {
        let (pool, publish) = (db.pool.clone(), published.publisher());
        let outbox = outbox().poll_every(SHORT);
        relays.spawn(async move { outbox.relay(&pool, std::future::pending(), publish).await });
    }
    let payloads: Vec<String> = (0..40).map(|i| i.to_string()).collect();
    for payload in &payloads {
        db.written("key", &[payload]).await;
    }
    while db.unsent().await > 0 {
        sleep(SHORT).await;
    }
    assert_eq!(published.of("key"), payloads);
}

/// What has been tried already waits for it like any other, and nobody is kept busy by that.
async fn an_older_one_that_comes_late<B: Db>(db: Fixture<B>) {
    db.outbox(0).await;
    let patient = outbox().policy(Policy::retry(9).delays(Duration::from_secs(3_600), Duration::MAX));
    let fails = async |_: Delivery| Err::<(), BoxError>("the broker is down".into());
    let published = Published::default();
    for tried in ["failed", "claimed"] {
        let mut late = None;
        if B::ENGINE != "sqlite" && db.nodes.len() == 1 {
            let mut tx = onward::begin(&db.pool).await.unwrap();
            outbox().write(&mut tx, Event::new("topic", tried, "late")).await.unwrap();
            late = Some(tx);
        }
        db.written(tried, &["early"]).await;
        match tried {
            "failed" => assert_eq!(patient.relay_next(&db.pool, &fails).await.unwrap(), Some(Status::Failed)),
            _ => killed(&db, None).await,
        }
        if let Some(late) = late {
            late.commit().await.unwrap();
        } else {
            // One writer at a time, or a number that depends on the node: so it is made to look as elsewhere.
            let id = &db.written(tried, &["late"]).await[0];
            db.run(&format!("UPDATE onward_outbox SET id = -id WHERE event_id = '{id}'")).await;
        }
        assert_eq!(patient.relay_next(&db.pool, &fails).await.unwrap(), Some(Status::Failed));
        // Its delay or claim runs out, and the older one is not due yet.
        let past = "UPDATE onward_outbox SET next_at = written_at WHERE event_key =";
        let early =
            db.number(&format!("SELECT MAX(id) FROM onward_outbox WHERE event_key = '{tried}'")).await;
        db.run(&format!("{past} '{tried}' AND id = {early}")).await;
        let none = tokio::time::timeout(Duration::from_secs(9), patient.relay_next(&db.pool, &fails));
        assert_eq!(none.await.expect("it goes round and round").unwrap(), None, "{tried}");
        db.run(&format!("{past} '{tried}' AND done_at IS NULL AND next_at IS NOT NULL")).await;
        assert_eq!(db.relayed(&published.publisher()).await, [Status::Sent; 2], "{tried}");
        assert_eq!(published.of(tried), ["late", "early"]);
    }
}

/// Where none of them dies or is late.
async fn several_relays_send_each_event_once<B: Db>(db: Fixture<B>) {
    db.outbox(0).await;
    let published = Published::default();
    let mut relays = JoinSet::new();
    for _ in 0..4 {
        let (pool, publish) = (db.pool.clone(), published.publisher());
        relays.spawn(async move {
            outbox().poll_every(SHORT).relay(&pool, std::future::pending(), publish).await
        });
    }
    for event in 0..60 {
        db.written(&format!("key-{}", event % 20), &[&event.to_string()]).await;
    }
    while db.unsent().await > 0 {
        sleep(SHORT).await;
    }
    let mut sent: Vec<u32> = published.payloads().iter().map(|payload| payload.parse().unwrap()).collect();
    sent.sort_unstable();
    assert_eq!(sent, (0..60).collect::<Vec<_>>());
}
