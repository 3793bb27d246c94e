//! Tokens that are removed while they are shown: nothing is done twice.

use super::{add, shop, times};
use crate::{
    db::{Db, Fixture},
    journalled::{AnyOrder, Order, Paid, noon},
};
use onward::{
    Answer, Error, Handle, Outcome,
    token::{Consumed, Receipt, TokenStore, Tokens},
};
use sqlx::Pool;
use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio::{task::JoinSet, time::sleep};

on_every_database![shown_again, issued_again];

const FORMS: i64 = 12;
const CALLERS: i64 = 4;
const MOMENT: Duration = Duration::from_millis(5);

async fn shown_again<B: Db>(db: Fixture<B>) {
    shop(&db, FORMS).await;
    shown_while_removed(&Tokens::new(&db.pool, "form"), &db, async || removed(&db.pool).await).await;
}

async fn issued_again<B: Db>(db: Fixture<B>) {
    shop(&db, FORMS).await;
    issued_while_removed(&Tokens::new(&db.pool, "form"), &db, async || removed(&db.pool).await).await;
}

async fn removed<B: Db>(pool: &Pool<B>) {
    // On a cluster it may have to give way.
    let _ = B::run(&mut *pool.acquire().await.unwrap(), "DELETE FROM onward_token").await;
}

#[cfg(all(feature = "redis", feature = "sqlite"))]
mod redis {
    use super::*;
    use onward::redis::{Redis, redis};

    /// A Redis of its own, since all that is in it goes.
    async fn ground() -> (crate::servers::Server, Redis, impl AsyncFn(), Fixture<sqlx::Sqlite>) {
        let server = crate::servers::Server::redis().unwrap_or_else(|error| panic!("{error}"));
        let store = Redis::connect(&server.url("0")).await.unwrap();
        let client = redis::Client::open(server.url("0")).unwrap();
        let connection = client.get_multiplexed_async_connection().await.unwrap();
        let flush = async move || {
            let () = redis::cmd("FLUSHALL").query_async(&mut connection.clone()).await.unwrap();
        };
        let db = sqlx::Sqlite::fresh(10).await;
        shop(&db, FORMS).await;
        (server, store, flush, db)
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn shown_again() {
        let (_server, store, flush, db) = ground().await;
        shown_while_removed(&Tokens::new(&store, "form"), &db, flush).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn issued_again() {
        let (_server, store, flush, db) = ground().await;
        issued_while_removed(&Tokens::new(&store, "form"), &db, flush).await;
    }
}

/// Runs them all while something is removed again and again, from when the first of them has come to an end.
async fn meanwhile<T: Send + 'static>(
    callers: JoinSet<T>,
    begun: &AtomicBool,
    remove: impl AsyncFn(),
) -> Vec<T> {
    let mut all = pin!(callers.join_all());
    loop {
        tokio::select! {
            told = &mut all => return told,
            () = sleep(2 * MOMENT) => if begun.load(Relaxed) { remove().await },
        }
    }
}

/// Whether it is done; else it may be tried again.
fn settled<T: Handle>(done: Result<Outcome<T>, Error>) -> bool {
    match done {
        Ok(outcome) => outcome.answer() == Answer::Settled,
        Err(error) => {
            assert!(error.is_known_not_applied(), "{error:?}");
            false
        }
    }
}

/// What became of one caller's form.
#[derive(Default)]
struct Told {
    id: i64,
    fresh: usize,
    unknown: usize,
    done: bool,
}

/// The same token again and again: only its request id keeps the work from being done as often.
async fn shown_while_removed<S: TokenStore, B: Db>(
    tokens: &Tokens<S>,
    db: &Fixture<B>,
    remove: impl AsyncFn(),
) {
    let begun = Arc::new(AtomicBool::new(false));
    let mut callers = JoinSet::new();
    for id in 1..=FORMS {
        let secret = tokens.issue("anna").await.unwrap().secret().to_owned();
        for _ in 0..CALLERS {
            let (tokens, pool, secret, begun) =
                (tokens.clone(), db.pool.clone(), secret.clone(), begun.clone());
            callers.spawn(async move {
                let mut told = Told { id, ..Told::default() };
                for _ in 0..200 {
                    let receipt = match tokens.consume("anna", &secret).await.unwrap() {
                        Consumed::Fresh(receipt) => {
                            told.fresh += 1;
                            receipt
                        }
                        Consumed::Used(receipt) => receipt,
                        Consumed::Expired | Consumed::Unknown => {
                            told.unknown += 1;
                            break;
                        }
                    };
                    if settled(add(&pool, id, &receipt, false).await) {
                        told.done = true;
                        begun.store(true, Relaxed);
                    }
                    sleep(MOMENT).await;
                }
                told
            });
        }
    }
    let told = meanwhile(callers, &begun, remove).await;
    for id in 1..=FORMS {
        let these = || told.iter().filter(|told| told.id == id);
        assert!(these().map(|told| told.fresh).sum::<usize>() <= 1, "form {id}");
        assert_eq!(times(db, id).await, i64::from(these().any(|told| told.done)), "form {id}");
    }
    assert!(told.iter().any(|told| told.done) && told.iter().any(|told| told.unknown > 0));
}

async fn pay<B: Db>(pool: &Pool<B>, id: i64, receipt: &Receipt) -> Result<Outcome<Order<Paid>>, Error> {
    let Some(order) = AnyOrder::find(pool, id).await? else { return Ok(Outcome::NotFound) };
    let attempt = order.pay(format!("T-{id}"), noon()).request_id(receipt.request_id());
    let work = async move |tx: &mut B::Connection, _: &_| {
        B::run(tx, &format!("INSERT INTO effects VALUES ({id}, 'mail')")).await.map(drop)
    };
    attempt.apply_with(pool, work).await
}

/// Whoever's token is gone gets another one, and so another request id: the state has the last word.
async fn issued_while_removed<S: TokenStore, B: Db>(
    tokens: &Tokens<S>,
    db: &Fixture<B>,
    remove: impl AsyncFn(),
) {
    let begun = Arc::new(AtomicBool::new(false));
    let mut callers = JoinSet::new();
    for id in 1..=FORMS {
        let secret = tokens.issue("anna").await.unwrap().secret().to_owned();
        for _ in 0..CALLERS {
            let (tokens, pool, begun) = (tokens.clone(), db.pool.clone(), begun.clone());
            let mut secret = secret.clone();
            callers.spawn(async move {
                let mut issued = 0;
                for _ in 0..30 {
                    match tokens.consume("anna", &secret).await.unwrap() {
                        Consumed::Fresh(receipt) | Consumed::Used(receipt) => {
                            if settled(pay(&pool, id, &receipt).await) {
                                begun.store(true, Relaxed);
                            }
                        }
                        Consumed::Expired | Consumed::Unknown => {
                            secret = tokens.issue("anna").await.unwrap().secret().to_owned();
                            issued += 1;
                        }
                    }
                    sleep(MOMENT).await;
                }
                issued
            });
        }
    }
    let issued = meanwhile(callers, &begun, remove).await;
    assert!(issued.iter().sum::<usize>() > 0);
    assert_eq!(db.number("SELECT COUNT(*) FROM effects").await, FORMS);
    assert_eq!(db.number("SELECT COUNT(DISTINCT order_id) FROM effects").await, FORMS);
}
