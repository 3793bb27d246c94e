//! Claims: of all who come with a key, one works, and the others are told what became of it.

#[cfg(all(feature = "redis", feature = "sqlite"))]
mod advisory;
#[cfg(unix)]
mod crashes;
mod overtaken;
mod sql;
mod takeovers;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod unsettled;

use crate::stores::{Ground, Place};
use onward::{
    Error, ErrorKind,
    idempotency::{Claim, Claims, Owned, Reply},
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    sync::{Barrier, watch},
    task::JoinSet,
    time::sleep,
};

in_every_store![
    claimed_and_answered,
    a_hundred_callers_at_once,
    another_payload_is_refused,
    an_owner_that_died_is_taken_over,
    a_hundred_take_over_at_once,
    late_but_not_taken_over,
    released,
    released_after_an_error,
    settled_once,
    any_bytes_are_an_answer,
    names_are_told_apart_byte_by_byte,
    names_that_are_too_long,
    how_long_to_wait,
    in_a_spawned_task,
];

/// Which it was, in short.
pub fn word<S>(claim: &Claim<S>) -> &'static str {
    match claim {
        Claim::Owned(_) => "owned",
        Claim::InProgress { .. } => "in progress",
        Claim::Answered(_) => "answered",
        Claim::OtherPayload => "other payload",
    }
}

pub async fn told<S: Place>(claims: &Claims<S>, key: &str) -> &'static str {
    word(&claims.claim(key, b"payload").await.unwrap())
}

pub async fn owned<S: Place>(claims: &Claims<S>, key: &str) -> Owned<S> {
    match claims.claim(key, b"payload").await.unwrap() {
        Claim::Owned(owned) => owned,
        other => panic!("{}", word(&other)),
    }
}

pub async fn answered<S: Place>(claims: &Claims<S>, key: &str) -> Reply {
    match claims.claim(key, b"payload").await.unwrap() {
        Claim::Answered(reply) => reply,
        other => panic!("{}", word(&other)),
    }
}

/// A claim that runs out soon.
const BRIEF: Duration = Duration::from_millis(400);

pub fn brief<S: Place>(store: &S) -> Claims<S> {
    Claims::new(store, "checkout").expires(BRIEF)
}

/// Until a brief claim has run out.
pub async fn over() {
    sleep(BRIEF + Duration::from_millis(100)).await;
}

/// A reply that tells who gave it.
pub fn reply(by: impl std::fmt::Display) -> Reply {
    Reply::new(201, format!("order of {by}"))
}

async fn claimed_and_answered<S: Place>(ground: Ground<S>) {
    let claims = Claims::new(&ground.store, "checkout");
    let owned = owned(&claims, "k").await;
    assert_eq!(told(&claims, "k").await, "in progress");
    owned.finish(&reply("anna")).await.unwrap();
    for _ in 0..2 {
        assert_eq!(answered(&claims, "k").await, reply("anna"));
    }
    assert_eq!(told(&claims, "l").await, "owned");
    assert_eq!(told(&Claims::new(&ground.store, "refund"), "k").await, "owned");
}

async fn a_hundred_callers_at_once<S: Place>(ground: Ground<S>) {
    const CALLERS: usize = 100;
    const ROUNDS: usize = 200;
    let claims = Claims::new(&ground.store, "checkout");
    for round in 0..ROUNDS {
        let start = Arc::new(Barrier::new(CALLERS));
        let (done, finished) = watch::channel(false);
        let done = Arc::new(done);
        let mut callers = JoinSet::new();
        for caller in 0..CALLERS {
            let (claims, key) = (claims.clone(), format!("k-{round}"));
            let (start, done, mut finished) = (start.clone(), done.clone(), finished.clone());
            callers.spawn(async move {
                start.wait().await;
                match claims.claim(&key, b"payload").await.unwrap() {
                    Claim::Owned(owned) => {
                        owned.finish(&reply(caller)).await.unwrap();
                        done.send_replace(true);
                        (Some(caller), reply(caller))
                    }
                    Claim::InProgress { .. } => {
                        finished.wait_for(|done| *done).await.unwrap();
                        (None, answered(&claims, &key).await)
                    }
                    Claim::Answered(reply) => (None, reply),
                    Claim::OtherPayload => panic!(),
                }
            });
        }
        let told = callers.join_all().await;
        let winners: Vec<usize> = told.iter().filter_map(|(winner, _)| *winner).collect();
        assert_eq!(winners.len(), 1, "round {round}: {winners:?}");
        assert!(told.iter().all(|(_, answer)| *answer == reply(winners[0])), "round {round}");
    }
}

async fn another_payload_is_refused<S: Place>(ground: Ground<S>) {
    let claims = brief(&ground.store);
    let other = async |claims: &Claims<S>| word(&claims.claim("k", b"another").await.unwrap());
    let late = owned(&claims, "k").await;
    assert_eq!(other(&claims).await, "other payload", "while it is worked on");
    over().await;
    assert_eq!(other(&claims).await, "other payload", "of one that died, who may have done it");
    let owned = owned(&claims, "k").await;
    owned.finish(&reply("anna")).await.unwrap();
    assert_eq!(other(&claims).await, "other payload", "once it is answered");
    assert_eq!(answered(&claims, "k").await, reply("anna"));
    drop(late);
}

async fn an_owner_that_died_is_taken_over<S: Place>(ground: Ground<S>) {
    let claims = brief(&ground.store);
    let late = owned(&claims, "k").await;
    assert_eq!(told(&claims, "k").await, "in progress");
    over().await;
    let second = owned(&claims, "k").await;
    assert_eq!(told(&claims, "k").await, "in progress");
    assert_eq!(late.request_id(), second.request_id());
    // The late one can neither finish nor free what is not its own any more.
    let error = late.finish(&reply("the late one")).await.unwrap_err();
    assert_eq!((error.kind(), error.transition()), (ErrorKind::ClaimLost, Some("finish")));
    late.release().await.unwrap();
    assert_eq!(told(&claims, "k").await, "in progress");
    second.finish(&reply("the second")).await.unwrap();
    for answer in [reply("the late one"), reply("the second")] {
        assert_eq!(late.finish(&answer).await.unwrap_err().kind(), ErrorKind::ClaimLost);
    }
    late.release().await.unwrap();
    assert_eq!(answered(&claims, "k").await, reply("the second"));
}

async fn a_hundred_take_over_at_once<S: Place>(ground: Ground<S>) {
    const CALLERS: usize = 100;
    let claims = brief(&ground.store);
    let keys: Vec<String> = (0..5).map(|key| format!("k-{key}")).collect();
    for key in &keys {
        drop(owned(&claims, key).await);
    }
    over().await;
    let claims = Claims::new(&ground.store, "checkout");
    for key in keys {
        let start = Arc::new(Barrier::new(CALLERS));
        let mut callers = JoinSet::new();
        for _ in 0..CALLERS {
            let (claims, key, start) = (claims.clone(), key.clone(), start.clone());
            callers.spawn(async move {
                start.wait().await;
                told(&claims, &key).await
            });
        }
        let told = callers.join_all().await;
        let count = |word| told.iter().filter(|told| **told == word).count();
        assert_eq!((count("owned"), count("in progress")), (1, CALLERS - 1), "{key}");
    }
}

async fn late_but_not_taken_over<S: Place>(ground: Ground<S>) {
    let claims = brief(&ground.store);
    let late = owned(&claims, "k").await;
    over().await;
    late.finish(&reply("the late one")).await.unwrap();
    assert_eq!(answered(&claims, "k").await, reply("the late one"));
}

async fn released<S: Place>(ground: Ground<S>) {
    let claims = Claims::new(&ground.store, "checkout");
    let first = owned(&claims, "k").await;
    first.release().await.unwrap();
    first.release().await.unwrap();
    assert_eq!(first.finish(&reply("the first")).await.unwrap_err().kind(), ErrorKind::ClaimLost);
    // Nothing was done, so the key may come with something else.
    let Claim::Owned(second) = claims.claim("k", b"another").await.unwrap() else { panic!() };
    first.release().await.unwrap();
    assert_eq!(first.finish(&reply("the first")).await.unwrap_err().kind(), ErrorKind::ClaimLost);
    assert_eq!(told(&claims, "k").await, "other payload");
    second.finish(&reply("the second")).await.unwrap();
    second.release().await.unwrap();
    let Claim::Answered(answer) = claims.claim("k", b"another").await.unwrap() else { panic!() };
    assert_eq!(answer, reply("the second"), "what is answered is not freed");
}

async fn released_after_an_error<S: Place>(ground: Ground<S>) {
    let claims = Claims::new(&ground.store, "checkout");
    let owned = owned(&claims, "k").await;
    let not_applied = onward::Outcome::<crate::lifecycles::AnyOrder>::NotFound.applied().unwrap_err();
    assert!(owned.release_after(&not_applied).await.unwrap());
    assert_eq!(told(&claims, "k").await, "owned");
}

async fn settled_once<S: Place>(ground: Ground<S>) {
    let claims = Claims::new(&ground.store, "checkout");
    let owned = owned(&claims, "k").await;
    owned.finish(&Reply::new(402, "no money")).await.unwrap();
    // The same again is what is sent after a lost reply; anything else is not stored.
    owned.finish(&Reply::new(402, "no money")).await.unwrap();
    for other in [Reply::new(201, "no money"), Reply::new(402, "")] {
        assert_eq!(owned.finish(&other).await.unwrap_err().kind(), ErrorKind::ClaimLost);
    }
    assert_eq!(answered(&claims, "k").await, Reply::new(402, "no money"));
}

async fn any_bytes_are_an_answer<S: Place>(ground: Ground<S>) {
    let claims = Claims::new(&ground.store, "checkout");
    let every_byte: Vec<u8> = (0..=255).collect();
    let replies = [(0, Vec::new()), (u16::MAX, every_byte), (200, vec![b'x'; 1_000_000])];
    for (number, (status, body)) in replies.into_iter().enumerate() {
        let (key, reply) = (format!("k-{number}"), Reply::new(status, body));
        owned(&claims, &key).await.finish(&reply).await.unwrap();
        let again = answered(&claims, &key).await;
        assert!(again == reply, "{again:?} instead of {reply:?}");
    }
}

async fn names_are_told_apart_byte_by_byte<S: Place>(ground: Ground<S>) {
    let mut ids = std::collections::HashSet::new();
    let names = [
        ("a", "k"),
        ("A", "k"),
        ("a", "K"),
        ("a", "k "),
        ("a", "ḱ"),
        ("a", ""),
        ("a", "b:c"),
        ("a:b", "c"),
        ("a%3Ab", "c"),
        ("a%253Ab", "c"),
        ("", "a:b:c"),
    ];
    let mut all = Vec::new();
    for (business, key) in names {
        let owned = owned(&Claims::new(&ground.store, business), key).await;
        assert!(ids.insert(owned.request_id().to_owned()) && owned.request_id().len() == 64);
        all.push(owned);
    }
    for ((business, key), owned) in names.into_iter().zip(all) {
        assert_eq!(told(&Claims::new(&ground.store, business), key).await, "in progress");
        owned.finish(&reply(owned.request_id())).await.unwrap();
        assert_eq!(answered(&Claims::new(&ground.store, business), key).await, reply(owned.request_id()));
    }
}

async fn names_that_are_too_long<S: Place>(ground: Ground<S>) {
    let claims = Claims::new(&ground.store, "b".repeat(64));
    assert_eq!(told(&claims, &"k".repeat(512)).await, "owned");
    let error = claims.claim(&"k".repeat(513), b"").await.unwrap_err();
    assert_eq!((error.kind(), error.transition()), (ErrorKind::TooLong, Some("claim")));
    let claims = Claims::new(&ground.store, "b".repeat(65));
    assert_eq!(claims.claim("k", b"").await.unwrap_err().kind(), ErrorKind::TooLong);
}

async fn how_long_to_wait<S: Place>(ground: Ground<S>) {
    let wait = async |claims: &Claims<S>| match claims.claim("k", b"payload").await.unwrap() {
        Claim::InProgress { wait } => wait,
        other => panic!("{}", word(&other)),
    };
    const MOMENT: Duration = Duration::from_millis(250);
    /// What Redis counts in.
    const TICK: Duration = Duration::from_millis(1);
    let claims = Claims::new(&ground.store, "checkout").expires(Duration::from_secs(3));
    let since = Instant::now();
    let _owned = owned(&claims, "k").await;
    let (told, passed) = (wait(&claims).await, since.elapsed() + TICK);
    assert!(told >= MOMENT && told <= passed.max(MOMENT), "{told:?} of {passed:?}");
    sleep(Duration::from_millis(600)).await;
    let (told, passed) = (wait(&claims).await, since.elapsed() + TICK);
    assert!(told >= Duration::from_millis(500) && told <= passed, "{told:?} of {passed:?}");
    sleep(Duration::from_millis(1_800).saturating_sub(since.elapsed())).await;
    // What is left is less than what has passed.
    let told = wait(&claims).await;
    assert!(told <= Duration::from_millis(1_250) && !told.is_zero(), "{told:?}");
    sleep(told + Duration::from_millis(20)).await;
    let _second = owned(&claims, "k").await;
}

async fn in_a_spawned_task<S: Place>(ground: Ground<S>) {
    let claims = Claims::new(&ground.store, "checkout");
    let told = tokio::spawn(async move {
        let (key, payload) = (String::from("k"), vec![1, 2, 3]);
        let Claim::Owned(owned) = claims.claim(&key, &payload).await? else { panic!() };
        owned.clone().finish(&Reply::new(200, payload.clone())).await?;
        let Claim::Answered(reply) = claims.claim(&key, &payload).await? else { panic!() };
        Ok::<_, Error>(reply.into_body())
    });
    assert_eq!(told.await.unwrap().unwrap(), [1, 2, 3]);
}
