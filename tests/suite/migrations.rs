//! The tables that the crate brings: run twice, at once, and beside migrations of the user's own.

use crate::db::{Db, Fixture};
use onward::{Once, once};
use sqlx::{
    Database, SqlSafeStr as _,
    migrate::{Migrate, Migration, MigrationType, Migrator},
};
use std::time::Duration;

on_every_database![
    run_twice,
    from_many_processes_at_once,
    beside_migrations_of_the_users_own,
    half_a_migration_is_finished,
    a_newer_version_is_left_alone,
    as_text,
    dropped_anywhere,
    forgotten,
];

const APPLIED: &str = "SELECT COUNT(*) FROM _onward_migrations";

async fn works<B: Db>(db: &Fixture<B>) {
    let all = i64::try_from(onward::migrations::<B>().len()).unwrap();
    assert_eq!(db.number(APPLIED).await, all);
    let mut tx = onward::begin(&db.pool).await.unwrap();
    assert_eq!(once(&mut tx, "s", "k").await.unwrap(), Once::First);
    tx.rollback().await;
    assert_eq!(db.number("SELECT COUNT(*) FROM onward_inbox").await, 0);
}

async fn forgotten<B: Db>(db: Fixture<B>) {
    let message = onward::inbox::Message::new("body");
    let stored = onward::inbox::Inbox::new("alipay").store(&db.pool, "N-1", &message).await;
    let mut tx = onward::begin(&db.pool).await.unwrap();
    let first = once(&mut tx, "s", "k").await;
    for error in [stored.unwrap_err(), first.unwrap_err()] {
        assert_eq!(error.kind(), onward::ErrorKind::Database);
        assert!(error.to_string().contains("by `onward::migrate(&pool)`"), "{error}");
    }
}

async fn run_twice<B: Db>(db: Fixture<B>) {
    onward::migrate(&db.pool).await.unwrap();
    onward::migrate(&db.pool).await.unwrap();
    works(&db).await;
}

async fn from_many_processes_at_once<B: Db>(db: Fixture<B>) {
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let url = db.url.clone();
        tasks.spawn(async move {
            // A pool of its own, as another process has.
            let pool = sqlx::Pool::<B>::connect(&url).await.unwrap();
            onward::migrate(&pool).await.unwrap();
            pool.close().await;
        });
    }
    while let Some(task) = tasks.join_next().await {
        task.unwrap();
    }
    works(&db).await;
}

async fn beside_migrations_of_the_users_own<B: Db>(db: Fixture<B>)
where
    <B as Database>::Connection: Migrate,
{
    let own = |version, sql: &'static str| {
        Migration::new(version, "own".into(), MigrationType::Simple, sql.into_sql_str(), false)
    };
    let first = own(1, "CREATE TABLE shop (id BIGINT)");
    let second = own(2, "CREATE TABLE till (id BIGINT)");
    Migrator::with_migrations(vec![first.clone()]).run(&db.pool).await.unwrap();
    onward::migrate(&db.pool).await.unwrap();
    Migrator::with_migrations(vec![first, second]).run(&db.pool).await.unwrap();
    onward::migrate(&db.pool).await.unwrap();
    assert_eq!(db.number("SELECT COUNT(*) FROM _sqlx_migrations").await, 2);
    works(&db).await;
}

async fn half_a_migration_is_finished<B: Db>(db: Fixture<B>) {
    // What a process leaves that was killed after DDL that commits by itself.
    let half = onward::migrations::<B>()[0].sql;
    db.run(half.split_inclusive(';').next().unwrap()).await;
    onward::migrate(&db.pool).await.unwrap();
    works(&db).await;
}

async fn a_newer_version_is_left_alone<B: Db>(db: Fixture<B>) {
    onward::migrate(&db.pool).await.unwrap();
    db.run("INSERT INTO _onward_migrations (version, name) VALUES (999, 'of a newer build')").await;
    onward::migrate(&db.pool).await.unwrap();
    db.run("DELETE FROM _onward_migrations WHERE version = 2").await;
    onward::migrate(&db.pool).await.unwrap();
    db.run("DELETE FROM _onward_migrations WHERE version = 999").await;
    works(&db).await;
}

async fn as_text<B: Db>(db: Fixture<B>) {
    for _ in 0..2 {
        for migration in onward::migrations::<B>() {
            db.run(migration.sql).await;
        }
    }
    onward::migrate(&db.pool).await.unwrap();
    works(&db).await;
}

async fn dropped_anywhere<B: Db>(db: Fixture<B>) {
    for round in 0..25 {
        let migration = onward::migrate(&db.pool);
        let _ = tokio::time::timeout(Duration::from_micros(400 * round), migration).await;
    }
    onward::migrate(&db.pool).await.unwrap();
    works(&db).await;
}
