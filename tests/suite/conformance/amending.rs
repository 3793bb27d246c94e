//! Changes of columns: the state stays, the version rises, and no change is lost.

use super::lifecycles::{AnyOrder, Order, Orders as _, Pending, noon};
use crate::db::{Db, Fixture};
use onward::{Clash, ErrorKind, Outcome, Policy};

on_every_database![
    amends_that_each_add_are_all_in,
    the_losers_of_an_amendment,
    the_key_cannot_be_amended,
    a_unique_clash_of_an_amendment_is_named,
    an_amendment_in_a_transaction,
    facts_computed_from_the_row_are_computed_again,
    a_computed_cause_is_the_one_that_is_compared,
];

async fn amends_that_each_add_are_all_in<B: Db>(db: Fixture<B>) {
    db.orders(1).await;
    let mut tasks = Vec::new();
    for _ in 0..8 {
        let (pool, order) = (db.pool.clone(), db.pending(1).await);
        tasks.push(tokio::spawn(async move {
            order.amend(|row| row.amount_cents += 10).policy(Policy::retry(50)).apply(&pool).await.unwrap()
        }));
    }
    for task in tasks {
        let amended: Order<Pending> = task.await.unwrap().applied().unwrap();
        assert!(amended.amount_cents > 500 && amended.version() > 0);
    }
    assert_eq!(db.number("SELECT amount_cents FROM orders").await, 580);
    assert_eq!(db.state(1).await, "pending:8");
}

async fn the_losers_of_an_amendment<B: Db>(db: Fixture<B>) {
    db.orders(2).await;
    let edit = |row: &mut super::lifecycles::OrderRow| row.amount_cents += 10;
    let (stale, moved, any) = (db.pending(1).await, db.pending(1).await, db.any(1).await);
    db.pending(1).await.amend(edit).apply(&db.pool).await.unwrap().applied().unwrap();
    let outcome = stale.amend(edit).apply(&db.pool).await.unwrap();
    assert!(matches!(&outcome, Outcome::Conflict(c) if c.clash == Clash::Stale), "{outcome:?}");
    db.paid(1, "T-1").await;
    let outcome = moved.amend(edit).policy(Policy::retry(3)).apply(&db.pool).await.unwrap();
    assert!(matches!(&outcome, Outcome::Conflict(c) if c.clash == Clash::Moved), "{outcome:?}");
    // From any state it goes on under a policy.
    let amended: AnyOrder =
        any.amend(edit).policy(Policy::retry(3)).apply(&db.pool).await.unwrap().applied().unwrap();
    assert_eq!((amended.version(), amended.amount_cents), (3, 520));
    assert_eq!(amended.facts().trade_no.unwrap(), "T-1");
    let gone = db.pending(2).await;
    db.run("DELETE FROM orders WHERE id = 2").await;
    assert!(matches!(gone.amend(edit).apply(&db.pool).await.unwrap(), Outcome::NotFound));
}

async fn the_key_cannot_be_amended<B: Db>(db: Fixture<B>) {
    db.orders(1).await;
    let error = db.pending(1).await.amend(|row| row.id = 9).apply(&db.pool).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyChanged);
    assert_eq!(db.state(1).await, "pending:0");
}

async fn a_unique_clash_of_an_amendment_is_named<B: Db>(db: Fixture<B>) {
    db.orders(2).await;
    let outcome = db.pending(2).await.amend(|row| row.order_no = "N-1".into()).apply(&db.pool).await.unwrap();
    let Outcome::Conflict(conflict) = outcome else { panic!("{outcome:?}") };
    assert_eq!((conflict.clash, conflict.holder), (Clash::UniqueTaken(Some("order_no")), Some(1)));
    assert_eq!((conflict.found.id, conflict.found.order_no.as_str()), (2, "N-2"));
}

async fn an_amendment_in_a_transaction<B: Db>(db: Fixture<B>) {
    db.orders(1).await;
    let mut tx = onward::begin(&db.pool).await.unwrap();
    let any = AnyOrder::lock(&mut tx, 1).await.unwrap().unwrap();
    let amended =
        any.amend(|row| row.note = Some("gift".into())).apply_in(&mut tx).await.unwrap().applied().unwrap();
    let paid =
        amended.then_in(&mut tx, |any| any.pay("T-1".into(), noon())).await.unwrap().applied().unwrap();
    tx.commit().await.unwrap();
    let paid = paid.committed();
    assert_eq!((paid.version(), paid.note.as_deref()), (2, Some("gift")));
    assert_eq!(db.state(1).await, "paid:2");
}

async fn facts_computed_from_the_row_are_computed_again<B: Db>(db: Fixture<B>) {
    db.orders(1).await;
    let stale = db.pending(1).await;
    db.pending(1).await.amend(|row| row.amount_cents = 900).apply(&db.pool).await.unwrap().applied().unwrap();
    let attempt =
        stale.pay(String::new(), noon()).facts_from(|order| (format!("cash-{}", order.amount_cents), noon()));
    let paid = attempt.policy(Policy::retry(2)).apply(&db.pool).await.unwrap().applied().unwrap();
    assert_eq!(paid.trade_no, "cash-900");
    assert_eq!(db.text("SELECT trade_no FROM orders").await, "cash-900");
}

async fn a_computed_cause_is_the_one_that_is_compared<B: Db>(db: Fixture<B>) {
    db.orders(1).await;
    let stale = db.pending(1).await;
    db.paid(1, "cash-1").await;
    let any =
        db.any(1).await.pay(String::new(), noon()).facts_from(|order| (format!("cash-{}", order.id), noon()));
    assert_eq!(any.apply(&db.pool).await.unwrap().as_str(), "duplicate");
    let typed = stale.pay(String::new(), noon()).facts_from(|order| (format!("cash-{}", order.id), noon()));
    assert_eq!(typed.check(|_| false).apply(&db.pool).await.unwrap().as_str(), "duplicate");
}
