//! What is stored: verified messages once for each id and payload, all others within limits.

use super::{DAY, inbox};
use crate::db::{Db, Fixture};
use onward::{
    Answer, ErrorKind,
    inbox::{Inbox, Message, Status, Stored, Unverified},
};
use std::time::{Duration, SystemTime};
use tokio::task::JoinSet;

on_every_database![
    a_forged_message_takes_no_id,
    a_repeat_tells_what_became_of_the_first,
    a_changed_payload_is_an_entry_of_its_own,
    fifty_deliveries_at_once,
    a_flood_of_unverified_ones_is_capped,
    a_message_comes_back_as_it_was,
    a_transaction_is_no_place_to_store,
    names_that_are_too_long_are_refused,
    payloads_are_not_shown,
];

async fn a_forged_message_takes_no_id<B: Db>(db: Fixture<B>) {
    db.inbox(0).await;
    let forged = Message::new("notify_id=N&trade_status=TRADE_SUCCESS").header("sign", "none").key("N-1");
    assert_eq!(inbox().set_aside(&db.pool, &forged).await.unwrap(), Unverified::Kept);
    assert!(inbox().claim_next(&db.pool).await.unwrap().is_none());
    let Stored::New(entry) = db.store("N", "the real one").await else { panic!() };
    assert!(!entry.changed);
    let claim = inbox().claim_next(&db.pool).await.unwrap().unwrap();
    assert_eq!((claim.id, claim.message().body()), (entry.id, &b"the real one"[..]));
    // The same bytes, now verified: nor do they stand in each other's way.
    let Stored::New(entry) = inbox().store(&db.pool, "M", &forged).await.unwrap() else { panic!() };
    assert!(!entry.changed);
}

async fn a_repeat_tells_what_became_of_the_first<B: Db>(db: Fixture<B>) {
    db.inbox(0).await;
    let first = db.store("N", "body").await;
    assert!(matches!(first, Stored::New(_)));
    assert_eq!(first.answer(), Answer::Later);
    let claim = inbox().claim(&db.pool, first.entry().id).await.unwrap().unwrap();
    let Stored::Repeat(entry) = db.store("N", "body").await else { panic!() };
    assert_eq!((entry.id, entry.status, entry.attempts), (first.entry().id, Status::Claimed, 1));
    claim.duplicate(&db.pool).await.unwrap();
    let again = db.store("N", "body").await;
    assert_eq!((again.entry().status, again.answer()), (Status::Duplicate, Answer::Settled));
    assert_eq!(db.number("SELECT COUNT(*) FROM onward_inbox").await, 1);
    // Another source has ids of its own, and ids are bytes.
    let other = Inbox::new("stripe").store(&db.pool, "N", &Message::new("body")).await.unwrap();
    assert!(matches!(other, Stored::New(_)));
    for id in ["n", "N ", ""] {
        assert!(matches!(db.store(id, "body").await, Stored::New(_)), "{id}");
    }
}

async fn a_changed_payload_is_an_entry_of_its_own<B: Db>(db: Fixture<B>) {
    db.inbox(0).await;
    let first = db.store("N", "pays T-1").await;
    let Stored::New(changed) = db.store("N", "pays T-2").await else { panic!() };
    assert!(changed.changed && changed.id != first.entry().id);
    let Stored::Repeat(again) = db.store("N", "pays T-2").await else { panic!() };
    assert!(again.changed && again.id == changed.id);
    let Stored::Repeat(again) = db.store("N", "pays T-1").await else { panic!() };
    assert!(!again.changed && again.id == first.entry().id);
    // Both are processed, and the causes in them tell what they mean.
    for _ in 0..2 {
        let claim = inbox().claim_next(&db.pool).await.unwrap().unwrap();
        let body = if claim.changed { "pays T-2" } else { "pays T-1" };
        assert_eq!(claim.message().body(), body.as_bytes());
    }
    assert!(inbox().claim_next(&db.pool).await.unwrap().is_none());
}

async fn fifty_deliveries_at_once<B: Db>(db: Fixture<B>) {
    db.inbox(0).await;
    let mut tasks = JoinSet::new();
    for i in 0..50 {
        let pool = db.pool.clone();
        let message = Message::new(format!("body {}", i % 2));
        tasks.spawn(
            async move { matches!(inbox().store(&pool, "N", &message).await.unwrap(), Stored::New(_)) },
        );
    }
    assert_eq!(tasks.join_all().await.into_iter().filter(|new| *new).count(), 2);
    assert_eq!(db.number("SELECT COUNT(*) FROM onward_inbox WHERE variant = ''").await, 1);
    assert_eq!(db.number("SELECT COUNT(*) FROM onward_inbox").await, 2);
}

async fn a_flood_of_unverified_ones_is_capped<B: Db>(db: Fixture<B>) {
    db.inbox(0).await;
    let inbox = inbox().unverified_limit(20).unverified_bytes(100).unverified_for(DAY);
    let aside = async |body: String| inbox.set_aside(&db.pool, &Message::new(body)).await.unwrap();
    for _ in 0..3 {
        let _ = aside("the same".into()).await;
    }
    assert_eq!(db.number("SELECT COUNT(*) FROM onward_unverified").await, 1);
    for i in 0..60 {
        let expected = if i < 19 { Unverified::Kept } else { Unverified::Full };
        assert_eq!(aside(format!("{i}{}", "x".repeat(1_000))).await, expected);
    }
    assert_eq!(db.number("SELECT COUNT(*) FROM onward_unverified").await, 20);
    assert_eq!(db.number("SELECT COUNT(*) FROM onward_unverified WHERE LENGTH(body) = 100").await, 19);
    // Other sources have a share of their own, and verified messages need none.
    let other = Inbox::new("stripe").set_aside(&db.pool, &Message::new("x")).await.unwrap();
    assert_eq!(other, Unverified::Kept);
    assert!(matches!(db.store("N", "real").await, Stored::New(_)));
    // What is old makes place.
    db.age("received_at", 2).await;
    assert_eq!(aside("late".into()).await, Unverified::Kept);
    assert_eq!(db.number("SELECT COUNT(*) FROM onward_unverified WHERE source = 'alipay'").await, 1);
    // What cannot be stored as it is does no harm.
    let odd = Message::new("odd").header("a\0b", "c\0d").key("k\0");
    assert_eq!(inbox.set_aside(&db.pool, &odd).await.unwrap(), Unverified::Kept);
}

async fn a_message_comes_back_as_it_was<B: Db>(db: Fixture<B>) {
    db.inbox(0).await;
    let message = Message::new((0..=255).collect::<Vec<u8>>())
        .header("Stripe-Signature", "t=1,v1=ab\r\n\0: ü")
        .header("x:y", "")
        .key("N-1 ü");
    let stored = inbox().store(&db.pool, "N", &message).await.unwrap();
    let claim = inbox().claim(&db.pool, stored.entry().id).await.unwrap().unwrap();
    assert_eq!(claim.message(), &message);
    assert_eq!((claim.source.as_str(), claim.message_id.as_str(), claim.attempts), ("alipay", "N", 1));
    let (entry, found) = inbox().find(&db.pool, claim.id).await.unwrap().unwrap();
    assert_eq!((found, entry.business_key.as_deref()), (message, Some("N-1 ü")));
    let age = SystemTime::now().duration_since(entry.received_at).unwrap_or_default();
    assert!(age < Duration::from_secs(60), "{age:?}");
    assert!(Inbox::new("stripe").find(&db.pool, claim.id).await.unwrap().is_none());
    let long = Message::new(vec![1; 300_000]);
    let stored = inbox().store(&db.pool, "L", &long).await.unwrap();
    let (_, found) = inbox().find(&db.pool, stored.entry().id).await.unwrap().unwrap();
    assert_eq!(found, long);
}

async fn a_transaction_is_no_place_to_store<B: Db>(db: Fixture<B>) {
    use sqlx::Connection as _;
    db.inbox(0).await;
    let mut connection = db.pool.acquire().await.unwrap();
    let stored = inbox().store(&mut connection, "N", &Message::new("")).await.unwrap();
    std::mem::forget(connection.begin().await.unwrap());
    let error = inbox().store(&mut connection, "M", &Message::new("")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InTransaction);
    let error = inbox().claim(&mut connection, stored.entry().id).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InTransaction);
    connection.close().await.unwrap();
}

async fn names_that_are_too_long_are_refused<B: Db>(db: Fixture<B>) {
    db.inbox(0).await;
    let (long, message) = ("x".repeat(513), Message::new("body"));
    let most = inbox().store(&db.pool, &long[1..], &message.clone().key(&long[1..])).await.unwrap();
    assert!(matches!(most, Stored::New(_)));
    let kind = async |inbox: Inbox, id: &str, message: &Message| {
        inbox.store(&db.pool, id, message).await.unwrap_err().kind()
    };
    assert_eq!(kind(inbox(), &long, &message).await, ErrorKind::TooLong);
    assert_eq!(kind(inbox(), "N", &message.clone().key(&long)).await, ErrorKind::TooLong);
    assert_eq!(kind(Inbox::new(&long[..65]), "N", &message).await, ErrorKind::TooLong);
    let error = inbox().owner(&long[..65]).claim_next(&db.pool).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLong);
    assert_eq!(db.number("SELECT COUNT(*) FROM onward_inbox").await, 1);
}

async fn payloads_are_not_shown<B: Db>(db: Fixture<B>) {
    db.inbox(0).await;
    let message = Message::new("secret").header("secret", "secret").key("secret");
    let stored = inbox().store(&db.pool, "N", &message).await.unwrap();
    let claim = inbox().claim(&db.pool, stored.entry().id).await.unwrap().unwrap();
    claim.failed(&db.pool, "secret").await.unwrap();
    let found = inbox().find(&db.pool, claim.id).await.unwrap().unwrap();
    let shown = format!("{message:?} {stored:?} {claim:?} {found:?}");
    assert!(shown.contains("alipay") && !shown.contains("secret"), "{shown}");
}
