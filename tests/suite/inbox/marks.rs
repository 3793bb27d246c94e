//! Marks: in the transaction of the work, or after its rollback.

use super::inbox;
use crate::{
    db::{Db, Fixture},
    lifecycles::{AnyOrder, Order, Orders as _, Paid, noon},
};
use onward::{
    Answer, BoxError, ErrorKind, Outcome,
    Outcome::Applied,
    inbox::{Claim, Message, Status},
};
use sqlx::Pool;

on_every_database![
    marked_where_the_order_moves,
    marked_without_a_closure,
    marked_in_a_transaction_of_the_callers,
    a_rollback_takes_the_mark_with_it,
    each_outcome_to_its_mark,
    errors_made_of_losses_keep_their_meaning,
    settling_twice_changes_nothing,
    a_handler_over_http,
];

async fn marked_where_the_order_moves<B: Db>(db: Fixture<B>) {
    db.inbox(1).await;
    let claim = db.claimed("N").await;
    let work = pay(&db.pool, claim.clone(), 1, "T-1").await;
    assert_eq!(db.entry("N").await, "applied 1 applied");
    assert_eq!(claim.settle(&db.pool, &work).await.unwrap(), Answer::Settled);
    assert_eq!((db.entry("N").await.as_str(), db.state(1).await.as_str()), ("applied 1 applied", "paid:1"));
}

async fn marked_without_a_closure<B: Db>(db: Fixture<B>) {
    db.inbox(1).await;
    let claim = db.claimed("N").await;
    let attempt = db.pending(1).await.pay("T-1".into(), noon());
    let Applied(mut won) = attempt.begin(&db.pool).await.unwrap() else { panic!() };
    let (tx, _) = won.parts();
    claim.applied(tx).await.unwrap();
    let _: Order<Paid> = won.commit().await.unwrap();
    assert_eq!(db.entry("N").await, "applied 1 applied");
}

async fn marked_in_a_transaction_of_the_callers<B: Db>(db: Fixture<B>) {
    db.inbox(1).await;
    let (one, two) = (db.claimed("N").await, db.claimed("M").await);
    let mut tx = db.pool.begin().await.unwrap();
    let order = AnyOrder::lock(&mut tx, 1).await.unwrap().unwrap();
    let paid = order.pay("T-1".into(), noon()).apply_in(&mut tx).await.unwrap().applied().unwrap();
    one.applied(&mut tx).await.unwrap();
    two.duplicate(&mut tx).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(paid.committed().version(), 1);
    assert_eq!(
        (db.entry("N").await.as_str(), db.entry("M").await.as_str()),
        ("applied 1 applied", "duplicate 1 duplicate")
    );
    let mut connection = db.pool.acquire().await.unwrap();
    let error = one.applied(&mut connection).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotInTransaction);
}

async fn a_rollback_takes_the_mark_with_it<B: Db>(db: Fixture<B>) {
    db.inbox(0).await;
    let claim = db.claimed("N").await;
    let mut tx = onward::begin(&db.pool).await.unwrap();
    claim.applied(&mut tx).await.unwrap();
    tx.rollback().await;
    assert_eq!(db.entry("N").await, "claimed 1 -");
    // The claim still holds.
    claim.refused(&db.pool, "closed shop").await.unwrap();
    assert_eq!(db.entry("N").await, "refused 1 refused");
}

async fn pay<B: Db>(
    db: &Pool<B>,
    claim: Claim,
    id: i64,
    trade_no: &str,
) -> Result<Outcome<Order<Paid>>, BoxError> {
    let Some(order) = AnyOrder::find(db, id).await? else { return Ok(Outcome::NotFound) };
    let attempt = order.pay(trade_no.into(), noon()).check(|order| order.amount_cents == 500);
    let paid = attempt.apply_with(db, async move |tx, _| {
        B::run(tx, "UPDATE stock SET available = available - 1").await?;
        claim.applied(tx).await?;
        Ok::<_, BoxError>(())
    });
    Ok(paid.await?)
}

async fn each_outcome_to_its_mark<B: Db>(db: Fixture<B>) {
    db.inbox(4).await;
    db.run("UPDATE orders SET amount_cents = 1 WHERE id = 3").await;
    let _ = db.pending(4).await.cancel().apply(&db.pool).await.unwrap().applied().unwrap();
    for (message, order, trade_no, answer, entry) in [
        ("a", 1, "T-1", Answer::Settled, "applied 1 applied"),
        ("b", 1, "T-1", Answer::Settled, "duplicate 1 duplicate"),
        ("c", 1, "T-2", Answer::Escalate, "needs_attention 1 other_cause"),
        ("d", 2, "T-1", Answer::Escalate, "needs_attention 1 cause_taken"),
        ("e", 3, "T-3", Answer::Escalate, "needs_attention 1 refused"),
        ("f", 4, "T-4", Answer::Escalate, "needs_attention 1 aside"),
        ("g", 9, "T-9", Answer::Later, "failed 1 not_found"),
    ] {
        let claim = db.claimed(message).await;
        let work = pay(&db.pool, claim.clone(), order, trade_no).await;
        assert_eq!(claim.settle(&db.pool, &work).await.unwrap(), answer, "{message}");
        assert_eq!(db.entry(message).await, entry);
    }
    assert_eq!(db.number("SELECT available FROM stock").await, 4);
    // The words of an answer alone, and of an error that is nobody's.
    for (message, answer, entry) in [
        ("h", Answer::Settled, "applied 1 applied"),
        ("i", Answer::Escalate, "needs_attention 1 escalate"),
        ("j", Answer::Later, "failed 1 later"),
    ] {
        let claim = db.claimed(message).await;
        assert_eq!(claim.settle(&db.pool, &answer).await.unwrap(), answer);
        assert_eq!(db.entry(message).await, entry);
    }
    let claim = db.claimed("k").await;
    let work: Result<Answer, BoxError> = Err("out of paper\0".into());
    assert_eq!(claim.settle(&db.pool, &work).await.unwrap(), Answer::Later);
    let stored = db.store("k", "body").await;
    assert_eq!(
        (stored.entry().outcome.as_deref(), stored.entry().note.as_deref()),
        (Some("error"), Some("out of paper"))
    );
}

async fn errors_made_of_losses_keep_their_meaning<B: Db>(db: Fixture<B>) {
    db.inbox(1).await;
    db.paid(1, "T-1").await;
    for (message, trade_no, entry) in
        [("a", "T-1", "duplicate 1 duplicate"), ("b", "T-2", "needs_attention 1 other_cause")]
    {
        let claim = db.claimed(message).await;
        let outcome = db.any(1).await.pay(trade_no.into(), noon()).apply(&db.pool).await.unwrap();
        let work: Result<Answer, BoxError> = outcome.applied().map(|_| Answer::Settled).map_err(Into::into);
        let _ = claim.settle(&db.pool, &work).await.unwrap();
        assert_eq!(db.entry(message).await, entry);
    }
}

async fn settling_twice_changes_nothing<B: Db>(db: Fixture<B>) {
    db.inbox(1).await;
    let claim = db.claimed("N").await;
    // Not marked in its transaction: marked now.
    let work = db.pending(1).await.pay("T-1".into(), noon()).apply(&db.pool).await;
    for _ in 0..2 {
        assert_eq!(claim.settle(&db.pool, &work).await.unwrap(), Answer::Settled);
        assert_eq!(db.entry("N").await, "applied 1 applied");
    }
    let failed: Result<Answer, BoxError> = Err("too late".into());
    assert_eq!(claim.settle(&db.pool, &failed).await.unwrap(), Answer::Settled);
    assert_eq!(db.entry("N").await, "applied 1 applied");
}

async fn callback<B: Db>(
    db: Pool<B>,
    notify_id: String,
    order: i64,
    trade_no: String,
) -> Result<&'static str, BoxError> {
    let message = Message::new(format!("out_trade_no={order}&trade_no={trade_no}")).key(order.to_string());
    let stored = inbox().store(&db, &notify_id, &message).await?;
    let answer = match inbox().claim(&db, stored.entry().id).await? {
        Some(claim) => {
            let work = pay(&db, claim.clone(), order, &trade_no).await;
            claim.settle(&db, &work).await?
        }
        None => stored.answer(),
    };
    Ok(if answer == Answer::Later { "failure" } else { "success" })
}

async fn a_handler_over_http<B: Db>(db: Fixture<B>) {
    db.inbox(1).await;
    let mut told = Vec::new();
    for (notify_id, trade_no) in
        [("N-1", "T-1"), ("N-1", "T-1"), ("N-2", "T-1"), ("N-3", "T-2"), ("N-3", "T-2"), ("N-1", "T-9")]
    {
        // In a task of its own, as a server runs it.
        let handler = tokio::spawn(callback(db.pool.clone(), notify_id.into(), 1, trade_no.into()));
        told.push(handler.await.unwrap().unwrap());
    }
    assert_eq!(told, ["success"; 6]);
    assert_eq!((db.state(1).await.as_str(), db.number("SELECT available FROM stock").await), ("paid:1", 4));
    let page = inbox().list(&db.pool, Status::NeedsAttention, None, 10).await.unwrap();
    let kept: Vec<_> =
        page.rows.iter().flatten().map(|entry| (entry.message_id.as_str(), entry.changed)).collect();
    assert_eq!(kept, [("N-3", false), ("N-1", true)]);
}
