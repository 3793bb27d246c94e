//! Claims in the database of the work: the answer is committed with it, or not at all.

use super::{answered, brief, over, owned, reply, told, word};
use crate::{
    db::{Db, Fixture},
    journalled::{AnyOrder, Order, Orders as _, Paid, noon},
};
use onward::{
    Answer, BoxError, Error, ErrorKind, Once, Outcome,
    idempotency::{Claim, Claims, Owned, Reply},
    once,
};
use sqlx::Pool;
use std::time::Duration;
use tokio::{task::JoinSet, time::sleep};

on_every_database![
    finished_with_the_work,
    a_rollback_leaves_it_in_progress,
    a_failure_is_stored_or_released,
    an_error_of_finish_frees_nothing,
    the_late_original_rolls_back,
    a_finish_on_its_way_is_waited_for,
    a_raced_insert,
    outside_of_a_transaction,
    claims_removed_before_the_work_is_finished,
    claims_removed_after_the_work,
    claims_removed_again_and_again,
    dropped_anywhere,
    purged,
];

/// Orders, and the crate's tables.
async fn shop<B: Db>(db: &Fixture<B>, orders: i64) -> Claims<Pool<B>> {
    db.orders(orders).await;
    onward::migrate(&db.pool).await.unwrap();
    Claims::new(&db.pool, "checkout")
}

/// Pays an order under its claim: an effect, and the answer, in the same transaction.
async fn pay<B: Db>(pool: &Pool<B>, owned: &Owned<Pool<B>>, id: i64) -> Result<Outcome<Order<Paid>>, Error> {
    let Some(order) = AnyOrder::find(pool, id).await? else { return Ok(Outcome::NotFound) };
    let (claim, request_id) = (owned.clone(), owned.request_id());
    let attempt = order.pay(format!("T-{id}"), noon()).request_id(request_id);
    let work = attempt.apply_with(pool, async move |tx: &mut B::Connection, _: &_| {
        B::run(tx, &format!("INSERT INTO effects VALUES ({id}, 'mail')")).await?;
        claim.finish_in(tx, &reply(id)).await?;
        Ok::<_, BoxError>(())
    });
    work.await
}

/// Why the work was undone.
fn undone(work: &Result<Outcome<Order<Paid>>, Error>) -> ErrorKind {
    work.as_ref().unwrap_err().effect::<Error>().unwrap().kind()
}

async fn effects<B: Db>(db: &Fixture<B>) -> i64 {
    db.number("SELECT COUNT(*) FROM effects").await
}

async fn finished_with_the_work<B: Db>(db: Fixture<B>) {
    let claims = shop(&db, 1).await;
    let first = owned(&claims, "k").await;
    let mut tx = onward::begin(&db.pool).await.unwrap();
    B::run(&mut tx, "INSERT INTO effects VALUES (1, 'mail')").await.unwrap();
    first.finish_in(&mut tx, &reply("anna")).await.unwrap();
    // There is one answer.
    let again = first.finish_in(&mut tx, &reply("anna")).await.unwrap_err();
    assert_eq!((again.kind(), again.transition()), (ErrorKind::ClaimLost, Some("finish_in")));
    tx.commit().await.unwrap();
    assert_eq!(answered(&claims, "k").await, reply("anna"));
    // Whoever does not know that it was committed, and does it all again, is stopped.
    let mut tx = onward::begin(&db.pool).await.unwrap();
    B::run(&mut tx, "INSERT INTO effects VALUES (1, 'mail')").await.unwrap();
    assert_eq!(first.finish_in(&mut tx, &reply("anna")).await.unwrap_err().kind(), ErrorKind::ClaimLost);
    tx.rollback().await;
    // A transaction of sqlx's will do, and so will an attempt's.
    let second = owned(&claims, "l").await;
    let mut tx = db.pool.begin().await.unwrap();
    second.finish_in(&mut tx, &reply("otto")).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(answered(&claims, "l").await, reply("otto"));
    let third = owned(&claims, "m").await;
    assert_eq!(pay(&db.pool, &third, 1).await.unwrap().as_str(), "applied");
    assert_eq!((answered(&claims, "m").await, effects(&db).await), (reply(1), 2));
}

async fn a_rollback_leaves_it_in_progress<B: Db>(db: Fixture<B>) {
    shop(&db, 0).await;
    let claims = brief(&db.pool);
    let first = owned(&claims, "k").await;
    let mut tx = onward::begin(&db.pool).await.unwrap();
    first.finish_in(&mut tx, &reply("the first")).await.unwrap();
    tx.rollback().await;
    assert_eq!(told(&claims, "k").await, "in progress");
    over().await;
    let second = owned(&claims, "k").await;
    let mut tx = onward::begin(&db.pool).await.unwrap();
    second.finish_in(&mut tx, &reply("the second")).await.unwrap();
    drop(tx);
    // Its owner may try again.
    let mut tx = onward::begin(&db.pool).await.unwrap();
    second.finish_in(&mut tx, &reply("the second")).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(answered(&claims, "k").await, reply("the second"));
}

async fn a_failure_is_stored_or_released<B: Db>(db: Fixture<B>) {
    let claims = shop(&db, 1).await;
    for (key, stored) in [("k", true), ("l", false)] {
        let owned = owned(&claims, key).await;
        let claim = owned.clone();
        let attempt = db.any(1).await.pay("T-1".into(), noon());
        let work = attempt.apply_with(&db.pool, async move |tx: &mut B::Connection, _: &_| {
            claim.finish_in(tx, &reply(1)).await?;
            Err::<(), BoxError>("no money".into())
        });
        let error = work.await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Effect);
        if stored {
            owned.finish(&Reply::new(402, "no money")).await.unwrap();
        } else {
            assert!(owned.release_after(&error).await.unwrap());
        }
    }
    assert_eq!(answered(&claims, "k").await, Reply::new(402, "no money"));
    assert_eq!(told(&claims, "l").await, "owned");
    assert_eq!(db.state(1).await, "pending:0");
}

/// What the work did stands by then.
async fn an_error_of_finish_frees_nothing<B: Db>(db: Fixture<B>) {
    let claims = shop(&db, 0).await;
    let owned = owned(&claims, "k").await;
    db.run("ALTER TABLE onward_claim RENAME TO away").await;
    let error = owned.finish(&reply("anna")).await.unwrap_err();
    db.run("ALTER TABLE away RENAME TO onward_claim").await;
    assert_eq!(error.kind(), ErrorKind::Database);
    assert!(!owned.release_after(&error).await.unwrap());
    assert_eq!(told(&claims, "k").await, "in progress");
}

async fn the_late_original_rolls_back<B: Db>(db: Fixture<B>) {
    shop(&db, 1).await;
    let claims = brief(&db.pool);
    let late = owned(&claims, "k").await;
    over().await;
    let second = owned(&claims, "k").await;
    let work = pay(&db.pool, &late, 1).await;
    assert_eq!(undone(&work), ErrorKind::ClaimLost);
    assert!(work.unwrap_err().is_known_not_applied());
    assert_eq!((db.state(1).await.as_str(), effects(&db).await), ("pending:0", 0));
    assert_eq!(pay(&db.pool, &second, 1).await.unwrap().as_str(), "applied");
    assert_eq!((db.state(1).await.as_str(), effects(&db).await), ("paid:1", 1));
    assert_eq!(answered(&claims, "k").await, reply(1));
}

async fn a_finish_on_its_way_is_waited_for<B: Db>(db: Fixture<B>) {
    shop(&db, 0).await;
    for (key, commits) in [("k", true), ("l", false)] {
        let claims = brief(&db.pool);
        let late = owned(&claims, key).await;
        over().await;
        // Nobody has taken it over yet.
        let mut tx = onward::begin(&db.pool).await.unwrap();
        late.finish_in(&mut tx, &reply("the late one")).await.unwrap();
        let others = claims.clone();
        let other = tokio::spawn(async move { others.claim(key, b"payload").await.unwrap() });
        sleep(Duration::from_millis(100)).await;
        assert!(!other.is_finished());
        if commits {
            tx.commit().await.unwrap();
        } else {
            tx.rollback().await;
        }
        match other.await.unwrap() {
            Claim::Answered(answer) if commits => assert_eq!(answer, reply("the late one")),
            Claim::Owned(second) if !commits => {
                let mut tx = onward::begin(&db.pool).await.unwrap();
                let lost = late.finish_in(&mut tx, &reply("the late one")).await.unwrap_err();
                assert_eq!(lost.kind(), ErrorKind::ClaimLost);
                tx.rollback().await;
                second.finish(&reply("the second")).await.unwrap();
            }
            other => panic!("{}", word(&other)),
        }
    }
}

async fn a_raced_insert<B: Db>(db: Fixture<B>) {
    let claims = shop(&db, 0).await;
    let _busy = owned(&claims, "busy").await;
    owned(&claims, "done").await.finish(&reply("anna")).await.unwrap();
    for (key, like, commits, expected) in
        [("k", "busy", true, "in progress"), ("l", "done", true, "answered"), ("m", "busy", false, "owned")]
    {
        let mut tx = onward::begin(&db.pool).await.unwrap();
        let insert = format!(
            "INSERT INTO onward_claim SELECT business, '{key}', fingerprint, owner, expires_at, kept_until, status, answer \
             FROM onward_claim WHERE claim_key = '{like}'"
        );
        assert_eq!(B::run(&mut tx, &insert).await.unwrap(), 1);
        let others = claims.clone();
        let other = tokio::spawn(async move { others.claim(key, b"payload").await.unwrap() });
        sleep(Duration::from_millis(100)).await;
        assert!(!other.is_finished());
        if commits {
            tx.commit().await.unwrap();
        } else {
            tx.rollback().await;
        }
        assert_eq!(word(&other.await.unwrap()), expected);
    }
}

async fn outside_of_a_transaction<B: Db>(db: Fixture<B>) {
    let claims = shop(&db, 0).await;
    let owned = owned(&claims, "k").await;
    let mut connection = db.pool.acquire().await.unwrap();
    let error = owned.finish_in(&mut connection, &reply("anna")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotInTransaction);
    drop(connection);
    assert_eq!(told(&claims, "k").await, "in progress");
}

async fn claims_removed_before_the_work_is_finished<B: Db>(db: Fixture<B>) {
    let claims = shop(&db, 1).await;
    let first = owned(&claims, "k").await;
    db.run("DELETE FROM onward_claim").await;
    // Somebody else may have it by now.
    assert_eq!(undone(&pay(&db.pool, &first, 1).await), ErrorKind::ClaimLost);
    let second = owned(&claims, "k").await;
    assert_eq!(undone(&pay(&db.pool, &first, 1).await), ErrorKind::ClaimLost);
    assert_eq!(pay(&db.pool, &second, 1).await.unwrap().as_str(), "applied");
    assert_eq!((effects(&db).await, answered(&claims, "k").await), (1, reply(1)));
}

async fn claims_removed_after_the_work<B: Db>(db: Fixture<B>) {
    let claims = shop(&db, 1).await;
    let first = owned(&claims, "k").await;
    assert_eq!(pay(&db.pool, &first, 1).await.unwrap().as_str(), "applied");
    let bonus = async |owned: &Owned<Pool<B>>| {
        let mut tx = onward::begin(&db.pool).await.unwrap();
        let once = once(&mut tx, "bonus", owned.request_id()).await.unwrap();
        tx.commit().await.unwrap();
        once
    };
    assert_eq!(bonus(&first).await, Once::First);
    db.run("DELETE FROM onward_claim").await;
    // What is underneath knows, and the answer is the same again.
    let second = owned(&claims, "k").await;
    assert_eq!(pay(&db.pool, &second, 1).await.unwrap().as_str(), "duplicate");
    assert_eq!(bonus(&second).await, Once::Repeat);
    second.finish(&reply(1)).await.unwrap();
    assert_eq!((effects(&db).await, answered(&claims, "k").await), (1, reply(1)));
}

async fn claims_removed_again_and_again<B: Db>(db: Fixture<B>) {
    const ORDERS: i64 = 12;
    let claims = shop(&db, ORDERS).await;
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let mut callers = JoinSet::new();
    for _ in 0..4 {
        for id in 1..=ORDERS {
            let (claims, pool) = (claims.clone(), db.pool.clone());
            callers.spawn(async move {
                let key = format!("k-{id}");
                loop {
                    match claims.claim(&key, b"payload").await.unwrap() {
                        Claim::Answered(answer) => {
                            assert_eq!(answer, reply(id));
                            break;
                        }
                        Claim::Owned(owned) => match pay(&pool, &owned, id).await {
                            Ok(outcome) => {
                                assert_eq!(outcome.answer(), Answer::Settled, "{outcome:?}");
                                break;
                            }
                            Err(error) => assert!(error.is_known_not_applied(), "{error:?}"),
                        },
                        Claim::InProgress { .. } => {}
                        Claim::OtherPayload => panic!(),
                    }
                    sleep(Duration::from_millis(5)).await;
                }
            });
        }
    }
    let pool = db.pool.clone();
    let remover = tokio::spawn(async move {
        let mut removed = 0;
        while !*stopped.borrow() {
            let mut c = pool.acquire().await.unwrap();
            // On a cluster it may have to give way.
            removed += B::run(&mut c, "DELETE FROM onward_claim").await.unwrap_or_default();
            drop(c);
            sleep(Duration::from_millis(10)).await;
        }
        removed
    });
    callers.join_all().await;
    stop.send_replace(true);
    assert!(remover.await.unwrap() > 0);
    assert_eq!(effects(&db).await, ORDERS);
    assert_eq!(db.number("SELECT COUNT(DISTINCT order_id) FROM effects").await, ORDERS);
}

async fn dropped_anywhere<B: Db>(db: Fixture<B>) {
    shop(&db, 0).await;
    let claims = brief(&db.pool);
    for round in 0..25 {
        let key = format!("k-{round}");
        let claim = claims.claim(&key, b"payload");
        let _ = tokio::time::timeout(Duration::from_micros(100 * round), claim).await;
    }
    // A statement that was sent may still arrive.
    sleep(Duration::from_millis(200)).await;
    over().await;
    for round in 0..25 {
        let owned = owned(&claims, &format!("k-{round}")).await;
        owned.finish(&reply(round)).await.unwrap();
    }
}

async fn purged<B: Db>(db: Fixture<B>) {
    let claims = shop(&db, 0).await;
    let other = Claims::new(&db.pool, "refund");
    drop(owned(&claims, "busy").await);
    owned(&other, "k").await.finish(&reply("otto")).await.unwrap();
    owned(&claims, "k").await.finish(&reply("anna")).await.unwrap();
    // As many as one batch deletes, and more.
    let digits = "(SELECT 0 AS d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION \
                  SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9)";
    db.run(&format!(
        "INSERT INTO onward_claim SELECT k.business, CAST(1000 * a.d + 100 * b.d + 10 * c.d + e.d AS CHAR(4)), \
         k.fingerprint, k.owner, k.expires_at, k.kept_until, k.status, k.answer \
         FROM onward_claim k, {digits} a, {digits} b, {digits} c, {digits} e \
         WHERE k.business = 'checkout' AND k.claim_key = 'k' AND a.d < 2"
    ))
    .await;
    assert_eq!(db.number("SELECT COUNT(*) FROM onward_claim").await, 2_003);
    assert_eq!(claims.purge().await.unwrap(), 0);
    // An answer is kept for a day, and a claim that nobody finished for as long beyond its end.
    db.aged("onward_claim", "kept_until", 1).await;
    assert_eq!(claims.purge().await.unwrap(), 2_001);
    assert_eq!(told(&claims, "busy").await, "in progress");
    assert_eq!(told(&claims, "k").await, "owned");
    db.aged("onward_claim", "kept_until", 1).await;
    assert_eq!(claims.purge().await.unwrap(), 1);
    assert_eq!(told(&claims, "busy").await, "owned");
    assert_eq!(answered(&other, "k").await, reply("otto"));
    assert_eq!(other.purge().await.unwrap(), 1);
}
