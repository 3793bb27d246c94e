//! A request does one thing, once.

use super::{Order, any, entries, orders, pending, row};
use crate::db::{Db, Fixture};
use onward::{Clash, Outcome};

on_every_database!(
    the_same_request_twice_is_a_repeat,
    a_request_for_something_else_is_a_clash,
    a_new_row_by_a_request_that_did_something_else,
);

async fn the_same_request_twice_is_a_repeat<B: Db>(db: Fixture<B>) {
    orders(&db, 1).await;
    let add = async || {
        let attempt = any(&db, 1).await.amend(|row| row.amount_cents += 10).request_id("R-1");
        attempt.apply(&db.pool).await.unwrap().as_str()
    };
    assert_eq!((add().await, add().await), ("applied", "duplicate"));
    assert_eq!(db.number("SELECT amount_cents FROM orders").await, 510);
    assert_eq!(entries(&db, 1).await, ["create:0", "amend:1"]);
    // Likewise inside a transaction of the caller's, which lives on.
    let mut tx = onward::begin(&db.pool).await.unwrap();
    let order = any(&db, 1).await.amend(|row| row.amount_cents += 10).request_id("R-1");
    assert_eq!(order.apply_in(&mut tx).await.unwrap().as_str(), "duplicate");
    let order = any(&db, 1).await.pay("T-1".into()).request_id("R-2");
    assert_eq!(order.apply_in(&mut tx).await.unwrap().as_str(), "applied");
    tx.commit().await.unwrap();
    let order = any(&db, 1).await.pay("T-1".into()).request_id("R-2");
    assert_eq!(order.apply(&db.pool).await.unwrap().as_str(), "duplicate");
    super::agree(&db).await;
}

async fn a_request_for_something_else_is_a_clash<B: Db>(db: Fixture<B>) {
    orders(&db, 2).await;
    let outcome = pending(&db, 1).await.pay("T-1".into()).request_id("R-1").apply(&db.pool).await.unwrap();
    assert_eq!(outcome.as_str(), "applied");
    let outcome = pending(&db, 2).await.pay("T-2".into()).request_id("R-1").apply(&db.pool).await.unwrap();
    let Outcome::Conflict(conflict) = outcome else { panic!("{outcome:?}") };
    assert_eq!((conflict.clash, conflict.holder), (Clash::UniqueTaken(Some("request_id")), Some(1)));
    assert_eq!((conflict.found.id, conflict.found.version()), (2, 0));
    let outcome = any(&db, 1).await.refund().request_id("R-1").apply(&db.pool).await.unwrap();
    let Outcome::Conflict(conflict) = outcome else { panic!("{outcome:?}") };
    assert_eq!((conflict.clash, conflict.holder), (Clash::UniqueTaken(Some("request_id")), Some(1)));
    super::agree(&db).await;
}

async fn a_new_row_by_a_request_that_did_something_else<B: Db>(db: Fixture<B>) {
    orders(&db, 1).await;
    let _ = pending(&db, 1).await.pay("T-1".into()).request_id("R-1").apply(&db.pool).await.unwrap();
    let outcome = Order::create(row(2)).request_id("R-1").apply(&db.pool).await.unwrap();
    let Outcome::Conflict(conflict) = outcome else { panic!("{outcome:?}") };
    assert_eq!((conflict.clash, conflict.holder), (Clash::UniqueTaken(Some("request_id")), Some(1)));
    assert_eq!(conflict.found.id, 1);
    let created = Order::create(row(3)).request_id("R-3").apply(&db.pool).await.unwrap();
    assert_eq!(created.as_str(), "applied");
    let again = Order::create(row(3)).request_id("R-3").apply(&db.pool).await.unwrap();
    assert_eq!(again.as_str(), "duplicate");
    assert_eq!(db.number("SELECT COUNT(*) FROM orders").await, 2);
}
