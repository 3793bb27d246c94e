//! Forms that fall through to the database while Redis is away; a secret is used once, wherever it is.

use super::{
    away::{place, unreachable},
    fresh, shown, used, word,
};
use crate::{
    db::Fixture,
    observed::Recorder,
    proxy::{Harm, Protocol, Proxy, Side},
    servers::Server,
};
use onward::{
    ErrorKind,
    redis::Redis,
    token::{OrElse, Token, Tokens},
};
use sqlx::{Sqlite, SqlitePool};
use std::time::{Duration, Instant};
use tokio::{task::JoinSet, time::sleep};

type Either = Tokens<OrElse<Redis, SqlitePool>>;

/// In either of them, and in Redis alone.
async fn forms() -> (Server, Either, Tokens<Redis>, Fixture<Sqlite>) {
    let (server, redis, db) = place().await;
    let either = Tokens::new(&OrElse::new(&redis, &db.pool), "form");
    (server, either, Tokens::new(&redis, "form"), db)
}

async fn in_the_database(db: &Fixture<Sqlite>) -> i64 {
    db.number("SELECT COUNT(*) FROM onward_token").await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_and_restarted_empty() {
    let (mut server, either, alone, db) = forms().await;
    let before = either.issue("anna").await.unwrap();
    assert_eq!(in_the_database(&db).await, 0);
    server.kill().unwrap();
    // Who did not say so falls through nowhere.
    unreachable(alone.issue("anna")).await;
    unreachable(alone.consume("anna", before.secret())).await;
    let (done, open) = (either.issue("anna").await.unwrap(), either.issue("anna").await.unwrap());
    assert_eq!(in_the_database(&db).await, 2);
    let receipt = fresh(&either, done.secret()).await;
    assert_eq!(used(&either, done.secret()).await.request_id(), receipt.request_id());
    // It is not known here, which says nothing.
    unreachable(either.consume("anna", before.secret())).await;
    unreachable(either.consume("otto", open.secret())).await;
    server.start_again().unwrap();
    assert_eq!(used(&either, done.secret()).await.request_id(), receipt.request_id());
    let _ = fresh(&either, open.secret()).await;
    let _ = used(&either, open.secret()).await;
    assert_eq!(shown(&either, "anna", before.secret()).await, "unknown");
    let after = either.issue("anna").await.unwrap();
    assert_eq!(in_the_database(&db).await, 2);
    let _ = (fresh(&alone, after.secret()).await, used(&either, after.secret()).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn halted() {
    let (mut server, either, alone, db) = forms().await;
    let before = either.issue("anna").await.unwrap();
    server.pause().unwrap();
    let lost = tokio::join!(
        unreachable(alone.issue("anna")),
        unreachable(alone.consume("anna", before.secret())),
        unreachable(either.consume("anna", before.secret())),
    );
    assert_eq!(lost, (ErrorKind::CommitUnknown, ErrorKind::CommitUnknown, ErrorKind::CommitUnknown));
    let token = either.issue("anna").await.unwrap();
    let receipt = fresh(&either, token.secret()).await;
    server.resume().unwrap();
    assert_eq!(in_the_database(&db).await, 1);
    assert_eq!(used(&either, token.secret()).await.request_id(), receipt.request_id());
    // Redis may have left it behind as well, under a secret that nobody was given.
    assert_eq!(shown(&alone, "anna", token.secret()).await, "unknown");
    let told = shown(&either, "anna", before.secret()).await;
    assert!(["fresh", "used"].contains(&told), "{told}");
    let _ = used(&either, before.secret()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replies_that_are_lost() {
    let (server, _, alone, db) = forms().await;
    let url = server.url("0");
    let proxy = Proxy::before(&url, Protocol::Redis).await;
    let redis = Redis::connect(&proxy.url(&url)).await.unwrap();
    let either = Tokens::new(&OrElse::new(&redis, &db.pool), "form");
    let before = either.issue("anna").await.unwrap();
    assert_eq!(shown(&either, "anna", "unknown").await, "unknown");

    // It arrives, and so does nothing else: neither its reply, nor the same once more.
    proxy.arm(Side::Client, 1, Harm::CutAfter, usize::MAX);
    let token = either.issue("anna").await.unwrap();
    proxy.disarm();
    let client = onward::redis::redis::Client::open(url.as_str()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let kept: Vec<String> =
        onward::redis::redis::cmd("KEYS").arg("*").query_async(&mut connection).await.unwrap();
    assert_eq!((kept.len(), in_the_database(&db).await), (2, 1), "{kept:?}");
    assert_eq!(shown(&alone, "anna", token.secret()).await, "unknown", "one secret in two stores");
    let _ = (fresh(&either, token.secret()).await, used(&either, token.secret()).await);

    // Consumed, and nobody is told.
    proxy.arm(Side::Client, 1, Harm::CutAfter, usize::MAX);
    unreachable(either.consume("anna", before.secret())).await;
    proxy.disarm();
    let _ = used(&either, before.secret()).await;
}

/// While Redis dies and comes back, many show many tokens.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn never_fresh_twice() {
    const TOKENS: usize = 20;
    const CALLERS: usize = 5;
    let (mut server, either, _, _db) = forms().await;
    let issue = async || {
        let mut tokens: Vec<Token> = Vec::new();
        for _ in 0..TOKENS {
            tokens.push(either.issue("anna").await.unwrap());
        }
        tokens
    };
    let forgotten = issue().await;
    server.kill().unwrap();
    let kept = issue().await;
    let mut callers = JoinSet::new();
    for (number, token) in forgotten.iter().chain(&kept).enumerate() {
        for _ in 0..CALLERS {
            let (either, token) = (either.clone(), token.clone());
            callers.spawn(async move {
                let since = Instant::now();
                let mut told = Vec::new();
                // Until it is known, and a little longer.
                while told.len() < 20 {
                    match either.consume("anna", token.secret()).await {
                        Ok(consumed) => told.push(word(&consumed)),
                        Err(_) => assert!(since.elapsed() < Duration::from_secs(20)),
                    }
                    sleep(Duration::from_millis(20)).await;
                }
                (number, told)
            });
        }
    }
    sleep(Duration::from_millis(300)).await;
    server.start_again().unwrap();
    let told = callers.join_all().await;
    for number in 0..2 * TOKENS {
        let told: Vec<&str> =
            told.iter().filter(|told| told.0 == number).flat_map(|told| told.1.iter().copied()).collect();
        let count = |word| told.iter().filter(|told| **told == word).count();
        let all = 20 * CALLERS;
        if number < TOKENS {
            assert_eq!(count("unknown"), all, "{told:?}");
        } else {
            assert_eq!((count("fresh"), count("used")), (1, all - 1), "{told:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_falls_through_silently() {
    let (mut server, either, _, _db) = forms().await;
    let recorder = Recorder::default();
    let told = || {
        let of = |fields: &crate::observed::Fields| {
            let words = ["level", "outcome", "step", "because", "purpose"];
            words.map(|word| fields.get(word).cloned().unwrap_or_default()).join(" ")
        };
        recorder.outcomes().iter().map(of).filter(|told| told.starts_with("WARN")).collect::<Vec<_>>()
    };
    let here = recorder.watch(async {
        let token = either.issue("anna").await.unwrap();
        let _ = (fresh(&either, token.secret()).await, used(&either, token.secret()).await);
        assert_eq!(shown(&either, "anna", "no token").await, "unknown");
        token
    });
    let before = here.await;
    assert_eq!(told(), [""; 0]);
    server.kill().unwrap();
    // The first time it may have been sent.
    let _ = either.consume("anna", before.secret()).await.unwrap_err();
    let away = recorder.watch(async {
        let token = either.issue("anna").await.unwrap();
        let _ = fresh(&either, token.secret()).await;
        let _ = either.consume("anna", before.secret()).await.unwrap_err();
        token
    });
    let token = away.await;
    server.start_again().unwrap();
    while either.consume("anna", before.secret()).await.is_err() {}
    recorder.watch(async { drop(used(&either, token.secret()).await) }).await;
    let expected = [
        "WARN fell_through issue database form",
        "WARN fell_through consume database form",
        "WARN fell_through consume database form",
        "WARN fell_through consume unknown form",
    ];
    assert_eq!(told(), expected);
    assert!(!format!("{:?}", recorder.outcomes()).contains(token.secret()), "a secret was shown");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_are_away() {
    let (mut server, either, _, db) = forms().await;
    let before = either.issue("anna").await.unwrap();
    db.run("ALTER TABLE onward_token RENAME TO away").await;
    // The second is not asked for what the first one knows, and its error is no answer to the rest.
    let _ = fresh(&either, before.secret()).await;
    assert_eq!(either.consume("anna", "no token").await.unwrap_err().kind(), ErrorKind::Database);
    server.kill().unwrap();
    unreachable(either.issue("anna")).await;
    unreachable(either.consume("anna", before.secret())).await;
}
