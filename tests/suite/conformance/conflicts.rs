//! Something else happened to the row: what the loser is told.

use super::lifecycles::{AnyOrder, Order, Orders as _, Pending, approvals, noon};
use crate::db::{Db, Fixture};
use onward::{Answer, Clash, Conflict, ErrorKind, Outcome, Policy};
use std::time::Duration;

on_every_database![
    a_late_failure_does_not_push_a_paid_order_back,
    a_late_payment_does_not_revive_a_cancelled_order,
    pay_and_cancel_end_in_exactly_one_of_them,
    approve_and_reject_have_one_winner,
    the_guard_is_asked_again_on_the_fresh_row,
    a_guard_that_said_no_to_a_stale_row_is_asked_again,
    a_write_that_bypasses_the_version_is_noticed_by_the_state,
    a_retry_uses_the_version_that_it_read,
    a_policy_makes_no_more_attempts_than_it_says,
    deleted_is_not_stale,
    a_state_is_no_proof_of_a_step_that_was_never_made,
    the_same_person_did_the_other_thing,
    an_attempt_from_any_order_goes_on_from_another_source,
    a_step_that_is_not_possible_yet_is_behind,
    a_restored_backup_is_behind,
    a_version_at_its_limit_is_left_alone,
    outcomes_answer_as_documented,
];

fn clash<T: onward::Handle + std::fmt::Debug>(outcome: Outcome<T>) -> Clash {
    match outcome {
        Outcome::Conflict(Conflict { clash, .. }) => clash,
        other => panic!("{other:?}"),
    }
}

async fn a_late_failure_does_not_push_a_paid_order_back<B: Db>(db: Fixture<B>) {
    db.orders(1).await;
    let stale = db.pending(1).await;
    db.paid(1, "T-1").await;
    let outcome = stale.cancel().apply(&db.pool).await.unwrap();
    let Outcome::Conflict(conflict) = outcome else { panic!("{outcome:?}") };
    assert_eq!((conflict.clash, conflict.found.version(), conflict.attempts), (Clash::Aside, 1, 1));
    assert!(matches!(conflict.found, AnyOrder::Paid(_)));
    assert_eq!(db.state(1).await, "paid:1");
}

async fn a_late_payment_does_not_revive_a_cancelled_order<B: Db>(db: Fixture<B>) {
    db.orders(1).await;
    let stale = db.pending(1).await;
    db.pending(1).await.cancel().apply(&db.pool).await.unwrap().applied().unwrap();
    for order in [AnyOrder::from(stale), db.any(1).await] {
        let deduct = async move |tx: &mut B::Connection, _: &_| {
            B::run(tx, "UPDATE stock SET available = available - 1").await.map(drop)
        };
        let outcome = order.pay("T-1".into(), noon()).apply_with(&db.pool, deduct).await.unwrap();
        assert_eq!(clash(outcome), Clash::Aside);
    }
    assert_eq!(db.number("SELECT available FROM stock").await, 5);
    assert_eq!(db.state(1).await, "cancelled:1");
}

async fn pay_and_cancel_end_in_exactly_one_of_them<B: Db>(db: Fixture<B>) {
    let rounds = 500;
    db.orders(rounds).await;
    let (mut paid, mut cancelled) = (0, 0);
    for id in 1..=rounds {
        let (one, two) = (db.pending(id).await, db.pending(id).await);
        let (first, second) = (db.pool.clone(), db.pool.clone());
        let pay =
            tokio::spawn(async move { one.pay(format!("T-{id}"), noon()).apply(&first).await.unwrap() });
        let cancel = tokio::spawn(async move { two.cancel().apply(&second).await.unwrap() });
        match (pay.await.unwrap(), cancel.await.unwrap()) {
            (Outcome::Applied(_), Outcome::Conflict(c)) => {
                assert_eq!(c.clash, Clash::Aside);
                assert!(matches!(c.found, AnyOrder::Paid(_)));
                paid += 1;
            }
            (Outcome::Conflict(c), Outcome::Applied(_)) => {
                assert_eq!(c.clash, Clash::Aside);
                assert!(matches!(c.found, AnyOrder::Cancelled(_)));
                cancelled += 1;
            }
            both => panic!("{both:?}"),
        }
    }
    assert_eq!(
        db.number("SELECT COUNT(*) FROM orders WHERE state = 'paid' AND lock_version = 1").await,
        paid
    );
    assert_eq!(paid + cancelled, rounds);
}

async fn approve_and_reject_have_one_winner<B: Db>(db: Fixture<B>) {
    let (one, two) = (submitted(&db, 9).await, reload(&db).await);
    let (first, second) = (db.pool.clone(), db.pool.clone());
    let approve = tokio::spawn(async move { one.approve("b".into(), None).apply(&first).await.unwrap() });
    let reject = tokio::spawn(async move { two.reject("c".into()).apply(&second).await.unwrap() });
    match (approve.await.unwrap(), reject.await.unwrap()) {
        (Outcome::Applied(_), lost) => assert_eq!(clash(lost), Clash::Aside),
        (lost, Outcome::Applied(_)) => assert_eq!(clash(lost), Clash::Aside),
        both => panic!("{both:?}"),
    }
}

const ID: uuid::Uuid = uuid::Uuid::from_u128(1);

async fn submitted<B: Db>(db: &Fixture<B>, limit_cents: i64) -> approvals::Request<approvals::Submitted> {
    use approvals::*;
    db.tables::<AnyRequest>(REQUESTS).await;
    let row = RequestRow { id: ID, cents: 5, asked_by: "a".into(), limit_cents };
    let draft = Request::create(row).apply(&db.pool).await.unwrap().applied().unwrap();
    draft.submit().apply(&db.pool).await.unwrap().applied().unwrap()
}

async fn reload<B: Db>(db: &Fixture<B>) -> approvals::Request<approvals::Submitted> {
    approvals::Request::load(&db.pool, ID).await.unwrap()
}

async fn the_guard_is_asked_again_on_the_fresh_row<B: Db>(db: Fixture<B>) {
    let stale = submitted(&db, 9).await;
    reload(&db).await.amend(|row| row.limit_cents = 1).apply(&db.pool).await.unwrap().applied().unwrap();
    let attempt = stale.approve("b".into(), None).check(|r| r.cents <= r.limit_cents);
    let outcome = attempt.policy(Policy::retry(3)).apply(&db.pool).await.unwrap();
    let Outcome::Refused(found) = outcome else { panic!("{outcome:?}") };
    assert_eq!((found.limit_cents, found.version()), (1, 2));
}

async fn a_guard_that_said_no_to_a_stale_row_is_asked_again<B: Db>(db: Fixture<B>) {
    let stale = submitted(&db, 1).await;
    reload(&db).await.amend(|row| row.limit_cents = 9).apply(&db.pool).await.unwrap().applied().unwrap();
    let attempt = stale.approve("b".into(), None).check(|r| r.cents <= r.limit_cents);
    let approved = attempt.apply(&db.pool).await.unwrap().applied().unwrap();
    assert_eq!((approved.limit_cents, approved.version()), (9, 3));
    assert_eq!(approved.remark, None);
}

async fn a_write_that_bypasses_the_version_is_noticed_by_the_state<B: Db>(db: Fixture<B>) {
    db.orders(1).await;
    let stale = db.pending(1).await;
    db.run("UPDATE orders SET state = 'cancelled' WHERE id = 1").await;
    assert_eq!(clash(stale.pay("T-1".into(), noon()).apply(&db.pool).await.unwrap()), Clash::Aside);
    assert_eq!(db.state(1).await, "cancelled:0");
}

async fn a_retry_uses_the_version_that_it_read<B: Db>(db: Fixture<B>) {
    db.orders(2).await;
    for (id, policy) in [(1, Policy::return_current()), (2, Policy::retry(3))] {
        let stale = db.pending(id).await;
        db.pending(id)
            .await
            .amend(|row| row.note = Some("gift".into()))
            .apply(&db.pool)
            .await
            .unwrap()
            .applied()
            .unwrap();
        let outcome = stale.pay(format!("T-{id}"), noon()).policy(policy).apply(&db.pool).await.unwrap();
        if policy == Policy::return_current() {
            assert_eq!(outcome.answer(), Answer::Later);
            assert_eq!(clash(outcome), Clash::Stale);
        } else {
            let paid = outcome.applied().unwrap();
            assert_eq!((paid.version(), paid.note.as_deref()), (2, Some("gift")));
        }
    }
}

async fn a_policy_makes_no_more_attempts_than_it_says<B: Db>(db: Fixture<B>) {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    db.orders(1).await;
    let order = db.pending(1).await;
    let asked = AtomicU32::new(0);
    let (pool, moving) = (db.pool.clone(), db.pool.clone());
    let policy = Policy::retry(3).delays(Duration::from_millis(50), Duration::from_millis(50));
    // Each time the guard is asked, the row moves on before the update.
    let attempt = order.pay("T-1".into(), noon()).policy(policy).check(|_| {
        asked.fetch_add(1, Relaxed);
        let moving = moving.clone();
        let bump = async move {
            let mut c = moving.acquire().await.unwrap();
            B::run(&mut c, "UPDATE orders SET lock_version = lock_version + 1 WHERE id = 1").await.unwrap();
        };
        tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(bump));
        true
    });
    // The closure borrows `asked`, so this is not spawned.
    let outcome = attempt.apply(&pool).await.unwrap();
    let Outcome::Conflict(conflict) = outcome else { panic!("{outcome:?}") };
    assert_eq!((conflict.clash, conflict.attempts, asked.load(Relaxed)), (Clash::Stale, 3, 3));
}

async fn deleted_is_not_stale<B: Db>(db: Fixture<B>) {
    db.orders(1).await;
    let order = db.pending(1).await;
    db.run("DELETE FROM orders").await;
    let outcome = order.pay("T-1".into(), noon()).apply(&db.pool).await.unwrap();
    assert!(matches!(outcome, Outcome::NotFound), "{outcome:?}");
    assert_eq!(outcome.applied().unwrap_err().kind(), ErrorKind::NotFound);
}

async fn a_state_is_no_proof_of_a_step_that_was_never_made<B: Db>(db: Fixture<B>) {
    db.orders(1).await;
    let (one, two) = (db.paid(1, "T-1").await, db.any(1).await);
    one.refund("R-1".into()).apply(&db.pool).await.unwrap().applied().unwrap();
    let AnyOrder::Paid(stale) = two else { panic!() };
    assert_eq!(clash(stale.ship("parcel".into()).apply(&db.pool).await.unwrap()), Clash::Aside);
    // Nor for one that comes without a handle.
    assert_eq!(clash(db.any(1).await.ship("parcel".into()).apply(&db.pool).await.unwrap()), Clash::Aside);
    assert_eq!(clash(db.any(1).await.complete().apply(&db.pool).await.unwrap()), Clash::Aside);
}

async fn the_same_person_did_the_other_thing<B: Db>(db: Fixture<B>) {
    let (stale, other) = (submitted(&db, 9).await, reload(&db).await);
    other.reject("alice".into()).apply(&db.pool).await.unwrap().applied().unwrap();
    assert_eq!(clash(stale.approve("alice".into(), None).apply(&db.pool).await.unwrap()), Clash::Aside);
    // Closed can be reached on both ways: her stored name still proves nothing.
    let any = approvals::AnyRequest::find(&db.pool, ID).await.unwrap().unwrap();
    any.close().apply(&db.pool).await.unwrap().applied().unwrap();
    let any = approvals::AnyRequest::find(&db.pool, ID).await.unwrap().unwrap();
    assert_eq!(clash(any.approve("alice".into(), None).apply(&db.pool).await.unwrap()), Clash::Aside);
}

async fn an_attempt_from_any_order_goes_on_from_another_source<B: Db>(db: Fixture<B>) {
    db.orders(2).await;
    for (id, policy) in [(1, Policy::return_current()), (2, Policy::retry(2))] {
        let paid = db.paid(id, &format!("T-{id}")).await;
        let any = db.any(id).await;
        let typed = Order::load(&db.pool, id).await.unwrap();
        paid.ship("parcel".into()).apply(&db.pool).await.unwrap().applied().unwrap();
        let typed: Order<super::lifecycles::Paid> = typed;
        // A typed handle says from where it goes; it never goes on from elsewhere.
        assert_eq!(
            clash(typed.refund(format!("R-{id}")).policy(policy).apply(&db.pool).await.unwrap()),
            Clash::Moved
        );
        let outcome = any.refund(format!("R-{id}")).policy(policy).apply(&db.pool).await.unwrap();
        match id {
            1 => assert_eq!(clash(outcome), Clash::Moved),
            _ => assert_eq!(outcome.applied().unwrap().version(), 3),
        }
    }
}

async fn a_step_that_is_not_possible_yet_is_behind<B: Db>(db: Fixture<B>) {
    db.orders(2).await;
    let outcome = db.any(1).await.ship("parcel".into()).apply(&db.pool).await.unwrap();
    assert_eq!(outcome.answer(), Answer::Later);
    assert_eq!(clash(outcome), Clash::Behind);
    // Under a policy it waits for what must come first.
    let any = db.any(2).await;
    let pool = db.pool.clone();
    let policy = Policy::retry(20).delays(Duration::from_millis(20), Duration::from_millis(100));
    let ship =
        tokio::spawn(async move { any.ship("parcel".into()).policy(policy).apply(&pool).await.unwrap() });
    tokio::time::sleep(Duration::from_millis(100)).await;
    db.paid(2, "T-2").await;
    assert_eq!(ship.await.unwrap().applied().unwrap().version(), 2);
}

async fn a_restored_backup_is_behind<B: Db>(db: Fixture<B>) {
    db.orders(1).await;
    let paid = db.paid(1, "T-1").await;
    db.run("UPDATE orders SET state = 'pending', lock_version = 0, trade_no = NULL WHERE id = 1").await;
    let outcome = paid.ship("parcel".into()).apply(&db.pool).await.unwrap();
    let Outcome::Conflict(conflict) = outcome else { panic!("{outcome:?}") };
    assert_eq!((conflict.clash, conflict.found.version()), (Clash::Behind, 0));
}

async fn a_version_at_its_limit_is_left_alone<B: Db>(db: Fixture<B>) {
    db.orders(1).await;
    db.run(&format!("UPDATE orders SET lock_version = {}", i32::MAX)).await;
    let error = db.pending(1).await.pay("T-1".into(), noon()).apply(&db.pool).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::VersionLimit);
    let error = db.pending(1).await.amend(|_| {}).apply(&db.pool).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::VersionLimit);
    assert_eq!(db.state(1).await, format!("pending:{}", i32::MAX));
}

async fn outcomes_answer_as_documented<B: Db>(db: Fixture<B>) {
    db.orders(3).await;
    let refused = db
        .pending(1)
        .await
        .pay("T".into(), noon())
        .check(|o| o.amount_cents == 1)
        .apply(&db.pool)
        .await
        .unwrap();
    assert!(matches!(refused, Outcome::Refused(_)));
    assert_eq!(refused.answer(), Answer::Escalate);
    assert_eq!(refused.applied().unwrap_err().kind(), ErrorKind::Refused);
    let stale: Order<Pending> = db.pending(1).await;
    let applied = db.pending(1).await.pay("T".into(), noon()).apply(&db.pool).await.unwrap();
    assert_eq!(applied.answer(), Answer::Settled);
    let duplicate = stale.pay("T".into(), noon()).apply(&db.pool).await.unwrap();
    assert_eq!(duplicate.answer(), Answer::Settled);
    assert_eq!(duplicate.applied().unwrap_err().kind(), ErrorKind::Duplicate);
    let taken = db.pending(2).await.pay("T".into(), noon()).apply(&db.pool).await.unwrap();
    assert_eq!(taken.answer(), Answer::Escalate);
    assert_eq!(taken.applied().unwrap_err().kind(), ErrorKind::Conflict(Clash::CauseTaken));
    db.run("DELETE FROM orders WHERE id = 3").await;
}
