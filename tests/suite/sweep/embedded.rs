//! What only SQLite can do: times in many texts, keys of any type, a file that somebody keeps locked.

use super::{HOUR, tickets};
use crate::{
    db::{Db as _, Fixture},
    lifecycles::Pending,
};
use onward::{ErrorKind, sweep::Sweep};
use sqlx::{Sqlite, sqlite::SqlitePoolOptions};

#[tokio::test]
async fn times_as_texts_of_many_kinds() {
    let db = Sqlite::fresh(2).await;
    tickets(&db).await;
    let at = |format: &str, offset: &str| format!("strftime('{format}', 'now', '{offset}')");
    let texts = [
        // An hour and a half ago, and half an hour ago.
        (at("%Y-%m-%dT%H:%M:%f+00:00", "-90 minutes"), true),
        (at("%Y-%m-%dT%H:%M:%f+00:00", "-30 minutes"), false),
        (at("%Y-%m-%d %H:%M:%S", "-90 minutes"), true),
        (at("%Y-%m-%d %H:%M:%S", "-30 minutes"), false),
        (at("%Y-%m-%dT%H:%M:%fZ", "-90 minutes"), true),
        (at("%Y-%m-%dT%H:%M:%f456789Z", "-30 minutes"), false),
        // In other zones: what looks younger is older, and the other way round.
        (at("%Y-%m-%dT%H:%M:%S+08:00", "+390 minutes"), true),
        (at("%Y-%m-%dT%H:%M:%S-08:00", "-510 minutes"), false),
        // What is no time is left alone.
        ("'yesterday'".to_owned(), false),
        ("''".to_owned(), false),
    ];
    for (no, (text, _)) in texts.iter().enumerate() {
        db.run(&format!("INSERT INTO tickets VALUES ('{no}', 7, {text}, 1, 0)")).await;
    }
    let sweep = Sweep::<tickets::Open>::older_than(HOUR).since("opened_at").within((7,));
    let swept = sweep.run(&db.pool, |ticket| ticket.expire()).await.unwrap();
    for (no, (text, old)) in texts.iter().enumerate() {
        let expired = db.number(&format!("SELECT status = 2 FROM tickets WHERE no = '{no}'")).await == 1;
        assert_eq!(expired, *old, "{no}: {text}");
    }
    assert_eq!((swept.applied, swept.failed), (4, 0));
}

/// They hold up no other, wherever they stand.
#[tokio::test]
async fn keys_that_cannot_be_read() {
    let db = Sqlite::fresh(2).await;
    tickets(&db).await;
    for key in ["NULL", "'a'", "'b'", "x'ff'", "x'fe'"] {
        db.run(&format!("INSERT INTO tickets VALUES ({key}, 7, '2020-01-01 00:00:00', 1, 0)")).await;
    }
    for (page, failed) in [(100, 3), (3, 3), (4, 3)] {
        db.run("UPDATE tickets SET status = 1").await;
        let mut failures = Vec::new();
        let sweep = Sweep::<tickets::Open>::older_than(HOUR).since("opened_at").within((7,)).page(page);
        let sweep = sweep.failure(|error| failures.push(error.kind()));
        let swept = sweep.run(&db.pool, |ticket| ticket.expire()).await.unwrap();
        assert_eq!((swept.applied, swept.failed), (2, failed), "{page}");
        assert_eq!(failures, [ErrorKind::Unreadable; 3]);
    }
    // Where a whole page is of them there is no way past it.
    db.run("UPDATE tickets SET status = 1").await;
    let sweep = Sweep::<tickets::Open>::older_than(HOUR).since("opened_at").within((7,)).page(1);
    let error = sweep.run(&db.pool, |ticket| ticket.expire()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unreadable);
}

/// It is not the row's fault, and no other would fare better.
#[tokio::test]
async fn a_file_that_stays_locked_ends_the_sweep() {
    let db: Fixture<Sqlite> = Sqlite::fresh(2).await;
    db.old_orders(3).await;
    let options =
        db.pool.connect_options().as_ref().clone().busy_timeout(std::time::Duration::from_millis(1));
    let impatient = SqlitePoolOptions::new().connect_with(options).await.unwrap();
    let holder = onward::begin(&db.pool).await.unwrap();
    let mut failures = 0;
    let sweep = Sweep::<Pending>::older_than(HOUR).failure(|_| failures += 1);
    let error = sweep.run(&impatient, |order| order.cancel()).await.unwrap_err();
    assert_eq!((error.kind(), failures), (ErrorKind::Busy, 0));
    holder.rollback().await;
    let swept = Sweep::<Pending>::older_than(HOUR).run(&impatient, |order| order.cancel()).await.unwrap();
    assert_eq!(swept.applied, 3);
}
