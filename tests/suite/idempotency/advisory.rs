//! Claims in a Redis that forgets, dies and sleeps: what is underneath keeps everything from being done twice.

use super::{answered, brief, over, owned, reply, told};
use crate::{
    db::{Db as _, Fixture},
    journalled::{AnyOrder, Order, Orders as _, Paid, noon},
    servers::Server,
};
use onward::{
    BoxError, Error, ErrorKind, Outcome,
    idempotency::{Claims, Owned},
    redis::{Redis, redis},
    token::Tokens,
};
use sqlx::{Sqlite, SqlitePool};
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// Nobody who waits for an answer waits for longer.
const PATIENCE: Duration = Duration::from_secs(8);

/// A Redis of its own, and orders in a database.
async fn shop() -> (Server, Redis, Fixture<Sqlite>) {
    let server = Server::redis().unwrap_or_else(|error| panic!("{error}"));
    let redis = Redis::connect(&server.url("0")).await.unwrap();
    let db = Sqlite::fresh(4).await;
    db.orders(1).await;
    (server, redis, db)
}

/// Pays the order under the request id of its claim, with an effect in the same transaction.
async fn pay(pool: &SqlitePool, owned: &Owned<Redis>) -> Result<Outcome<Order<Paid>>, Error> {
    let Some(order) = AnyOrder::find(pool, 1).await? else { return Ok(Outcome::NotFound) };
    let attempt = order.pay("T-1".into(), noon()).request_id(owned.request_id());
    let work = attempt.apply_with(pool, async |tx: &mut sqlx::SqliteConnection, _: &_| {
        Sqlite::run(tx, "INSERT INTO effects VALUES (1, 'mail')").await?;
        Ok::<_, BoxError>(())
    });
    work.await
}

async fn effects(db: &Fixture<Sqlite>) -> i64 {
    db.number("SELECT COUNT(*) FROM effects").await
}

/// Fails within a few seconds, and says that the store is the reason.
async fn unreachable<T: std::fmt::Debug>(call: impl Future<Output = Result<T, Error>>) -> ErrorKind {
    let since = Instant::now();
    let error = call.await.unwrap_err();
    assert!(since.elapsed() < PATIENCE, "it took {:?}", since.elapsed());
    assert!(error.to_string().contains("onward_claim") && std::error::Error::source(&error).is_some());
    assert!(matches!(error.kind(), ErrorKind::Database | ErrorKind::CommitUnknown), "{error:?}");
    error.kind()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_key_has_an_expiry() {
    let url = crate::servers::redis().admin_url();
    let prefix = crate::db::fresh_name();
    let store = Redis::connect(url).await.unwrap().prefix(&prefix);
    let claims = brief(&store).keeps(Duration::from_secs(60));
    let _busy = owned(&claims, "busy").await;
    owned(&claims, "done").await.finish(&reply("anna")).await.unwrap();
    owned(&claims, "released").await.release().await.unwrap();
    let _late = owned(&claims, "late").await;
    over().await;
    let _second = owned(&claims, "late").await;
    let long = Claims::new(&store, "for ever").expires(Duration::MAX).keeps(Duration::MAX);
    let _long = owned(&long, "k").await;
    let tokens = Tokens::new(&store, "form");
    let (one, _two) = (tokens.issue("anna").await.unwrap(), tokens.issue("anna").await.unwrap());
    let _ = tokens.consume("anna", one.secret()).await.unwrap();
    let minute = tokens.clone().lifetime(Duration::from_secs(60));
    let used = minute.issue("anna").await.unwrap();
    let _ = minute.consume("anna", used.secret()).await.unwrap();
    let _ = minute.consume("anna", used.secret()).await.unwrap();
    let _ = minute.consume("anna", "never issued").await.unwrap();
    let _ = tokens.clone().lifetime(Duration::MAX).issue("anna").await.unwrap();

    let mut connection = redis::Client::open(url).unwrap().get_multiplexed_async_connection().await.unwrap();
    let (mut cursor, mut keys) = (0_u64, Vec::new());
    loop {
        let mut scan = redis::cmd("SCAN");
        scan.arg(cursor).arg("MATCH").arg(format!("{prefix}:*")).arg("COUNT").arg(1_000);
        let (next, some): (u64, Vec<String>) = scan.query_async(&mut connection).await.unwrap();
        keys.extend(some);
        cursor = next;
        if cursor == 0 {
            break;
        }
    }
    keys.sort();
    keys.dedup();
    let mut left_of_tokens = Vec::new();
    for key in &keys {
        let left: i64 = redis::cmd("PTTL").arg(key).query_async(&mut connection).await.unwrap();
        assert!(left > 0, "{key}: {left}");
        if key.contains(":claim:checkout:") {
            let limit = if key.ends_with(":done") { 60_000 } else { 60_400 };
            assert!(left <= limit && left > limit - 10_000, "{key}: {left}");
        }
        if key.contains(":token:") {
            left_of_tokens.push(left);
        }
    }
    let of = |what| keys.iter().filter(|key| key.starts_with(&format!("{prefix}:{what}:"))).count();
    assert_eq!((of("claim:checkout"), of("token:form"), keys.len()), (3, 4, 8), "{keys:?}");
    // One that was used is known for twice as long as it holds.
    left_of_tokens.sort_unstable();
    let within = |left: i64, limit: i64| left <= limit && left > limit - 10_000;
    for (left, limit) in left_of_tokens.iter().zip([120_000, 600_000, 1_200_000]) {
        assert!(within(*left, limit), "{left_of_tokens:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forgotten_by_itself() {
    let ground = crate::stores::in_redis().await;
    let claims = brief(&ground.store).keeps(Duration::from_millis(300));
    owned(&claims, "k").await.finish(&reply("anna")).await.unwrap();
    assert_eq!(answered(&claims, "k").await, reply("anna"));
    sleep(Duration::from_millis(400)).await;
    assert_eq!(told(&claims, "k").await, "owned");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_and_restarted_empty() {
    let (mut server, redis, db) = shop().await;
    let claims = Claims::new(&redis, "checkout");
    let first = owned(&claims, "k").await;
    server.kill().unwrap();
    // No claim, no work.
    for _ in 0..2 {
        unreachable(claims.claim("k", b"payload")).await;
        unreachable(claims.claim("l", b"payload")).await;
    }
    assert_eq!(pay(&db.pool, &first).await.unwrap().as_str(), "applied");
    unreachable(first.finish(&reply(1))).await;
    unreachable(first.release()).await;
    server.start_again().unwrap();
    // It has forgotten everything: the key is claimed again, and the work knows that it was done.
    let second = owned(&claims, "k").await;
    assert_eq!(first.finish(&reply(1)).await.unwrap_err().kind(), ErrorKind::ClaimLost);
    assert_eq!(pay(&db.pool, &second).await.unwrap().as_str(), "duplicate");
    second.finish(&reply(1)).await.unwrap();
    assert_eq!((answered(&claims, "k").await, effects(&db).await), (reply(1), 1));
}

/// It sleeps with what it was sent, and is gone before it can be asked again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_in_its_sleep() {
    let (mut server, redis, _db) = shop().await;
    let claims = Claims::new(&redis, "checkout");
    drop(owned(&claims, "k").await);
    server.pause().unwrap();
    let asked = tokio::spawn(async move { claims.claim("l", b"payload").await });
    sleep(Duration::from_millis(2_500)).await;
    server.kill().unwrap();
    let error = asked.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::CommitUnknown, "{error:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn removed_while_two_work() {
    let (server, redis, db) = shop().await;
    let claims = Claims::new(&redis, "checkout");
    let first = owned(&claims, "k").await;
    let mut connection =
        redis::Client::open(server.url("0")).unwrap().get_multiplexed_async_connection().await.unwrap();
    let () = redis::cmd("FLUSHALL").query_async(&mut connection).await.unwrap();
    let second = owned(&claims, "k").await;
    let (one, two) = tokio::join!(pay(&db.pool, &first), pay(&db.pool, &second));
    let mut told = [one.unwrap().as_str(), two.unwrap().as_str()];
    told.sort_unstable();
    assert_eq!((told, effects(&db).await), (["applied", "duplicate"], 1));
    assert_eq!(first.finish(&reply("the first")).await.unwrap_err().kind(), ErrorKind::ClaimLost);
    second.finish(&reply("the second")).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopped_for_longer_than_a_claim_holds() {
    let (mut server, redis, db) = shop().await;
    let claims = brief(&redis);
    let late = owned(&claims, "k").await;
    server.pause().unwrap();
    // It is not known what it will do of this once it wakes up; nothing is done here.
    assert_eq!(unreachable(claims.claim("k", b"payload")).await, ErrorKind::CommitUnknown);
    assert_eq!(unreachable(late.finish(&reply("the late one"))).await, ErrorKind::CommitUnknown);
    server.resume().unwrap();
    // What was sent meanwhile may take effect now: as a claim that nobody owns, and that runs out as well.
    let since = Instant::now();
    let second = loop {
        match claims.claim("k", b"payload").await.unwrap() {
            onward::idempotency::Claim::Owned(owned) => break Some(owned),
            onward::idempotency::Claim::Answered(_) => break None,
            _ => sleep(Duration::from_millis(50)).await,
        }
        assert!(since.elapsed() < PATIENCE, "nobody can take over");
    };
    // Both go on, as if nothing had happened.
    let work = pay(&db.pool, &late).await.unwrap();
    assert_eq!(work.as_str(), "applied");
    if let Some(second) = second {
        assert_eq!(pay(&db.pool, &second).await.unwrap().as_str(), "duplicate");
        assert_eq!(late.finish(&reply("the late one")).await.unwrap_err().kind(), ErrorKind::ClaimLost);
        second.finish(&reply("the second")).await.unwrap();
        assert_eq!(answered(&claims, "k").await, reply("the second"));
    } else {
        assert_eq!(answered(&claims, "k").await, reply("the late one"));
    }
    assert_eq!(effects(&db).await, 1);
}
