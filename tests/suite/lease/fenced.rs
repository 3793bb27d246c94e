//! What is written under a lease: the late one is refused, however it writes, and nobody takes over what is held.

use super::{acquired, expire};
use crate::{
    db::{Db, Fixture},
    journalled,
    lifecycles::{AnyOrder, Order, OrderRow, Orders as _, Pending, noon, row},
};
use onward::{
    Answer, Clash, ErrorKind, Outcome, Policy,
    lease::{Lease, Leases},
};
use std::time::Duration;
use tokio::time::sleep;

on_every_database![
    the_late_original_is_refused,
    with_a_journal,
    what_is_done_is_told,
    a_new_row,
    an_amendment,
    in_a_transaction_of_ones_own,
    waits_for_the_transaction_that_holds_it,
    refused_though_it_waited_for_the_lock_already,
    told_when_a_write_is_refused,
    of_that_name_alone,
    numbers_of_another_database,
    seen_by_two_at_once,
    numbers_never_come_again,
    attempts_at_once_under_one_lease,
];

/// A lease that was taken over, and the one that did.
pub async fn late_and_next<B: Db>(db: &Fixture<B>) -> (Lease, Lease) {
    let leases = Leases::new(&db.pool);
    let late = acquired(&leases, "charge").await;
    expire(&db.pool, "charge").await;
    (late, acquired(&leases, "charge").await)
}

/// Every way to try it, with a plain lifecycle and a journalled one alike.
macro_rules! every_way_to_pay {
    ($db:ident, $late:ident, $next:ident, $any:ident) => {
        let any = async |id: i64| $any::find(&$db.pool, id).await.unwrap().unwrap();
        for (lease, told, version) in [(&$late, "fenced", 0), (&$next, "applied", 1)] {
            let attempt = async |id: i64| any(id).await.pay(format!("T-{id}"), noon()).fenced(lease);

            let outcome = attempt(1).await.policy(Policy::retry(4)).apply(&$db.pool).await.unwrap();
            assert_eq!(outcome.as_str(), told);
            if let Outcome::Conflict(conflict) = outcome {
                assert_eq!((conflict.clash, conflict.clash.answer()), (Clash::Fenced, Answer::Later));
                assert_eq!((conflict.found.version(), conflict.holder, conflict.attempts), (0, None, 1));
            }

            let outcome = attempt(2).await.begin(&$db.pool).await.unwrap();
            assert_eq!(outcome.as_str(), told);
            if let Outcome::Applied(won) = outcome {
                assert_eq!(won.commit().await.unwrap().trade_no, "T-2");
            }

            let work = async |tx: &mut B::Connection, _: &_| {
                B::run(tx, "INSERT INTO effects VALUES (3, 'mail')").await.map(drop)
            };
            let outcome = attempt(3).await.apply_with(&$db.pool, work).await.unwrap();
            assert_eq!(outcome.as_str(), told);

            // The caller's transaction lives on.
            let mut tx = onward::begin(&$db.pool).await.unwrap();
            let outcome = attempt(4).await.apply_in(&mut tx).await.unwrap();
            assert_eq!(outcome.as_str(), told);
            B::run(&mut tx, "INSERT INTO effects VALUES (4, 'mail')").await.unwrap();
            tx.commit().await.unwrap();

            for id in 1..=4 {
                assert_eq!(any(id).await.version(), version, "order {id}, {told}");
            }
            assert_eq!($db.number("SELECT COUNT(*) FROM effects WHERE order_id = 3").await, version);
        }
        assert_eq!($db.number("SELECT COUNT(*) FROM effects WHERE order_id = 4").await, 2);
        // Nothing but the lease has kept the late one from it.
        assert_eq!(
            any(5).await.pay("T-5".into(), noon()).fenced(&$late).apply(&$db.pool).await.unwrap().as_str(),
            "fenced"
        );
        assert_eq!(
            any(5).await.pay("T-5".into(), noon()).apply(&$db.pool).await.unwrap().as_str(),
            "applied"
        );
    };
}

async fn the_late_original_is_refused<B: Db>(db: Fixture<B>) {
    onward::migrate(&db.pool).await.unwrap();
    db.orders(5).await;
    let (late, next) = late_and_next(&db).await;
    every_way_to_pay!(db, late, next, AnyOrder);
}

async fn with_a_journal<B: Db>(db: Fixture<B>) {
    use journalled::AnyOrder;
    onward::migrate(&db.pool).await.unwrap();
    journalled::Orders::orders(&db, 5).await;
    let (late, next) = late_and_next(&db).await;
    every_way_to_pay!(db, late, next, AnyOrder);
    let entries = db.number("SELECT COUNT(*) FROM order_journal WHERE transition = 'pay'").await;
    assert_eq!(entries, 5);
}

/// What the row says comes first, as far as the step is over.
async fn what_is_done_is_told<B: Db>(db: Fixture<B>) {
    onward::migrate(&db.pool).await.unwrap();
    db.orders(3).await;
    let (late, next) = late_and_next(&db).await;
    let (one, two, three) = (db.pending(1).await, db.pending(2).await, db.pending(3).await);
    for (id, trade_no) in [(1, "T-1"), (2, "T-9")] {
        let outcome = db.pending(id).await.pay(trade_no.into(), noon()).fenced(&next).apply(&db.pool).await;
        assert_eq!(outcome.unwrap().as_str(), "applied");
    }
    let _ = db.pending(3).await.amend(|row| row.amount_cents += 1).apply(&db.pool).await.unwrap();
    let told = async |order: Order<Pending>, trade_no: &str| {
        order.pay(trade_no.into(), noon()).fenced(&late).apply(&db.pool).await.unwrap().as_str()
    };
    assert_eq!(told(one, "T-1").await, "duplicate");
    assert_eq!(told(two, "T-2").await, "other_cause");
    assert_eq!(told(three, "T-3").await, "fenced", "a newer version, from which it would be possible");
    assert_eq!(db.state(3).await, "pending:1");
}

async fn a_new_row<B: Db>(db: Fixture<B>) {
    onward::migrate(&db.pool).await.unwrap();
    db.orders(1).await;
    let (late, next) = late_and_next(&db).await;
    let error = Order::create(row(2)).fenced(&late).apply(&db.pool).await.unwrap_err();
    assert_eq!((error.kind(), error.is_known_not_applied()), (ErrorKind::Conflict(Clash::Fenced), true));
    let mut tx = onward::begin(&db.pool).await.unwrap();
    let error = Order::create(row(2)).fenced(&late).apply_in(&mut tx).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict(Clash::Fenced));
    tx.commit().await.unwrap();
    assert!(AnyOrder::find(&db.pool, 2).await.unwrap().is_none());
    assert_eq!(Order::create(row(1)).fenced(&late).apply(&db.pool).await.unwrap().as_str(), "duplicate");
    assert_eq!(Order::create(row(2)).fenced(&next).apply(&db.pool).await.unwrap().as_str(), "applied");
}

async fn an_amendment<B: Db>(db: Fixture<B>) {
    onward::migrate(&db.pool).await.unwrap();
    db.orders(1).await;
    let (late, next) = late_and_next(&db).await;
    let more = |row: &mut OrderRow| row.amount_cents += 1;
    for (lease, told) in [(&late, "fenced"), (&next, "applied")] {
        let outcome = db.pending(1).await.amend(more).fenced(lease).apply(&db.pool).await.unwrap();
        assert_eq!(outcome.as_str(), told);
    }
    assert_eq!(db.pending(1).await.amount_cents, 501);
}

async fn in_a_transaction_of_ones_own<B: Db>(db: Fixture<B>) {
    onward::migrate(&db.pool).await.unwrap();
    let (late, next) = late_and_next(&db).await;
    let mut tx = onward::begin(&db.pool).await.unwrap();
    let error = late.hold_in(&mut tx).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict(Clash::Fenced), "{error:?}");
    assert!(error.to_string().contains("charge"), "{error}");
    for _ in 0..2 {
        next.hold_in(&mut tx).await.unwrap();
    }
    tx.commit().await.unwrap();
    assert_eq!(db.number("SELECT held FROM onward_lease").await, 2);
    let mut connection = db.pool.acquire().await.unwrap();
    let error = next.hold_in(&mut connection).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotInTransaction);
}

async fn waits_for_the_transaction_that_holds_it<B: Db>(db: Fixture<B>) {
    onward::migrate(&db.pool).await.unwrap();
    db.orders(2).await;
    let leases = Leases::new(&db.pool);
    let held = acquired(&leases, "charge").await;
    expire(&db.pool, "charge").await;

    let mut tx = onward::begin(&db.pool).await.unwrap();
    held.hold_in(&mut tx).await.unwrap();
    let next = tokio::spawn(async move { acquired(&leases, "charge").await });
    sleep(Duration::from_millis(500)).await;
    assert!(!next.is_finished(), "taken over while it was held");
    let paid = AnyOrder::find(&mut tx, 1).await.unwrap().unwrap().pay("T-1".into(), noon());
    let paid = paid.fenced(&held).apply_in(&mut tx).await.unwrap().applied().unwrap();
    tx.commit().await.unwrap();
    assert_eq!(paid.committed().version(), 1);

    let next = next.await.unwrap();
    assert!(next.fence() > held.fence() && next.is_held());
    let outcome = db.pending(2).await.pay("T-2".into(), noon()).fenced(&held).apply(&db.pool).await.unwrap();
    assert_eq!(outcome.as_str(), "fenced");
}

async fn refused_though_it_waited_for_the_lock_already<B: Db>(db: Fixture<B>) {
    onward::migrate(&db.pool).await.unwrap();
    db.orders(2).await;
    let late = acquired(&Leases::new(&db.pool), "charge").await;
    for id in 1..=2 {
        let attempt = db.pending(id).await.pay(format!("T-{id}"), noon()).fenced(&late);
        // A takeover that is not committed yet.
        let mut takeover = onward::begin(&db.pool).await.unwrap();
        B::run(&mut takeover, "UPDATE onward_lease SET fence = fence + 1, owner = 'somebody'").await.unwrap();
        let pool = db.pool.clone();
        let told = tokio::spawn(async move {
            if id == 1 {
                return attempt.apply(&pool).await.unwrap().as_str();
            }
            attempt.begin(&pool).await.unwrap().as_str()
        });
        sleep(Duration::from_millis(400)).await;
        assert!(!told.is_finished(), "it did not wait");
        takeover.commit().await.unwrap();
        assert_eq!(told.await.unwrap(), "fenced");
        assert_eq!(db.state(id).await, "pending:0");
    }
}

/// A number was drawn in vain by somebody whose time in Redis was over by then: who has the lease can never write again,
/// and does not keep it from others.
async fn told_when_a_write_is_refused<B: Db>(db: Fixture<B>) {
    onward::migrate(&db.pool).await.unwrap();
    let leases = Leases::new(&db.pool).lasting(Duration::from_millis(1500));
    let lease = acquired(&leases, "charge").await;
    db.run("UPDATE onward_lease SET fence = fence + 1").await;
    assert!(lease.is_held());
    let mut tx = onward::begin(&db.pool).await.unwrap();
    assert_eq!(lease.hold_in(&mut tx).await.unwrap_err().kind(), ErrorKind::Conflict(Clash::Fenced));
    tx.rollback().await;
    assert!(lease.lost().is_cancelled() && !lease.is_held());
    let next = leases.wait_for("charge", Duration::from_secs(10)).await.unwrap();
    let next = next.expect("what is lost is not renewed");
    assert!(next.fence() > lease.fence() + 1);
    let mut tx = onward::begin(&db.pool).await.unwrap();
    next.hold_in(&mut tx).await.unwrap();
    tx.commit().await.unwrap();
}

/// What one lease's number is says nothing of another's.
async fn of_that_name_alone<B: Db>(db: Fixture<B>) {
    onward::migrate(&db.pool).await.unwrap();
    let leases = Leases::new(&db.pool);
    let older = acquired(&leases, "refund").await;
    let newer = acquired(&leases, "charge").await;
    for lease in [&newer, &older] {
        let mut tx = onward::begin(&db.pool).await.unwrap();
        lease.hold_in(&mut tx).await.unwrap();
        tx.commit().await.unwrap();
    }
    assert_eq!(db.number("SELECT held FROM onward_lease WHERE name = 'refund'").await, 1);
}

/// The work's own database keeps the highest number that it has seen.
async fn numbers_of_another_database<B: Db>(db: Fixture<B>) {
    let other = db.another(4).await;
    for db in [&db, &other] {
        onward::migrate(&db.pool).await.unwrap();
    }
    db.orders(6).await;
    let (late, next) = late_and_next(&other).await;
    let told = async |id: i64, lease: &Lease| {
        let order = db.pending(id).await;
        order.pay(format!("T-{id}"), noon()).fenced(lease).apply(&db.pool).await.unwrap().as_str()
    };
    assert_eq!(told(1, &late).await, "applied", "nobody has seen a higher one");
    assert_eq!(told(2, &next).await, "applied");
    assert_eq!(told(3, &late).await, "fenced");
    assert_eq!(told(4, &next).await, "applied");
    // What it sees first is kept as well.
    db.run("DELETE FROM onward_lease").await;
    assert_eq!(told(5, &next).await, "applied");
    assert_eq!(told(6, &late).await, "fenced");
}

/// Two see their first number of a lease at the same time.
async fn seen_by_two_at_once<B: Db>(db: Fixture<B>) {
    let other = db.another(4).await;
    for db in [&db, &other] {
        onward::migrate(&db.pool).await.unwrap();
    }
    db.orders(2).await;
    let lease = acquired(&Leases::new(&other.pool), "charge").await;
    for (id, fence, expected) in [(1, lease.fence(), "applied"), (2, lease.fence() + 1, "fenced")] {
        db.run("DELETE FROM onward_lease").await;
        let mut tx = onward::begin(&db.pool).await.unwrap();
        let seen =
            format!("INSERT INTO onward_lease VALUES ('charge', {fence}, 1, NULL, '2000-01-01 00:00:00')");
        B::run(&mut tx, &seen).await.unwrap();
        let attempt = db.pending(id).await.pay(format!("T-{id}"), noon()).fenced(&lease);
        let pool = db.pool.clone();
        let told = tokio::spawn(async move { attempt.apply(&pool).await.unwrap().as_str() });
        sleep(Duration::from_millis(400)).await;
        assert!(!told.is_finished(), "it did not wait");
        tx.commit().await.unwrap();
        assert_eq!(told.await.unwrap(), expected);
    }
}

/// Not even where the table was emptied.
async fn numbers_never_come_again<B: Db>(db: Fixture<B>) {
    onward::migrate(&db.pool).await.unwrap();
    db.orders(2).await;
    let leases = Leases::new(&db.pool);
    let mut numbers = Vec::new();
    for round in 0..6 {
        let lease = acquired(&leases, "charge").await;
        numbers.push(lease.fence());
        match round % 3 {
            0 => assert_eq!(db.run("DELETE FROM onward_lease").await, 1),
            // An older copy.
            1 => assert_eq!(db.run("UPDATE onward_lease SET owner = NULL, fence = 7").await, 1),
            _ => lease.release().await.unwrap(),
        }
        sleep(Duration::from_millis(5)).await;
    }
    assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
}

/// They wait for each other, and all go on.
async fn attempts_at_once_under_one_lease<B: Db>(db: Fixture<B>) {
    onward::migrate(&db.pool).await.unwrap();
    db.orders(12).await;
    let lease = acquired(&Leases::new(&db.pool), "charge").await;
    let mut tasks = tokio::task::JoinSet::new();
    for id in 1..=12 {
        let attempt = db.pending(id).await.pay(format!("T-{id}"), noon()).fenced(&lease);
        let pool = db.pool.clone();
        tasks.spawn(async move { attempt.apply(&pool).await.unwrap().as_str() });
    }
    assert_eq!(tasks.join_all().await, ["applied"; 12]);
    assert_eq!(db.number("SELECT held FROM onward_lease").await, 12);
    assert!(lease.is_held());
}
