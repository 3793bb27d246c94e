//! Claims that run out while the work goes on, at every level of isolation: the work is kept once, with its own answer.

use super::{Reply, answered, word};
use crate::db::{Db, Fixture};
use onward::idempotency::{Claim, Claims};
use sqlx::{Pool, pool::PoolOptions};
use std::time::Duration;
use tokio::{task::JoinSet, time::sleep};

on_every_database![done_once_whoever_takes_over];

const LEVELS: [&str; 3] = ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"];
const KEYS: usize = 4;
const WORKERS: usize = 6;

/// Every transaction at this level, those of claims as well.
async fn at<B: Db>(level: &'static str, url: &str) -> Pool<B> {
    let options = PoolOptions::new().max_connections(24).acquire_timeout(Duration::from_secs(60));
    let set = options.after_connect(move |connection, _| {
        Box::pin(async move {
            let set = match B::ENGINE {
                "sqlite" => "PRAGMA busy_timeout = 20000".to_owned(),
                "postgres" => format!("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL {level}"),
                _ => format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}"),
            };
            B::run(connection, &set).await.map(drop)
        })
    });
    set.connect(url).await.unwrap()
}

/// Until somebody has an answer. The work takes about as long as a claim holds.
async fn work<B: Db>(pool: Pool<B>, worker: usize, key: String) -> usize {
    let claims = Claims::new(&pool, "checkout").expires(Duration::from_millis(12));
    let mut undone = 0;
    for round in 0.. {
        let owned = match claims.claim(&key, b"payload").await {
            Ok(Claim::Owned(owned)) => owned,
            Ok(Claim::InProgress { wait }) => {
                sleep(wait).await;
                continue;
            }
            Ok(Claim::Answered(_)) => break,
            Ok(other) => panic!("{}", word(&other)),
            Err(error) => {
                assert!(error.is_transient(), "{error:?}");
                continue;
            }
        };
        let by = format!("{worker}-{round}");
        // Whoever was never too late takes so long that somebody else comes.
        let slow = if undone == 0 { 150 } else { (worker * 5 + round * 7) as u64 % 25 };
        sleep(Duration::from_millis(slow)).await;
        let Ok(mut tx) = onward::begin(&pool).await else { continue };
        let mut done = async || {
            B::numbers(&mut tx, &format!("SELECT COUNT(*) FROM done WHERE work = '{key}'")).await?;
            B::run(&mut tx, &format!("INSERT INTO done VALUES ('{key}', '{by}')")).await?;
            sleep(Duration::from_millis((worker * 3 + round * 5) as u64 % 13)).await;
            owned.finish_in(&mut tx, &Reply::new(201, by.as_str())).await?;
            Ok::<_, onward::BoxError>(())
        };
        let kept = match done().await {
            Ok(()) => tx.commit().await.map_err(Into::into),
            Err(error) => {
                tx.rollback().await;
                Err(error)
            }
        };
        if let Err(error) = kept {
            undone += 1;
            if let Some(error) = error.downcast_ref::<onward::Error>() {
                let _ = owned.release_after(error).await;
            }
        }
    }
    undone
}

async fn done_once_whoever_takes_over<B: Db>(db: Fixture<B>) {
    onward::migrate(&db.pool).await.unwrap();
    db.run("CREATE TABLE done (work VARCHAR(64) NOT NULL, done_by VARCHAR(64) NOT NULL, PRIMARY KEY (work, done_by))").await;
    let mut late = 0;
    for level in LEVELS {
        let pool = at::<B>(level, &db.url).await;
        let mut workers = JoinSet::new();
        for key in 0..KEYS {
            for worker in 0..WORKERS {
                workers.spawn(work(pool.clone(), worker, format!("{level} {key}")));
            }
        }
        let undone: usize = workers.join_all().await.into_iter().sum();
        println!("{} {level}: {undone} times undone", B::ENGINE);
        late += undone;
        let claims = Claims::new(&db.pool, "checkout");
        for key in 0..KEYS {
            let key = format!("{level} {key}");
            let by = db.text(&format!("SELECT done_by FROM done WHERE work = '{key}'")).await;
            assert_eq!(
                db.number(&format!("SELECT COUNT(*) FROM done WHERE work = '{key}'")).await,
                1,
                "{key}"
            );
            assert_eq!(answered(&claims, &key).await.into_body(), by.into_bytes(), "{key}");
        }
    }
    assert!(late > 0, "nobody was too late");
}
