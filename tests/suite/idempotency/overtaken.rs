//! What others do between the look at a claim that is over and its takeover is seen by the takeover.

use super::{brief, over, owned, told};
use crate::db::{Db, Fixture};
use onward::idempotency::Claims;
use sqlx::{Pool, pool::PoolOptions};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

on_every_database![overtaken];

async fn overtaken<B: Db>(db: Fixture<B>) {
    onward::migrate(&db.pool).await.unwrap();
    let claims = brief(&db.pool);
    let _spare = claims.claim("spare", b"another").await.unwrap();
    let spare =
        "(SELECT x.f FROM (SELECT fingerprint AS f FROM onward_claim WHERE claim_key = 'spare') AS x)";
    let another = format!("owner = 'somebody', fingerprint = {spare}");
    for (key, done, expected) in [
        ("finished", "status = 201, answer = fingerprint", "answered"),
        ("taken over", "owner = 'somebody', expires_at = kept_until", "in progress"),
        ("freed, claimed for something else, and over again", &another, "other payload"),
        ("left alone", "status = NULL", "owned"),
    ] {
        drop(owned(&claims, key).await);
        over().await;
        let done = format!("UPDATE onward_claim SET {done} WHERE claim_key = '{key}'");
        let pool = before_the_third_statement::<B>(&db.url, done).await;
        assert_eq!(told(&Claims::new(&pool, "checkout"), key).await, expected, "{key}");
    }
}

/// The one that takes over, behind those that claim and look.
async fn before_the_third_statement<B: Db>(url: &str, done: String) -> Pool<B> {
    let used = AtomicU32::new(0);
    let options = PoolOptions::new().max_connections(1).before_acquire(move |session, _| {
        let done = (used.fetch_add(1, SeqCst) == 2).then(|| done.clone());
        Box::pin(async move {
            if let Some(done) = done {
                assert_eq!(B::run(session, &done).await?, 1);
            }
            Ok(true)
        })
    });
    options.connect(url).await.unwrap()
}
