//! A process that is killed while it holds a claim: taken over once the claim has run out, and not before.

use super::{answered, over, owned, reply, told};
use crate::{
    child::{self, Child},
    db::{Db, Fixture},
    stores::Place,
};
use onward::idempotency::Claims;
use sqlx::Pool;
use std::time::Duration;

on_every_database![killed_while_it_holds, killed_in_its_transaction];

/// Long enough to be seen.
const HELD: Duration = Duration::from_secs(3);

fn claims<S: Place>(store: &S) -> Claims<S> {
    Claims::new(store, "checkout").expires(HELD)
}

/// A process that owns `k` and dies of it.
fn killed<B: Db>(url: &str, where_to: &str) {
    let mut child = Child::start::<B>("idempotency::crashes::child", url, where_to);
    tokio::task::block_in_place(|| {
        assert_eq!(child.next(), Some(("owner".into(), "near the end".into())));
        child.kill();
        assert!(!child.ended().success());
    });
}

async fn taken_over<S: Place>(store: &S) {
    assert_eq!(told(&claims(store), "k").await, "in progress");
    tokio::time::sleep(HELD).await;
    over().await;
    let second = owned(&claims(store), "k").await;
    second.finish(&reply("the second")).await.unwrap();
    assert_eq!(answered(&claims(store), "k").await, reply("the second"));
}

async fn killed_while_it_holds<B: Db>(db: Fixture<B>) {
    onward::migrate(&db.pool).await.unwrap();
    killed::<B>(&db.url, "database");
    taken_over(&db.pool).await;
}

async fn killed_in_its_transaction<B: Db>(db: Fixture<B>) {
    onward::migrate(&db.pool).await.unwrap();
    db.run("CREATE TABLE done (n BIGINT NOT NULL)").await;
    killed::<B>(&db.url, "transaction");
    taken_over(&db.pool).await;
    assert_eq!(db.number("SELECT COUNT(*) FROM done").await, 0);
}

#[cfg(all(feature = "redis", feature = "sqlite"))]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_while_it_holds_in_redis() {
    // The database is none of it.
    let db = sqlx::Sqlite::fresh(1).await;
    let (url, prefix) = (crate::servers::redis().admin_url(), crate::db::fresh_name());
    killed::<sqlx::Sqlite>(&db.url, &format!("{url} {prefix}"));
    taken_over(&onward::redis::Redis::connect(url).await.unwrap().prefix(prefix)).await;
}

#[test]
#[ignore = "the process that the crash tests kill"]
fn child() {
    child::run::<Owner>();
}

struct Owner;

impl child::Work for Owner {
    async fn run<B: Db>(pool: Pool<B>, where_to: String) {
        match where_to.as_str() {
            "database" => {
                let _owned = owned(&claims(&pool), "k").await;
                near_the_end().await;
            }
            "transaction" => {
                let owned = owned(&claims(&pool), "k").await;
                let mut tx = onward::begin(&pool).await.unwrap();
                B::run(&mut tx, "INSERT INTO done VALUES (1)").await.unwrap();
                owned.finish_in(&mut tx, &reply("the first")).await.unwrap();
                near_the_end().await;
            }
            #[cfg(feature = "redis")]
            redis => {
                let (url, prefix) = redis.split_once(' ').unwrap();
                let redis = onward::redis::Redis::connect(url).await.unwrap().prefix(prefix);
                let _owned = owned(&claims(&redis), "k").await;
                near_the_end().await;
            }
            #[cfg(not(feature = "redis"))]
            other => panic!("{other}?"),
        }
    }
}

async fn near_the_end() {
    child::say("owner", "near the end");
    tokio::time::sleep(Duration::from_secs(60)).await;
}
