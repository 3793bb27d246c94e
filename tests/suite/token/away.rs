//! Tokens in a Redis that dies, sleeps and forgets: no token, no work, and never two for one.

use super::{add, fresh, shop, shown, times, used};
use crate::{
    db::{Db as _, Fixture},
    servers::Server,
};
use onward::{Error, ErrorKind, redis::Redis, token::Tokens};
use sqlx::Sqlite;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// Two answers are waited for, of two seconds each; the rest is the machine's.
const PATIENCE: Duration = Duration::from_secs(6);

/// A Redis of its own, and an order in a database.
pub async fn place() -> (Server, Redis, Fixture<Sqlite>) {
    let server = Server::redis().unwrap_or_else(|error| panic!("{error}"));
    let redis = Redis::connect(&server.url("0")).await.unwrap();
    let db = Sqlite::fresh(4).await;
    shop(&db, 1).await;
    (server, redis, db)
}

/// Fails in time, and says where and why.
pub async fn unreachable<T: std::fmt::Debug>(call: impl Future<Output = Result<T, Error>>) -> ErrorKind {
    let since = Instant::now();
    let error = call.await.unwrap_err();
    assert!(since.elapsed() < PATIENCE, "it took {:?}", since.elapsed());
    assert!(error.to_string().contains("onward_token") && std::error::Error::source(&error).is_some());
    assert!(matches!(error.kind(), ErrorKind::Database | ErrorKind::CommitUnknown), "{error:?}");
    error.kind()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_and_restarted_empty() {
    let (mut server, redis, db) = place().await;
    let tokens = Tokens::new(&redis, "form");
    let (one, two) = (tokens.issue("anna").await.unwrap(), tokens.issue("anna").await.unwrap());
    let receipt = fresh(&tokens, one.secret()).await;
    server.kill().unwrap();
    for _ in 0..2 {
        unreachable(tokens.consume("anna", one.secret())).await;
        unreachable(tokens.consume("anna", two.secret())).await;
        unreachable(tokens.issue("anna")).await;
    }
    assert_eq!(add(&db.pool, 1, &receipt, false).await.unwrap().as_str(), "applied");
    server.start_again().unwrap();
    for secret in [one.secret(), two.secret()] {
        assert_eq!(shown(&tokens, "anna", secret).await, "unknown");
    }
    // The request id is all that is left of it.
    assert_eq!(add(&db.pool, 1, &receipt, false).await.unwrap().as_str(), "duplicate");
    assert_eq!(times(&db, 1).await, 1);
    let _ = fresh(&tokens, tokens.issue("anna").await.unwrap().secret()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn halted_for_longer_than_a_token_holds() {
    let (mut server, redis, _db) = place().await;
    let long = Tokens::new(&redis, "form");
    let brief = long.clone().lifetime(Duration::from_secs(8));
    let (late, done) = (brief.issue("anna").await.unwrap(), brief.issue("anna").await.unwrap());
    let (left, other) = (long.issue("anna").await.unwrap(), long.issue("anna").await.unwrap());
    let receipt = fresh(&brief, done.secret()).await;
    server.pause().unwrap();
    let since = Instant::now();
    let calls = tokio::join!(
        unreachable(long.consume("anna", left.secret())),
        unreachable(long.issue("anna")),
        unreachable(long.consume("anna", done.secret())),
    );
    let unknown = ErrorKind::CommitUnknown;
    assert_eq!(calls, (unknown, unknown, unknown));
    // Not sent again until its time is over.
    sleep(Duration::from_secs(8).saturating_sub(since.elapsed()) + Duration::from_millis(500)).await;
    server.resume().unwrap();
    assert_eq!(shown(&long, "anna", late.secret()).await, "unknown");
    assert_eq!(used(&long, done.secret()).await.request_id(), receipt.request_id());
    // What nobody was told of was consumed all the same, or is not yet; after this it is, for everybody.
    let told = shown(&long, "anna", left.secret()).await;
    assert!(["fresh", "used"].contains(&told), "{told}");
    let _ = used(&long, left.secret()).await;
    let _ = fresh(&long, other.secret()).await;
}

/// What was sent may have been done, even if the server cannot be reached when it is asked again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_before_it_answered() {
    let (mut server, redis, _db) = place().await;
    let tokens = Tokens::new(&redis, "form");
    let token = tokens.issue("anna").await.unwrap();
    server.pause().unwrap();
    let asking = tokio::spawn(async move { unreachable(tokens.consume("anna", token.secret())).await });
    sleep(Duration::from_millis(300)).await;
    server.kill().unwrap();
    assert_eq!(asking.await.unwrap(), ErrorKind::CommitUnknown);
}

/// One whose `SET` cannot do what is wanted of it, as before 6.2; here it may not be used.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_old_server() {
    let (server, redis, _db) = place().await;
    let tokens = Tokens::new(&redis, "form");
    let token = tokens.issue("anna").await.unwrap();
    let client = onward::redis::redis::Client::open(server.url("0")).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let mut forbid = onward::redis::redis::cmd("ACL");
    let () = forbid.arg(&["SETUSER", "default", "-set"]).query_async(&mut connection).await.unwrap();
    assert_eq!(tokens.issue("anna").await.unwrap_err().kind(), ErrorKind::Database, "it may not be used");
    assert_eq!(shown(&tokens, "otto", token.secret()).await, "unknown");
    let receipt = fresh(&tokens, token.secret()).await;
    assert_eq!(used(&tokens, token.secret()).await.request_id(), receipt.request_id());
}
