//! A reply is lost at each message of a claim and of an answer in turn; and of the COMMIT of the work.

use super::{answered, brief, over, owned, reply, told};
use crate::{
    db::{Db, Fixture},
    proxy::{HARMS, Harm, Protocol, Proxy, Side, through},
};
use onward::{
    ErrorKind,
    idempotency::{Claim, Claims},
    token::{Consumed, Tokens},
};
use sqlx::{Pool, pool::PoolOptions};
use std::time::Duration;

/// Somebody who got no reply asks again, and so learns that it was he.
async fn claimed_at_each_message<B: Db>(db: Fixture<B>, protocol: Protocol) {
    onward::migrate(&db.pool).await.unwrap();
    let direct = Claims::new(&db.pool, "checkout");
    let mut struck = 0;
    for (side, harm) in HARMS {
        for n in 1..50 {
            let case = format!("{} {harm:?} at message {n} of the {side:?}", B::ENGINE);
            let proxy = Proxy::before(&db.url, protocol).await;
            let pool = through::<B>(&proxy, &db.url).await;
            let claims = Claims::new(&pool, "checkout");
            proxy.arm(side, n, harm, 1);
            let claim = claims.claim(&case, b"payload").await.unwrap();
            let Claim::Owned(owned) = claim else { panic!("{case}: {claim:?}") };
            let claiming = proxy.disarm();
            assert_eq!(told(&direct, &case).await, "in progress", "{case}");

            drop(pool.acquire().await.unwrap());
            proxy.arm(side, n, harm, 1);
            owned.finish(&reply(&case)).await.unwrap();
            let finishing = proxy.disarm() - claiming;
            proxy.release();
            pool.close().await;
            proxy.settled().await;
            assert_eq!(answered(&direct, &case).await, reply(&case));
            struck += claiming + finishing;
            if claiming + finishing == 0 {
                break;
            }
        }
    }
    assert!(struck >= 2 * HARMS.len(), "{struck}");
}

/// Nobody knows what became of the work: the key is not freed, whoever asks for it.
async fn an_unknown_outcome_never_releases<B: Db>(db: Fixture<B>, protocol: Protocol) {
    onward::migrate(&db.pool).await.unwrap();
    db.run("CREATE TABLE done (n BIGINT NOT NULL)").await;
    let claims = brief(&db.pool);
    for (harm, committed) in [(Harm::CutBefore, false), (Harm::CutAfter, true)] {
        let key = format!("{harm:?}");
        let proxy = Proxy::before(&db.url, protocol).await;
        let pool = through::<B>(&proxy, &db.url).await;
        let owned_by_us = owned(&claims, &key).await;
        let mut tx = onward::begin(&pool).await.unwrap();
        B::run(&mut tx, "INSERT INTO done VALUES (1)").await.unwrap();
        owned_by_us.finish_in(&mut tx, &reply("the first")).await.unwrap();
        // Its savepoint is released, and then comes the COMMIT.
        proxy.arm(Side::Client, 2, harm, 1);
        let error = tx.commit().await.unwrap_err();
        assert_eq!((error.kind(), proxy.disarm()), (ErrorKind::CommitUnknown, 1));
        assert!(!owned_by_us.release_after(&error).await.unwrap());
        pool.close().await;
        proxy.settled().await;
        if committed {
            assert_eq!(answered(&claims, &key).await, reply("the first"));
        } else {
            assert_eq!(told(&claims, &key).await, "in progress");
            over().await;
            assert_eq!(told(&claims, &key).await, "owned");
        }
    }
    assert_eq!(db.number("SELECT COUNT(*) FROM done").await, 1);
}

/// No reply, and then nobody who could be asked: what was sent may have been done all the same.
async fn unknown_stays_unknown<B: Db>(db: Fixture<B>, protocol: Protocol) {
    onward::migrate(&db.pool).await.unwrap();
    let proxy = Proxy::before(&db.url, protocol).await;
    let options = PoolOptions::new().max_connections(1).test_before_acquire(false);
    let pool: Pool<B> = options.connect(&proxy.url(&db.url)).await.unwrap();
    let (claims, direct) = (Claims::new(&pool, "checkout"), Claims::new(&db.pool, "checkout"));
    let (tokens, token) =
        (Tokens::new(&pool, "form"), Tokens::new(&db.pool, "form").issue("anna").await.unwrap());
    // Statements that are prepared.
    owned(&claims, "before").await.finish(&reply("before")).await.unwrap();
    let _ = tokens.consume("otto", token.secret()).await.unwrap();
    let arm = async || {
        // A connection that is given back is asked once more whether it lives.
        while pool.num_idle() == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        proxy.arm(Side::Server, 1, Harm::CutBefore, 1_000);
    };
    let unknown = async |error: Option<onward::Error>, what: &str| {
        let error = error.unwrap_or_else(|| panic!("{what}"));
        assert_eq!(error.kind(), ErrorKind::CommitUnknown, "{what}: {error:?}");
        assert!(proxy.disarm() >= 2 && !error.is_known_not_applied(), "{what}");
    };

    arm().await;
    unknown(claims.claim("k", b"payload").await.err(), "claim").await;
    assert_eq!(told(&direct, "k").await, "in progress");

    let first = owned(&claims, "l").await;
    first.finish(&reply("warm")).await.unwrap();
    let second = owned(&claims, "m").await;
    arm().await;
    unknown(second.finish(&reply("anna")).await.err(), "finish").await;
    assert_eq!(answered(&direct, "m").await, reply("anna"));

    let _ = tokens.consume("otto", token.secret()).await.unwrap();
    arm().await;
    unknown(tokens.consume("anna", token.secret()).await.err(), "consume").await;
    let shown = Tokens::new(&db.pool, "form").consume("anna", token.secret()).await.unwrap();
    assert!(matches!(shown, Consumed::Used(_)), "{shown:?}");
}

#[cfg(feature = "postgres")]
mod postgres {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn claimed() {
        claimed_at_each_message(sqlx::Postgres::fresh(3).await, Protocol::Postgres).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn unknown() {
        an_unknown_outcome_never_releases(sqlx::Postgres::fresh(3).await, Protocol::Postgres).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn stays_unknown() {
        unknown_stays_unknown(sqlx::Postgres::fresh(3).await, Protocol::Postgres).await;
    }
}

#[cfg(feature = "mysql")]
mod mariadb {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn claimed() {
        claimed_at_each_message(sqlx::MySql::fresh(3).await, Protocol::MySql).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn unknown() {
        an_unknown_outcome_never_releases(sqlx::MySql::fresh(3).await, Protocol::MySql).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn stays_unknown() {
        unknown_stays_unknown(sqlx::MySql::fresh(3).await, Protocol::MySql).await;
    }
}

#[cfg(feature = "redis")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn redis() {
    use onward::redis::Redis;
    let (url, prefix) = (crate::servers::redis().admin_url(), crate::db::fresh_name());
    let direct = Claims::new(&Redis::connect(url).await.unwrap().prefix(&prefix), "checkout");
    let mut struck = 0;
    for (side, harm) in HARMS {
        for n in 1..50 {
            let case = format!("{harm:?} at message {n} of the {side:?}");
            let proxy = Proxy::before(url, Protocol::Redis).await;
            let store = Redis::connect(&proxy.url(url)).await.unwrap().prefix(&prefix);
            let claims = Claims::new(&store, "checkout");
            // Its connection has said all that it says by itself, and the server knows the script.
            owned(&claims, &format!("{case}, before")).await.finish(&reply("anna")).await.unwrap();
            proxy.arm(side, n, harm, 1);
            let owned = owned(&claims, &case).await;
            let claiming = proxy.disarm();
            assert_eq!(told(&direct, &case).await, "in progress", "{case}");

            proxy.arm(side, n, harm, 1);
            owned.finish(&reply(&case)).await.unwrap();
            let finishing = proxy.disarm() - claiming;
            proxy.release();
            drop((owned, claims, store));
            proxy.settled().await;
            assert_eq!(answered(&direct, &case).await, reply(&case));
            struck += claiming + finishing;
            if claiming + finishing == 0 {
                break;
            }
        }
    }
    assert!(struck >= 2 * HARMS.len(), "{struck}");
}
