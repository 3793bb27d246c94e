//! Claims: one at a time, counted before the work, taken over when they run out.

use super::inbox;
use crate::{
    db::{Db, Fixture},
    lifecycles::{Orders as _, noon},
};
use onward::{
    Answer, BoxError, ErrorKind, Policy,
    inbox::{Message, Status},
};
use std::{collections::HashMap, time::Duration};
use tokio::{task::JoinSet, time::sleep};

on_every_database![
    twenty_workers_on_a_backlog_of_two_hundred,
    a_poison_message_ends_with_a_person,
    a_message_that_kills_its_process_ends_with_a_person,
    one_that_died_is_taken_over,
    a_late_original_marks_nothing_and_rolls_back,
    a_mark_on_its_way_is_waited_for,
    what_is_not_due_is_left_alone,
    everybody_wants_the_same_entry,
];

const SHORT: Duration = Duration::from_millis(1);

async fn twenty_workers_on_a_backlog_of_two_hundred<B: Db>(db: Fixture<B>) {
    db.inbox(0).await;
    db.run("CREATE TABLE done (n BIGINT NOT NULL)").await;
    for n in 0..200 {
        let _ = db.store(&n.to_string(), &n.to_string()).await;
    }
    let mut workers = JoinSet::new();
    for worker in 0..20 {
        let pool = db.pool.clone();
        workers.spawn(async move {
            let inbox = inbox().owner(format!("worker-{worker}"));
            let mut mine = 0;
            while let Some(claim) = inbox.claim_next(&pool).await.unwrap() {
                loop {
                    let mut tx = onward::begin(&pool).await.unwrap();
                    let body = String::from_utf8(claim.message().body().to_vec()).unwrap();
                    let done = B::run(&mut tx, &format!("INSERT INTO done VALUES ({body})")).await;
                    claim.applied(&mut tx).await.unwrap();
                    if done.is_ok() && tx.commit().await.is_ok() {
                        break;
                    }
                }
                mine += 1;
            }
            mine
        });
    }
    let each = workers.join_all().await;
    assert_eq!(each.iter().sum::<i32>(), 200, "{each:?}");
    assert_eq!(db.number("SELECT COUNT(*) FROM done").await, 200);
    assert_eq!(db.number("SELECT COUNT(DISTINCT n) FROM done").await, 200);
    assert_eq!(
        db.number("SELECT COUNT(*) FROM onward_inbox WHERE status = 'applied' AND attempts = 1").await,
        200
    );
}

async fn a_poison_message_ends_with_a_person<B: Db>(db: Fixture<B>) {
    db.inbox(1).await;
    let _ = db.store("N", "body").await;
    for attempt in 1..=3 {
        // Another process each time: another pool, nothing remembered.
        let pool = sqlx::Pool::<B>::connect(&db.url).await.unwrap();
        let inbox = inbox().policy(Policy::callback().delays(SHORT, SHORT));
        let claim = loop {
            match inbox.claim_next(&pool).await.unwrap() {
                Some(claim) => break claim,
                None => sleep(SHORT).await,
            }
        };
        assert_eq!(claim.attempts, attempt);
        let order = db.pending(1).await;
        let mark = claim.clone();
        let work = order.pay("T-1".into(), noon()).apply_with(&pool, async move |tx, _| {
            mark.applied(tx).await?;
            Err::<(), BoxError>("the work always fails".into())
        });
        let work = work.await;
        assert_eq!(work.as_ref().unwrap_err().kind(), ErrorKind::Effect);
        // Its count outlives the rollback of its work.
        assert_eq!(db.entry("N").await.split(' ').nth(1), Some(attempt.to_string().as_str()));
        let answer = claim.settle(&pool, &work).await.unwrap();
        assert_eq!(answer, if attempt == 3 { Answer::Escalate } else { Answer::Later });
        pool.close().await;
    }
    assert_eq!(db.entry("N").await, "needs_attention 3 effect");
    assert_eq!(db.state(1).await, "pending:0");
    assert!(inbox().claim_next(&db.pool).await.unwrap().is_none());
    let stored = db.store("N", "body").await;
    assert!(stored.entry().note.as_ref().unwrap().contains("the work always fails"));
}

async fn a_message_that_kills_its_process_ends_with_a_person<B: Db>(db: Fixture<B>) {
    db.inbox(0).await;
    let _ = db.store("N", "body").await;
    let inbox = inbox().claim_for(SHORT);
    for attempt in 1..=3 {
        // Nobody says a word about it afterwards.
        let claim = loop {
            match inbox.claim_next(&db.pool).await.unwrap() {
                Some(claim) => break claim,
                None => sleep(SHORT).await,
            }
        };
        assert_eq!(claim.attempts, attempt);
    }
    while db.entry("N").await != "needs_attention 3 abandoned" {
        assert!(inbox.claim_next(&db.pool).await.unwrap().is_none());
        sleep(SHORT).await;
    }
}

async fn one_that_died_is_taken_over<B: Db>(db: Fixture<B>) {
    db.inbox(0).await;
    let dead = db.claimed("N").await;
    assert!(inbox().claim_next(&db.pool).await.unwrap().is_none());
    assert!(inbox().claim(&db.pool, dead.id).await.unwrap().is_none());
    db.age("next_at", 1).await;
    let claim = inbox().claim_next(&db.pool).await.unwrap().unwrap();
    assert_eq!((claim.id, claim.attempts), (dead.id, 2));
    assert!(inbox().claim_next(&db.pool).await.unwrap().is_none());
}

async fn a_late_original_marks_nothing_and_rolls_back<B: Db>(db: Fixture<B>) {
    db.inbox(1).await;
    let late = db.claimed("N").await;
    db.age("next_at", 1).await;
    let other = inbox().claim_next(&db.pool).await.unwrap().unwrap();

    let mark = late.clone();
    let work = db.pending(1).await.pay("T-1".into(), noon()).apply_with(&db.pool, async move |tx, _| {
        B::run(tx, "UPDATE stock SET available = available - 1").await?;
        mark.applied(tx).await?;
        Ok::<_, BoxError>(())
    });
    let work = work.await;
    let error = work.as_ref().unwrap_err();
    assert_eq!(error.effect::<onward::Error>().unwrap().kind(), ErrorKind::ClaimLost);
    assert_eq!(
        (db.state(1).await.as_str(), db.number("SELECT available FROM stock").await),
        ("pending:0", 5)
    );
    // Its word does not count any more; what counts is where the entry stands.
    assert_eq!(late.settle(&db.pool, &work).await.unwrap(), Answer::Later);
    for lost in [
        late.duplicate(&db.pool).await,
        late.refused(&db.pool, "").await,
        late.failed(&db.pool, "").await.map(drop),
        late.needs_attention(&db.pool, "").await,
    ] {
        assert_eq!(lost.unwrap_err().kind(), ErrorKind::ClaimLost);
    }
    assert_eq!(db.entry("N").await, "claimed 2 -");
    let mut tx = onward::begin(&db.pool).await.unwrap();
    other.applied(&mut tx).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(db.entry("N").await, "applied 2 applied");
    assert_eq!(late.settle(&db.pool, &work).await.unwrap(), Answer::Settled);
}

async fn a_mark_on_its_way_is_waited_for<B: Db>(db: Fixture<B>) {
    db.inbox(0).await;
    for (id, commits) in [("N", true), ("M", false)] {
        let late = db.claimed(id).await;
        db.age("next_at", 1).await;
        // Nobody has taken it over yet.
        let mut tx = onward::begin(&db.pool).await.unwrap();
        late.applied(&mut tx).await.unwrap();
        let pool = db.pool.clone();
        let other = tokio::spawn(async move { inbox().claim_next(&pool).await.unwrap() });
        sleep(Duration::from_millis(50)).await;
        assert!(!other.is_finished());
        if commits {
            tx.commit().await.unwrap()
        } else {
            tx.rollback().await
        }
        assert_eq!(other.await.unwrap().is_none(), commits);
        assert_eq!(db.entry(id).await, if commits { "applied 1 applied" } else { "claimed 2 -" });
    }
}

async fn what_is_not_due_is_left_alone<B: Db>(db: Fixture<B>) {
    db.inbox(0).await;
    let claim = db.claimed("N").await;
    assert_eq!(claim.failed(&db.pool, "not yet").await.unwrap(), Status::Failed);
    assert_eq!(db.entry("N").await, "failed 1 failed");
    assert!(inbox().claim_next(&db.pool).await.unwrap().is_none());
    assert!(inbox().claim(&db.pool, claim.id).await.unwrap().is_none());
    // The delay is a second, and as much again at the most.
    db.age("next_at", 1).await;
    let again = inbox().claim(&db.pool, claim.id).await.unwrap().unwrap();
    assert_eq!(again.attempts, 2);
}

async fn everybody_wants_the_same_entry<B: Db>(db: Fixture<B>) {
    db.inbox(0).await;
    let mut winners = HashMap::new();
    for round in 0..5 {
        let id = format!("N-{round}");
        let mut tasks = JoinSet::new();
        for _ in 0..20 {
            let (pool, id) = (db.pool.clone(), id.clone());
            // Each delivers the message and wants to work on it at once.
            tasks.spawn(async move {
                let stored = inbox().store(&pool, &id, &Message::new("body")).await.unwrap();
                inbox().claim(&pool, stored.entry().id).await.unwrap().is_some()
            });
        }
        winners.insert(round, tasks.join_all().await.into_iter().filter(|won| *won).count());
    }
    assert!(winners.values().all(|won| *won == 1), "{winners:?}");
}
