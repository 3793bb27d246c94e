//! What is forgotten, and what is not.

use super::{fresh, shown, used};
use crate::db::{Db, Fixture};
use onward::token::Tokens;
use std::time::Duration;

on_every_database![purged];

const HOUR: Duration = Duration::from_secs(3_600);

async fn purged<B: Db>(db: Fixture<B>) {
    onward::migrate(&db.pool).await.unwrap();
    let (tokens, others) = (Tokens::new(&db.pool, "form"), Tokens::new(&db.pool, "button"));
    // Older than all of the others.
    let other = others.issue("anna").await.unwrap();
    let (late, done) = (tokens.issue("anna").await.unwrap(), tokens.issue("anna").await.unwrap());
    let _ = fresh(&tokens, done.secret()).await;
    // As many as one batch deletes, and more: used ones and others.
    let digits = "(SELECT 0 AS d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION \
                  SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9)";
    db.run(&format!(
        "INSERT INTO onward_token (hash, purpose, expires_at, used_at, used_by) \
         SELECT CONCAT(CASE WHEN k.used_by IS NULL THEN 'late ' ELSE 'done ' END, \
                       CAST(100 * b.d + 10 * c.d + e.d AS CHAR(3))), \
         k.purpose, k.expires_at, k.used_at, k.used_by \
         FROM onward_token k, {digits} b, {digits} c, {digits} e WHERE k.purpose = 'form'"
    ))
    .await;
    db.aged("onward_token", "expires_at", 1).await;
    let (new, used_since) = (tokens.issue("anna").await.unwrap(), tokens.issue("anna").await.unwrap());
    let _ = fresh(&tokens, used_since.secret()).await;
    let left = async |purpose: &str| {
        db.number(&format!("SELECT COUNT(*) FROM onward_token WHERE purpose = '{purpose}'")).await
    };

    // They expired a day ago, but for ten minutes.
    assert_eq!(tokens.purge(24 * HOUR).await.unwrap(), 0);
    assert_eq!((left("form").await, left("button").await), (2_004, 1));
    assert_eq!(shown(&tokens, "anna", late.secret()).await, "expired");
    let _ = used(&tokens, done.secret()).await;
    assert_eq!(tokens.purge(23 * HOUR).await.unwrap(), 2_002);
    assert_eq!((left("form").await, left("button").await), (2, 1));
    for forgotten in [&late, &done] {
        assert_eq!(shown(&tokens, "anna", forgotten.secret()).await, "unknown");
    }
    assert_eq!(shown(&others, "anna", other.secret()).await, "expired");
    // What has not expired stays, used or not, as long as it may come back.
    assert_eq!(tokens.purge(Duration::ZERO).await.unwrap(), 0);
    let _ = (fresh(&tokens, new.secret()).await, used(&tokens, used_since.secret()).await);
    assert_eq!(others.purge(Duration::ZERO).await.unwrap(), 1);
}
