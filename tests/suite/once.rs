//! `once`: one transaction has the first time, whoever else is on the way.

use crate::db::{Db, Fixture};
use onward::{BoxError, Error, ErrorKind, Once, once};
use sqlx::Pool;
use std::time::Duration;
use tokio::{task::JoinSet, time::sleep};

on_every_database![
    fifty_callers_at_once,
    a_rollback_frees_it,
    waiting_for_one_that_commits,
    waiting_for_one_that_rolls_back,
    inside_repeatable_read,
    outside_of_a_transaction_it_means_nothing,
    names_are_told_apart_byte_by_byte,
    a_repeat_does_not_kill_the_transaction,
    forgetting_by_age,
];

async fn tables<B: Db>(db: &Fixture<B>) {
    onward::migrate(&db.pool).await.unwrap();
    db.run("CREATE TABLE points (n BIGINT NOT NULL); INSERT INTO points VALUES (0)").await;
}

/// The work that belongs to the first time, restarted as a whole when the engine gives it up.
async fn credit<B: Db>(pool: &Pool<B>, key: &str) -> Once {
    loop {
        let done: Result<Once, BoxError> = async {
            let mut tx = onward::begin(pool).await?;
            let once = once(&mut tx, "bonus", key).await?;
            if once == Once::First {
                B::run(&mut tx, "UPDATE points SET n = n + 10").await?;
            }
            tx.commit().await?;
            Ok(once)
        }
        .await;
        let error = match done {
            Ok(once) => return once,
            Err(error) => error,
        };
        let given_up = error.downcast_ref().is_some_and(Error::is_transient);
        // A node of a cluster may say so at any statement of one's own.
        let code =
            error.downcast_ref().and_then(sqlx::Error::as_database_error).and_then(|error| error.code());
        assert!(given_up || code.as_deref() == Some("40001"), "{error:?}");
    }
}

async fn fifty_callers_at_once<B: Db>(db: Fixture<B>) {
    tables(&db).await;
    let mut tasks = JoinSet::new();
    for _ in 0..50 {
        let pool = db.pool.clone();
        tasks.spawn(async move { credit(&pool, "order-1").await });
    }
    let told = tasks.join_all().await;
    assert_eq!(told.iter().filter(|once| **once == Once::First).count(), 1);
    assert_eq!(db.number("SELECT n FROM points").await, 10);
}

async fn a_rollback_frees_it<B: Db>(db: Fixture<B>) {
    tables(&db).await;
    for _ in 0..2 {
        let mut tx = onward::begin(&db.pool).await.unwrap();
        assert_eq!(once(&mut tx, "bonus", "order-1").await.unwrap(), Once::First);
        assert_eq!(once(&mut tx, "bonus", "order-1").await.unwrap(), Once::Repeat);
        tx.rollback().await;
    }
    // A transaction of sqlx's does as well.
    let mut tx = db.pool.begin().await.unwrap();
    assert_eq!(once(&mut tx, "bonus", "order-1").await.unwrap(), Once::First);
    tx.commit().await.unwrap();
    assert_eq!(credit(&db.pool, "order-1").await, Once::Repeat);
}

/// One holds the key uncommitted, another asks for it.
async fn second_while_first_is_open<B: Db>(db: &Fixture<B>, commit: bool) -> Once {
    tables(db).await;
    let mut first = onward::begin(&db.pool).await.unwrap();
    assert_eq!(once(&mut first, "bonus", "order-1").await.unwrap(), Once::First);
    let pool = db.pool.clone();
    let second = tokio::spawn(async move { credit(&pool, "order-1").await });
    sleep(Duration::from_millis(100)).await;
    assert!(!second.is_finished());
    if commit {
        first.commit().await.unwrap()
    } else {
        first.rollback().await
    }
    second.await.unwrap()
}

async fn waiting_for_one_that_commits<B: Db>(db: Fixture<B>) {
    assert_eq!(second_while_first_is_open(&db, true).await, Once::Repeat);
    assert_eq!(db.number("SELECT n FROM points").await, 0);
}

async fn waiting_for_one_that_rolls_back<B: Db>(db: Fixture<B>) {
    assert_eq!(second_while_first_is_open(&db, false).await, Once::First);
    assert_eq!(db.number("SELECT n FROM points").await, 10);
}

async fn inside_repeatable_read<B: Db>(db: Fixture<B>) {
    tables(&db).await;
    let begin = match B::ENGINE {
        "sqlite" => "BEGIN",
        "postgres" => "BEGIN ISOLATION LEVEL REPEATABLE READ",
        _ => "START TRANSACTION",
    };
    let mut tx = db.pool.begin_with(begin).await.unwrap();
    // Its snapshot is from before the other one commits.
    assert_eq!(B::numbers(&mut tx, "SELECT n FROM points").await.unwrap(), [0]);
    assert_eq!(credit(&db.pool, "order-1").await, Once::First);
    let late = once(&mut tx, "bonus", "order-1").await;
    match B::ENGINE {
        // InnoDB looks at what is committed now when it inserts.
        "mariadb" => assert_eq!(late.unwrap(), Once::Repeat),
        _ => assert_eq!(late.unwrap_err().kind(), ErrorKind::RestartTransaction),
    }
    tx.rollback().await.unwrap();
    assert_eq!(credit(&db.pool, "order-1").await, Once::Repeat);
}

async fn outside_of_a_transaction_it_means_nothing<B: Db>(db: Fixture<B>) {
    tables(&db).await;
    let mut connection = db.pool.acquire().await.unwrap();
    let error = once(&mut connection, "bonus", "order-1").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotInTransaction);
    drop(connection);
    assert_eq!(db.number("SELECT COUNT(*) FROM onward_once").await, 0);
}

async fn names_are_told_apart_byte_by_byte<B: Db>(db: Fixture<B>) {
    tables(&db).await;
    let mut tx = onward::begin(&db.pool).await.unwrap();
    for (source, key) in [("a", "k"), ("A", "k"), ("a", "K"), ("a", "k "), ("a", "ḱ"), ("a", "")] {
        assert_eq!(once(&mut tx, source, key).await.unwrap(), Once::First, "{source} {key}");
    }
    assert_eq!(once(&mut tx, "a", &"k".repeat(512)).await.unwrap(), Once::First);
    let error = once(&mut tx, "a", &"k".repeat(513)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLong);
    assert_eq!(once(&mut tx, &"s".repeat(65), "k").await.unwrap_err().kind(), ErrorKind::TooLong);
    tx.commit().await.unwrap();
}

async fn a_repeat_does_not_kill_the_transaction<B: Db>(db: Fixture<B>) {
    tables(&db).await;
    assert_eq!(credit(&db.pool, "order-1").await, Once::First);
    let mut tx = onward::begin(&db.pool).await.unwrap();
    assert_eq!(once(&mut tx, "bonus", "order-1").await.unwrap(), Once::Repeat);
    B::run(&mut tx, "UPDATE points SET n = n + 1").await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(db.number("SELECT n FROM points").await, 11);
}

async fn forgetting_by_age<B: Db>(db: Fixture<B>) {
    tables(&db).await;
    let day = Duration::from_secs(86_400);
    let mut tx = onward::begin(&db.pool).await.unwrap();
    for key in 0..2_005 {
        assert_eq!(once(&mut tx, "bonus", &key.to_string()).await.unwrap(), Once::First);
    }
    let _ = once(&mut tx, "other", "1").await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(onward::forget_once(&db.pool, "bonus", day).await.unwrap(), 0);
    // Two days ago, for all but five.
    let past = match B::ENGINE {
        "sqlite" => "strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now', '-2 days')",
        "postgres" => "CURRENT_TIMESTAMP - INTERVAL '2 days'",
        _ => "UTC_TIMESTAMP(6) - INTERVAL 2 DAY",
    };
    let young = "business_key NOT IN ('0', '1', '2', '3', '4')";
    db.run(&format!("UPDATE onward_once SET first_at = {past} WHERE source = 'other' OR {young}")).await;
    assert_eq!(onward::forget_once(&db.pool, "bonus", day).await.unwrap(), 2_000);
    assert_eq!(db.number("SELECT COUNT(*) FROM onward_once WHERE source = 'bonus'").await, 5);
    assert_eq!(db.number("SELECT COUNT(*) FROM onward_once").await, 6);
    assert_eq!(credit(&db.pool, "0").await, Once::Repeat);
    assert_eq!(credit(&db.pool, "7").await, Once::First);
}
