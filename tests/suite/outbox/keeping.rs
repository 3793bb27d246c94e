//! What people look at and decide, what is measured, and what goes after a while.

use super::{Published, many, outbox};
use crate::db::{Db, Fixture};
use onward::{
    BoxError, ErrorKind,
    outbox::{Backlog, Delivery, Status},
};
use std::time::Duration;

on_every_database![
    given_back_for_another_try,
    closed_with_a_note,
    pages_of_what_needs_attention,
    all_about_a_key,
    how_far_the_relays_are_behind,
    purged_by_age,
    what_is_not_done_is_never_purged,
];

impl<B: Db> Fixture<B> {
    /// An event that nobody could publish.
    async fn poison(&self, key: &str, payloads: &[&str]) -> i64 {
        self.written(key, payloads).await;
        let fails = async |_: Delivery| Err::<(), BoxError>("poison".into());
        loop {
            self.relayed(&fails).await;
            let page = outbox().about(&self.pool, key, None, 1).await.unwrap();
            let entry = page.rows[0].as_ref().unwrap();
            if entry.status == Status::NeedsAttention {
                return entry.id;
            }
            tokio::time::sleep(super::SHORT).await;
        }
    }
}

async fn given_back_for_another_try<B: Db>(db: Fixture<B>) {
    db.outbox(0).await;
    let id = db.poison("key", &["first", "second"]).await;
    let published = Published::default();
    assert_eq!(db.relayed(&published.publisher()).await, []);
    outbox().give_back(&db.pool, id).await.unwrap();
    assert_eq!(outbox().give_back(&db.pool, id).await.unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(db.relayed(&published.publisher()).await, [Status::Sent; 2]);
    assert_eq!(published.payloads(), ["first", "second"]);
}

async fn closed_with_a_note<B: Db>(db: Fixture<B>) {
    db.outbox(0).await;
    let id = db.poison("key", &["first", "second"]).await;
    let mut connection = db.pool.acquire().await.unwrap();
    outbox().close(&mut connection, id, "told by telephone").await.unwrap();
    drop(connection);
    assert_eq!(outbox().close(&db.pool, id, "again").await.unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(outbox().close(&db.pool, 0, "").await.unwrap_err().kind(), ErrorKind::NotFound);
    let (entry, event) = outbox().find(&db.pool, id).await.unwrap().unwrap();
    assert_eq!((entry.status, entry.note.as_deref()), (Status::Closed, Some("told by telephone")));
    assert_eq!(event.payload(), b"first");
    let published = Published::default();
    assert_eq!(db.relayed(&published.publisher()).await, [Status::Sent]);
    assert_eq!(published.payloads(), ["second"]);
}

async fn pages_of_what_needs_attention<B: Db>(db: Fixture<B>) {
    db.outbox(0).await;
    let mut ids = Vec::new();
    for key in ["a", "b", "c"] {
        ids.push(db.poison(key, &["event"]).await);
    }
    db.written("d", &["fine"]).await;
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = outbox().needs_attention(&db.pool, after, 2).await.unwrap();
        found.extend(page.rows.into_iter().map(|entry| entry.unwrap().id));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(found, ids);
}

async fn all_about_a_key<B: Db>(db: Fixture<B>) {
    db.outbox(0).await;
    let ids = db.written("key", &["1", "2"]).await;
    db.written("Key", &["3"]).await;
    db.written("key ", &["4"]).await;
    let published = Published::default();
    assert_eq!(outbox().relay_next(&db.pool, &published.publisher()).await.unwrap(), Some(Status::Sent));
    let page = outbox().about(&db.pool, "key", None, 10).await.unwrap();
    let found: Vec<String> = page.rows.into_iter().map(|entry| entry.unwrap().event_id).collect();
    assert_eq!(found, ids);
}

async fn how_far_the_relays_are_behind<B: Db>(db: Fixture<B>) {
    const DAY: Duration = Duration::from_secs(86_400);
    db.outbox(0).await;
    assert_eq!(outbox().backlog(&db.pool).await.unwrap(), Backlog::default());
    db.poison("key", &["1", "2"]).await;
    db.aged("onward_outbox", "written_at", 2).await;
    let behind = outbox().backlog(&db.pool).await.unwrap();
    assert_eq!((behind.unsent, behind.needs_attention, behind.lag), (2, 1, Duration::ZERO));
    assert!(behind.oldest >= 2 * DAY && behind.oldest < 3 * DAY, "{behind:?}");
    db.written("other", &["3"]).await;
    db.aged("onward_outbox", "next_at", 1).await;
    let behind = outbox().backlog(&db.pool).await.unwrap();
    assert!(behind.unsent == 3 && behind.lag >= DAY && behind.lag < 2 * DAY, "{behind:?}");
    db.relayed(&Published::default().publisher()).await;
    let behind = outbox().backlog(&db.pool).await.unwrap();
    assert_eq!((behind.unsent, behind.lag), (2, Duration::ZERO));
}

async fn purged_by_age<B: Db>(db: Fixture<B>) {
    db.outbox(0).await;
    db.run(&many::<B>(2_500)).await;
    db.written("key", &["open"]).await;
    assert_eq!(outbox().purge(&db.pool).await.unwrap(), 0);
    db.aged("onward_outbox", "done_at", 8).await;
    let longer = outbox().keep_for(Duration::from_secs(9 * 86_400));
    assert_eq!(longer.purge(&db.pool).await.unwrap(), 0);
    assert_eq!(outbox().purge(&db.pool).await.unwrap(), 2_500);
    assert_eq!(db.number("SELECT COUNT(*) FROM onward_outbox").await, 1);
}

async fn what_is_not_done_is_never_purged<B: Db>(db: Fixture<B>) {
    db.outbox(0).await;
    db.poison("key", &["first", "second"]).await;
    db.written("other", &["third"]).await;
    for column in ["written_at", "next_at", "done_at"] {
        db.aged("onward_outbox", column, 1_000).await;
    }
    assert_eq!(outbox().keep_for(Duration::ZERO).purge(&db.pool).await.unwrap(), 0);
    assert_eq!(db.unsent().await, 3);
}
