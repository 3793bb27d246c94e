//! A process that is killed between consuming a token and its work, or in the middle of that: whoever shows the token again
//! finds it used, and does the work once.

use super::{add, fresh, shop, times, used};
use crate::{
    child::{self, Child},
    db::{Db, Fixture},
    journalled::AnyOrder,
};
use onward::token::{Receipt, TokenStore, Tokens};
use sqlx::Pool;

on_every_database![killed_before_its_work, killed_in_its_transaction];

/// A process that consumes the token and dies of it.
fn killed<B: Db>(url: &str, told: &str) {
    let mut child = Child::start::<B>("token::crashes::child", url, told);
    tokio::task::block_in_place(|| {
        assert_eq!(child.next(), Some(("customer".into(), "near the end".into())));
        child.kill();
        assert!(!child.ended().success());
    });
}

async fn shown_again<S: TokenStore, B: Db>(tokens: &Tokens<S>, db: &Fixture<B>, secret: &str) {
    assert_eq!(times(db, 1).await, 0);
    for told in ["applied", "duplicate"] {
        let receipt = used(tokens, secret).await;
        assert_eq!(add(&db.pool, 1, &receipt, false).await.unwrap().as_str(), told);
    }
    assert_eq!(times(db, 1).await, 1);
}

async fn killed_where<B: Db>(place: &str, db: Fixture<B>) {
    shop(&db, 1).await;
    let tokens = Tokens::new(&db.pool, "form");
    let token = tokens.issue("anna").await.unwrap();
    killed::<B>(&db.url, &format!("{} {place}", token.secret()));
    shown_again(&tokens, &db, token.secret()).await;
}

async fn killed_before_its_work<B: Db>(db: Fixture<B>) {
    killed_where("before", db).await;
}

async fn killed_in_its_transaction<B: Db>(db: Fixture<B>) {
    killed_where("within", db).await;
}

#[cfg(all(feature = "redis", feature = "sqlite"))]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_before_its_work_and_tokens_are_in_redis() {
    let db = sqlx::Sqlite::fresh(4).await;
    shop(&db, 1).await;
    let (url, prefix) = (crate::servers::redis().admin_url(), crate::db::fresh_name());
    let redis = onward::redis::Redis::connect(url).await.unwrap().prefix(&prefix);
    let tokens = Tokens::new(&redis, "form");
    let token = tokens.issue("anna").await.unwrap();
    killed::<sqlx::Sqlite>(&db.url, &format!("{} redis {url} {prefix}", token.secret()));
    shown_again(&tokens, &db, token.secret()).await;
}

#[test]
#[ignore = "the process that the crash tests kill"]
fn child() {
    child::run::<Customer>();
}

struct Customer;

impl child::Work for Customer {
    async fn run<B: Db>(pool: Pool<B>, told: String) {
        match told.split(' ').collect::<Vec<_>>()[..] {
            [secret, "before"] => {
                let _receipt = fresh(&Tokens::new(&pool, "form"), secret).await;
                near_the_end().await;
            }
            [secret, "within"] => {
                let receipt = fresh(&Tokens::new(&pool, "form"), secret).await;
                within(&pool, &receipt).await;
            }
            #[cfg(feature = "redis")]
            [secret, "redis", url, prefix] => {
                let redis = onward::redis::Redis::connect(url).await.unwrap().prefix(prefix);
                let _receipt = fresh(&Tokens::new(&redis, "form"), secret).await;
                near_the_end().await;
            }
            _ => panic!("{told}?"),
        }
    }
}

/// All of the work but its commit.
async fn within<B: Db>(pool: &Pool<B>, receipt: &Receipt) {
    let order = AnyOrder::find(pool, 1).await.unwrap().unwrap();
    let attempt = order.amend(|row| row.amount_cents += 10).request_id(receipt.request_id());
    let work = async |tx: &mut B::Connection, _: &_| {
        B::run(tx, "INSERT INTO effects VALUES (1, 'mail')").await?;
        near_the_end().await;
        Ok::<_, sqlx::Error>(())
    };
    let _ = attempt.apply_with(pool, work).await;
}

async fn near_the_end() {
    child::say("customer", "near the end");
    tokio::time::sleep(std::time::Duration::from_secs(60)).await;
}
