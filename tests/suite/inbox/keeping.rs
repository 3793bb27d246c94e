//! What people look at, and what goes after a while.

use super::{DAY, inbox};
use crate::db::{Db, Fixture};
use onward::{
    BoxError, ErrorKind,
    inbox::{Inbox, Message, Purged, Status},
};
use std::sync::Mutex;

on_every_database![
    pages_of_what_needs_attention,
    given_back_for_another_try,
    closed_with_a_note,
    all_about_an_order,
    purged_by_age_after_export,
    what_is_open_is_never_purged,
    what_cannot_be_exported_stays,
    an_entry_that_cannot_be_read,
];

async fn escalated<B: Db>(db: &Fixture<B>, id: &str) -> i64 {
    let claim = db.claimed(id).await;
    claim.needs_attention(&db.pool, "who paid this?").await.unwrap();
    claim.id
}

async fn pages_of_what_needs_attention<B: Db>(db: Fixture<B>) {
    db.inbox(0).await;
    let mut ids = Vec::new();
    for i in 0..5 {
        ids.push(escalated(&db, &i.to_string()).await);
        let _ = db.store(&format!("other {i}"), "body").await;
    }
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = inbox().list(&db.pool, Status::NeedsAttention, after, 2).await.unwrap();
        for entry in page.rows {
            let entry = entry.unwrap();
            assert_eq!((entry.note.as_deref(), entry.attempts), (Some("who paid this?"), 1));
            found.push(entry.id);
        }
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(found, ids);
    let none = Inbox::new("stripe").list(&db.pool, Status::NeedsAttention, None, 2).await.unwrap();
    assert!(none.rows.is_empty() && none.next.is_none());
}

async fn given_back_for_another_try<B: Db>(db: Fixture<B>) {
    db.inbox(0).await;
    let id = escalated(&db, "N").await;
    assert!(inbox().claim_next(&db.pool).await.unwrap().is_none());
    inbox().give_back(&db.pool, id).await.unwrap();
    assert_eq!(db.entry("N").await, "received 0 needs_attention");
    assert_eq!(inbox().give_back(&db.pool, id).await.unwrap_err().kind(), ErrorKind::NotFound);
    let claim = inbox().claim_next(&db.pool).await.unwrap().unwrap();
    assert_eq!((claim.id, claim.attempts), (id, 1));
    claim.duplicate(&db.pool).await.unwrap();
    assert_eq!(inbox().give_back(&db.pool, id).await.unwrap_err().kind(), ErrorKind::NotFound);
}

async fn closed_with_a_note<B: Db>(db: Fixture<B>) {
    db.inbox(0).await;
    let id = escalated(&db, "N").await;
    let other = Inbox::new("stripe").close(&db.pool, id, "not mine").await.unwrap_err();
    assert_eq!(other.kind(), ErrorKind::NotFound);
    inbox().close(&db.pool, id, "refunded by hand").await.unwrap();
    let (entry, _) = inbox().find(&db.pool, id).await.unwrap().unwrap();
    assert_eq!((entry.status, entry.note.as_deref()), (Status::Closed, Some("refunded by hand")));
    let long = escalated(&db, "M").await;
    inbox().close(&db.pool, long, &"\0é".repeat(100_000)).await.unwrap();
    let (entry, _) = inbox().find(&db.pool, long).await.unwrap().unwrap();
    assert_eq!(entry.note, Some("é".repeat(2_000)));
    assert_eq!(inbox().close(&db.pool, id, "again").await.unwrap_err().kind(), ErrorKind::NotFound);
}

async fn all_about_an_order<B: Db>(db: Fixture<B>) {
    db.inbox(0).await;
    for (id, key) in [("a", "N-1"), ("b", "N-2"), ("c", "N-1"), ("d", "n-1")] {
        let _ = inbox().store(&db.pool, id, &Message::new("body").key(key)).await.unwrap();
    }
    let page = inbox().about(&db.pool, "N-1", None, 10).await.unwrap();
    let ids: Vec<_> = page.rows.into_iter().map(|entry| entry.unwrap().message_id).collect();
    assert_eq!(ids, ["a", "c"]);
}

async fn purged_by_age_after_export<B: Db>(db: Fixture<B>) {
    db.inbox(0).await;
    for i in 0..250 {
        let _ = db.store(&i.to_string(), "body").await;
    }
    while let Some(claim) = inbox().claim_next(&db.pool).await.unwrap() {
        claim.duplicate(&db.pool).await.unwrap();
    }
    let _ = inbox().set_aside(&db.pool, &Message::new("forged")).await.unwrap();
    let none = inbox().purge(&db.pool, async |_, _| Ok::<_, BoxError>(())).await.unwrap();
    assert_eq!(none, Purged::default());
    db.age("done_at", 29).await;
    db.age("received_at", 29).await;
    let young = db.claimed("young").await;
    young.duplicate(&db.pool).await.unwrap();
    let none =
        inbox().unverified_for(30 * DAY).purge(&db.pool, async |_, _| Ok::<_, BoxError>(())).await.unwrap();
    assert_eq!(none, Purged::default());

    let exported = Mutex::new(Vec::new());
    let export = async |entry: onward::inbox::Entry, message: Message| {
        assert_eq!((message.body(), entry.status), (&b"body"[..], Status::Duplicate));
        exported.lock().unwrap().push(entry.message_id);
        Ok::<_, BoxError>(())
    };
    let purged = inbox().keep_for(28 * DAY).purge(&db.pool, export).await.unwrap();
    assert_eq!((purged.deleted, purged.kept, purged.unverified), (250, 0, 1));
    let mut exported = exported.into_inner().unwrap();
    exported.sort();
    exported.dedup();
    assert_eq!(exported.len(), 250);
    assert_eq!(db.number("SELECT COUNT(*) FROM onward_inbox").await, 1);
    assert_eq!(db.number("SELECT COUNT(*) FROM onward_unverified").await, 0);
}

async fn what_is_open_is_never_purged<B: Db>(db: Fixture<B>) {
    db.inbox(0).await;
    let _ = db.store("received", "body").await;
    let _claim = db.claimed("claimed").await;
    db.claimed("failed").await.failed(&db.pool, "").await.unwrap();
    escalated(&db, "attention").await;
    let closed = escalated(&db, "closed").await;
    inbox().close(&db.pool, closed, "").await.unwrap();
    db.claimed("refused").await.refused(&db.pool, "").await.unwrap();
    db.age("done_at", 1_000).await;
    db.run("UPDATE onward_inbox SET received_at = next_at WHERE next_at IS NOT NULL").await;
    let purged = inbox().purge(&db.pool, async |_, _| Ok::<_, BoxError>(())).await.unwrap();
    assert_eq!((purged.deleted, purged.kept), (2, 0));
    assert_eq!(db.number("SELECT COUNT(*) FROM onward_inbox").await, 4);
}

async fn what_cannot_be_exported_stays<B: Db>(db: Fixture<B>) {
    db.inbox(0).await;
    for i in 0..105 {
        db.claimed(&i.to_string()).await.duplicate(&db.pool).await.unwrap();
    }
    db.age("done_at", 31).await;
    let full = async |entry: onward::inbox::Entry, _| match entry.message_id.as_str() {
        "3" | "104" => Err::<(), BoxError>("the archive is full".into()),
        _ => Ok(()),
    };
    let purged = inbox().purge(&db.pool, full).await.unwrap();
    assert_eq!((purged.deleted, purged.kept), (103, 2));
    assert_eq!(db.number("SELECT COUNT(*) FROM onward_inbox").await, 2);
    let purged = inbox().purge(&db.pool, async |_, _| Ok::<_, BoxError>(())).await.unwrap();
    assert_eq!((purged.deleted, purged.kept), (2, 0));
}

async fn an_entry_that_cannot_be_read<B: Db>(db: Fixture<B>) {
    db.inbox(0).await;
    let _ = db.store("N", "body").await;
    let _ = db.store("M", "body").await;
    let newer = "UPDATE onward_inbox SET attempts = -1 WHERE message_id = 'N'";
    db.run(newer).await;
    // It hides no other.
    let page = inbox().list(&db.pool, Status::Received, None, 10).await.unwrap();
    let read: Vec<_> =
        page.rows.iter().map(|row| row.as_ref().map_err(|error| error.kind()).map(|_| ())).collect();
    assert_eq!(read, [Err(ErrorKind::Unreadable), Ok(())]);
    let claim = inbox().claim_next(&db.pool).await.unwrap().unwrap();
    assert_eq!(claim.message_id, "M");
    assert_eq!(inbox().claim_next(&db.pool).await.unwrap_err().kind(), ErrorKind::Unreadable);
}
