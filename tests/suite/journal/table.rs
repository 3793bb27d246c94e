//! The text that makes the journal's table.

use super::{AnyOrder, orders, paid, pending};
use crate::db::{Db, Fixture};
use onward::Lifecycle as _;

on_every_database!(a_table_beside_a_renamed_one_has_every_index);

async fn a_table_beside_a_renamed_one_has_every_index<B: Db>(db: Fixture<B>) {
    orders(&db, 3).await;
    db.run("ALTER TABLE order_journal RENAME TO order_journal_kept").await;
    db.run(&AnyOrder::DESCRIPTION.journal_table::<B>().unwrap()).await;
    let _ = paid(&db, 1, "T-1").await;
    let outcome = pending(&db, 2).await.pay("T-1".into()).apply(&db.pool).await.unwrap();
    assert_eq!(outcome.as_str(), "cause_taken");
    let attempt = pending(&db, 2).await.pay("T-2".into()).request_id("R-1");
    assert_eq!(attempt.apply(&db.pool).await.unwrap().as_str(), "applied");
    let attempt = pending(&db, 3).await.pay("T-3".into()).request_id("R-1");
    assert_eq!(attempt.apply(&db.pool).await.unwrap().as_str(), "unique_taken");
}
