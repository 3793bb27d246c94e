//! The journal read back.

use super::{AnyOrder, OrderStatus, OrderTransition, any, orders, paid};
use crate::db::{Db, Fixture};
use onward::{ErrorKind, journal::Step};
use std::time::{Duration, SystemTime};

on_every_database!(
    history_is_typed_and_tells_the_time_in_each_state,
    what_this_build_does_not_know,
    keys_guards_and_integers_as_statuses,
);

async fn history_is_typed_and_tells_the_time_in_each_state<B: Db>(db: Fixture<B>) {
    orders(&db, 1).await;
    let began = SystemTime::now();
    let order = paid(&db, 1, "T-1").await;
    let attempt = order.amend(|row| row.amount_cents = 7).actor("clerk 7").request_id("R-1");
    let order = attempt.apply(&db.pool).await.unwrap().applied().unwrap();
    tokio::time::sleep(Duration::from_millis(60)).await;
    let _ = order.ship("parcel, nine".into()).apply(&db.pool).await.unwrap().applied().unwrap();

    let history = AnyOrder::history(&db.pool, 1).await.unwrap();
    let told: Vec<_> = history
        .entries
        .iter()
        .map(|e| {
            (
                e.version,
                e.step.clone(),
                e.from,
                e.to,
                e.cause.as_deref(),
                e.actor.as_deref(),
                e.request_id.as_deref(),
            )
        })
        .collect();
    let (pending, paid, shipped) = (OrderStatus::Pending, OrderStatus::Paid, OrderStatus::Shipped);
    let pay = Step::Transition(OrderTransition::Pay);
    let ship = Step::Transition(OrderTransition::Ship);
    assert_eq!(
        told,
        [
            (0, Step::Create, None, pending, None, None, None),
            (1, pay, Some(pending), paid, Some("T-1"), None, None),
            (2, Step::Amend, Some(paid), paid, None, Some("clerk 7"), Some("R-1")),
            (3, ship, Some(paid), shipped, Some("parcel, nine"), None, None),
        ]
    );
    let ids: std::collections::BTreeSet<_> = history.entries.iter().map(|entry| &entry.attempt_id).collect();
    assert_eq!(ids.len(), 4);
    for entry in &history.entries[1..] {
        let apart = entry.at.duration_since(began).unwrap_or_else(|error| error.duration());
        assert!(apart < Duration::from_secs(60), "{apart:?}");
    }

    let stays = history.stays();
    let states: Vec<_> = stays.iter().map(|stay| stay.status).collect();
    assert_eq!(states, [pending, paid, shipped]);
    let in_paid = stays[1].time().unwrap();
    assert!((Duration::from_millis(50)..Duration::from_secs(60)).contains(&in_paid), "{in_paid:?}");
    assert_eq!(stays[2].time(), None);
    assert_eq!(history.taken(OrderTransition::Ship).unwrap().version, 3);
    assert!(history.taken(OrderTransition::Refund).is_none());

    assert!(AnyOrder::history(&db.pool, 404).await.unwrap().entries.is_empty());
    let mut tx = onward::begin(&db.pool).await.unwrap();
    let refunded = any(&db, 1).await.refund().apply_in(&mut tx).await.unwrap();
    assert_eq!(AnyOrder::history(&mut tx, 1).await.unwrap().entries.len(), 5);
    drop(refunded);
    tx.rollback().await;
    assert_eq!(AnyOrder::history(&db.pool, 1).await.unwrap().entries.len(), 4);
}

async fn what_this_build_does_not_know<B: Db>(db: Fixture<B>) {
    orders(&db, 2).await;
    let _ = paid(&db, 1, "T-1").await;
    db.run("UPDATE order_journal SET transition = 'pay_by_card' WHERE row_key = 1 AND version = 1").await;
    let history = AnyOrder::history(&db.pool, 1).await.unwrap();
    assert_eq!(history.entries[1].step, Step::Other("pay_by_card".into()));
    db.run("UPDATE order_journal SET to_state = 'gifted' WHERE row_key = 1 AND version = 1").await;
    let error = AnyOrder::history(&db.pool, 1).await.unwrap_err();
    assert_eq!((error.kind(), error.table()), (ErrorKind::Unreadable, "order_journal"));
    assert!(error.to_string().contains("`gifted` is no known status"), "{error}");
    assert_eq!(AnyOrder::history(&db.pool, 2).await.unwrap().entries.len(), 1);
}

async fn keys_guards_and_integers_as_statuses<B: Db>(db: Fixture<B>) {
    mod tenants {
        onward::lifecycle! {
            pub struct Slip in "slips" (version: i16);
            pub struct SlipRow { code: String, tenant_id: i64 guard }
            pub enum AnySlip: SlipStatus as i16 { Open = 1, Settled = 2 { channel: String, receipt: i64 } }
            transitions { settle: Open -> Settled by (channel, receipt); }
            journal in "slip_journal";
        }
    }
    use onward::Lifecycle as _;
    use tenants::{AnySlip, Slip, SlipRow};
    db.run(
        "CREATE TABLE slips (code VARCHAR(32) NOT NULL, tenant_id BIGINT NOT NULL, status SMALLINT NOT NULL,
           version SMALLINT NOT NULL, channel VARCHAR(32), receipt BIGINT, PRIMARY KEY (tenant_id, code))",
    )
    .await;
    db.run(&AnySlip::DESCRIPTION.journal_table::<B>().unwrap()).await;
    // What is one tenant's is not another's.
    for tenant_id in [1, 2] {
        let slip = SlipRow { code: "A".into(), tenant_id };
        let slip = Slip::create(slip).apply(&db.pool).await.unwrap().applied().unwrap();
        let settled = slip.settle("wx".into(), 7).request_id("R-1").apply(&db.pool).await.unwrap();
        assert_eq!(settled.as_str(), "applied");
    }
    let other = SlipRow { code: "B".into(), tenant_id: 2 };
    let other = Slip::create(other).apply(&db.pool).await.unwrap().applied().unwrap();
    let outcome = other.settle("wx".into(), 7).apply(&db.pool).await.unwrap();
    assert_eq!(outcome.as_str(), "cause_taken");
    let history = AnySlip::history(&db.pool, "A", 2).await.unwrap();
    assert_eq!(history.entries.len(), 2);
    assert_eq!(history.entries[1].cause.as_deref(), Some("wx,7"));
    let again = AnySlip::find(&db.pool, "A", 2).await.unwrap().unwrap();
    assert_eq!(again.settle("wx".into(), 8).apply(&db.pool).await.unwrap().as_str(), "other_cause");
}
