//! Transitions by age: what is old enough moves, and nothing else.

#[cfg(feature = "sqlite")]
mod embedded;
mod several;

use crate::{
    db::{Db, Fixture},
    lifecycles::{AnyOrder, Orders as _, Paid, Pending, noon},
};
use onward::{BoxError, Clash, ErrorKind, Outcome, sweep::Sweep};
use std::{sync::Mutex, time::Duration};
use tokio::task::JoinSet;

on_every_database![
    what_is_old_enough_moves,
    by_a_fact,
    by_a_column_and_within_guards,
    nothing_to_go_by,
    the_age_is_checked_again,
    more_work_in_the_same_transaction,
    what_loses_stays,
    page_by_page,
    stopped_gracefully,
    a_payment_and_a_sweep_five_hundred_times,
    dropped_anywhere,
    in_a_spawned_task,
];

const HOUR: Duration = Duration::from_secs(3_600);

impl<B: Db> Fixture<B> {
    /// Orders, all of them last written a day ago.
    async fn old_orders(&self, count: i64) {
        self.orders(count).await;
        self.aged("orders", "modified_at", 1).await;
    }

    /// Likewise, many of them.
    async fn old_rows(&self, count: i64) {
        self.orders(0).await;
        let rows = (1..=count).map(|id| format!("({id}, 'N-{id}', 7, 500, 'pending', 0, {})", now::<B>()));
        let rows = rows.collect::<Vec<_>>().join(", ");
        let columns = "id, order_no, cust_no, amount_cents, state, lock_version, modified_at";
        self.run(&format!("INSERT INTO orders ({columns}) VALUES {rows}")).await;
        self.aged("orders", "modified_at", 1).await;
    }

    async fn cancelled(&self) -> i64 {
        self.number("SELECT COUNT(*) FROM orders WHERE state = 'cancelled'").await
    }
}

fn now<B: Db>() -> &'static str {
    match B::ENGINE {
        "sqlite" => "strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now')",
        "postgres" => "CURRENT_TIMESTAMP",
        _ => "UTC_TIMESTAMP(6)",
    }
}

async fn what_is_old_enough_moves<B: Db>(db: Fixture<B>) {
    db.old_orders(4).await;
    db.run(&format!("UPDATE orders SET modified_at = {} WHERE id = 2", now::<B>())).await;
    db.run("UPDATE orders SET modified_at = NULL WHERE id = 3").await;
    db.paid(4, "T-4").await;
    db.aged("orders", "modified_at", 0).await;
    let swept = Sweep::<Pending>::older_than(HOUR).run(&db.pool, |order| order.cancel()).await.unwrap();
    assert_eq!((swept.applied, swept.passed, swept.lost, swept.failed), (1, 0, 0, 0));
    for (id, state) in [(1, "cancelled:1"), (2, "pending:0"), (3, "pending:0"), (4, "paid:1")] {
        assert_eq!(db.state(id).await, state);
    }
    // The step itself was a write.
    let young = Sweep::<Pending>::older_than(Duration::ZERO).run(&db.pool, |order| order.cancel()).await;
    assert_eq!((young.unwrap().applied, db.cancelled().await), (1, 2));
}

async fn by_a_fact<B: Db>(db: Fixture<B>) {
    db.orders(2).await;
    db.paid(1, "T-1").await;
    let swept = Sweep::<Paid>::older_than(HOUR)
        .since("paid_at")
        .run(&db.pool, |order| {
            let refund_no = format!("R-{}", order.id);
            order.refund(refund_no)
        })
        .await
        .unwrap();
    assert_eq!((swept.applied, db.state(1).await.as_str()), (1, "refunded:2"));
    assert!(noon() < chrono::Utc::now());
}

pub mod tickets {
    use chrono::{DateTime, Utc};
    onward::lifecycle! {
        pub struct Ticket in "tickets";
        pub struct TicketRow { no: String, tenant_id: i64 guard, opened_at: DateTime<Utc> = "opened" }
        pub enum AnyTicket: TicketStatus as i16 { Open = 1, Expired = 2 }
        transitions { expire: Open -> Expired; }
    }
}

async fn tickets<B: Db>(db: &Fixture<B>) {
    db.run(
        "CREATE TABLE tickets (no VARCHAR(32) PRIMARY KEY, tenant_id BIGINT NOT NULL, opened {timestamp} NOT NULL,
           status SMALLINT NOT NULL, version BIGINT NOT NULL)",
    )
    .await;
}

async fn by_a_column_and_within_guards<B: Db>(db: Fixture<B>) {
    use tickets::{Open, Ticket, TicketRow};
    tickets(&db).await;
    for (no, tenant_id, minutes) in [("a", 7, 90), ("b", 7, 30), ("c", 8, 90)] {
        let opened_at = chrono::Utc::now() - chrono::TimeDelta::minutes(minutes);
        let row = TicketRow { no: no.into(), tenant_id, opened_at };
        let _ = Ticket::create(row).apply(&db.pool).await.unwrap().applied().unwrap();
    }
    for since in ["opened_at", "opened"] {
        let sweep = Sweep::<Open>::older_than(HOUR).since(since).within((7,));
        let swept = sweep.run(&db.pool, |ticket| ticket.expire()).await.unwrap();
        assert_eq!(swept.applied, u64::from(since == "opened_at"));
    }
    assert_eq!(db.text("SELECT no FROM tickets WHERE status = 2").await, "a");
    let error = Sweep::<Open>::older_than(HOUR).since("opened").run(&db.pool, |ticket| ticket.expire()).await;
    assert_eq!(error.unwrap_err().kind(), ErrorKind::NotDeclared);
    let sweep = Sweep::<Open>::older_than(HOUR).within((7,));
    assert_eq!(
        sweep.run(&db.pool, |ticket| ticket.expire()).await.unwrap_err().kind(),
        ErrorKind::NotDeclared
    );
}

async fn nothing_to_go_by<B: Db>(db: Fixture<B>) {
    db.old_orders(1).await;
    let sweep = Sweep::<Pending>::older_than(HOUR).since("created_at");
    let error = sweep.run(&db.pool, |order| order.cancel()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotDeclared);
    assert!(error.to_string().contains("created_at"), "{error}");
}

async fn the_age_is_checked_again<B: Db>(db: Fixture<B>) {
    db.old_orders(3).await;
    // Both are read with the first; then somebody writes them, one without raising the version.
    let touch = format!("UPDATE orders SET modified_at = {} WHERE id = 2", now::<B>());
    let pay = "UPDATE orders SET state = 'paid', lock_version = 1, trade_no = 'T', paid_at = modified_at WHERE id = 3";
    let swept = Sweep::<Pending>::older_than(HOUR).run_with(
        &db.pool,
        |order| order.cancel(),
        async |tx, order| {
            assert_eq!(order.id, 1);
            B::run(tx, &touch).await?;
            B::run(tx, pay).await.map(drop)
        },
    );
    let swept = swept.await.unwrap();
    assert_eq!((swept.applied, swept.passed), (1, 2));
    assert_eq!((db.state(2).await.as_str(), db.state(3).await.as_str()), ("pending:0", "paid:1"));
}

async fn more_work_in_the_same_transaction<B: Db>(db: Fixture<B>) {
    db.old_orders(3).await;
    let failures = Mutex::new(Vec::new());
    let swept = Sweep::<Pending>::older_than(HOUR)
        .failure(|error| failures.lock().unwrap().push((error.kind(), error.row_key().map(str::to_owned))))
        .run_with(
            &db.pool,
            |order| order.cancel(),
            async |tx, order| {
                B::run(tx, "UPDATE stock SET available = available + 1").await?;
                if order.id == 2 { Err("no".into()) } else { Ok::<_, BoxError>(()) }
            },
        )
        .await
        .unwrap();
    assert_eq!((swept.applied, swept.failed), (2, 1));
    assert_eq!(failures.into_inner().unwrap(), [(ErrorKind::Effect, Some("2".into()))]);
    assert_eq!((db.state(2).await.as_str(), db.cancelled().await), ("pending:0", 2));
    assert_eq!(db.number("SELECT available FROM stock").await, 7);
}

async fn what_loses_stays<B: Db>(db: Fixture<B>) {
    db.old_orders(3).await;
    let paid = |order: crate::lifecycles::Order<Pending>| order.pay("the same".into(), noon());
    let swept = Sweep::<Pending>::older_than(HOUR).run(&db.pool, paid).await.unwrap();
    assert_eq!((swept.applied, swept.lost, swept.failed), (1, 2, 0));
    let guarded = |order: crate::lifecycles::Order<Pending>| order.cancel().check(|order| order.id == 3);
    let swept = Sweep::<Pending>::older_than(HOUR).run(&db.pool, guarded).await.unwrap();
    assert_eq!((swept.applied, swept.lost), (1, 1));
}

async fn page_by_page<B: Db>(db: Fixture<B>) {
    db.old_orders(25).await;
    let mut heard = Vec::new();
    let sweep = Sweep::<Pending>::older_than(HOUR).page(7).progress(|swept| heard.push(swept.applied));
    let swept = sweep.run(&db.pool, |order| order.cancel()).await.unwrap();
    assert_eq!((swept.applied, db.cancelled().await), (25, 25));
    assert_eq!(heard, (1..=25).collect::<Vec<_>>());
    let swept = Sweep::<Pending>::older_than(HOUR).run(&db.pool, |order| order.cancel()).await.unwrap();
    assert_eq!(swept.applied, 0);
}

async fn stopped_gracefully<B: Db>(db: Fixture<B>) {
    db.old_orders(10).await;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let mut stop = Some(stop);
    let swept = Sweep::<Pending>::older_than(HOUR)
        .page(4)
        .until(async { drop(stopped.await) })
        .progress(|swept| {
            if swept.applied == 3 {
                stop.take();
            }
        })
        .run(&db.pool, |order| order.cancel())
        .await
        .unwrap();
    assert_eq!((swept.applied, db.cancelled().await), (3, 3));
}

/// Each order ends in exactly one of both, and whoever came second is told so.
async fn a_payment_and_a_sweep_five_hundred_times<B: Db>(db: Fixture<B>) {
    const ORDERS: i64 = 500;
    db.old_rows(ORDERS).await;
    db.run(&format!("UPDATE orders SET modified_at = {}", now::<B>())).await;
    let (mut paid, mut cancelled) = (0, 0);
    for first in (1..=ORDERS).step_by(5) {
        let ids = first..first + 5;
        // The others are too young.
        let (from, to) = (ids.start, ids.end - 1);
        let past = "'2026-03-01 12:00:00+00:00'"
            .replace("+00:00", if B::ENGINE == "mariadb" { "" } else { "+00:00" });
        db.run(&format!("UPDATE orders SET modified_at = {past} WHERE id BETWEEN {from} AND {to}")).await;
        let mut payments = JoinSet::new();
        for id in ids.rev() {
            let pool = db.pool.clone();
            payments.spawn(async move {
                let order = AnyOrder::find(&pool, id).await.unwrap().unwrap();
                // Some come before the sweep, some with it, some after it.
                tokio::time::sleep(Duration::from_millis(id.unsigned_abs() * 7 % 29)).await;
                match order.pay(format!("T-{id}"), noon()).apply(&pool).await.unwrap() {
                    Outcome::Applied(_) => true,
                    Outcome::Conflict(conflict) => {
                        assert_eq!(conflict.clash, Clash::Aside);
                        false
                    }
                    other => panic!("{other:?}"),
                }
            });
        }
        let sweep = Sweep::<Pending>::older_than(HOUR).page(2);
        let swept = sweep.run(&db.pool, |order| order.cancel()).await.unwrap();
        assert_eq!((swept.failed, swept.lost), (0, 0));
        let payments = payments.join_all().await;
        let won = payments.iter().filter(|won| **won).count() as i64;
        assert_eq!(won + swept.applied as i64, 5, "from order {first}: {swept:?}");
        paid += won;
        cancelled += swept.applied as i64;
    }
    println!("{}: {paid} paid, {cancelled} cancelled", B::ENGINE);
    assert_eq!(
        db.number("SELECT COUNT(*) FROM orders WHERE state = 'paid' AND lock_version = 1").await,
        paid
    );
    assert_eq!((db.cancelled().await, paid + cancelled), (cancelled, ORDERS));
}

async fn dropped_anywhere<B: Db>(db: Fixture<B>) {
    db.old_orders(30).await;
    for round in 0..60 {
        let sweep = Sweep::<Pending>::older_than(HOUR).page(5);
        let _ = tokio::time::timeout(
            Duration::from_micros(150 * round),
            sweep.run(&db.pool, |order| order.cancel()),
        )
        .await;
    }
    Sweep::<Pending>::older_than(HOUR).run(&db.pool, |order| order.cancel()).await.unwrap();
    assert_eq!(db.cancelled().await, 30);
    assert_eq!(db.number("SELECT COUNT(*) FROM orders WHERE lock_version = 1").await, 30);
}

async fn in_a_spawned_task<B: Db>(db: Fixture<B>) {
    db.old_orders(2).await;
    let pool = db.pool.clone();
    let swept = tokio::spawn(async move {
        let one = Sweep::<Pending>::older_than(HOUR).page(1).run(&pool, |order| order.cancel()).await?;
        let work =
            async move |tx: &mut B::Connection,
                        _: &crate::lifecycles::Order<crate::lifecycles::Cancelled>| {
                B::run(tx, "UPDATE stock SET available = 0").await.map(drop)
            };
        let none = Sweep::<Pending>::older_than(HOUR).run_with(&pool, |order| order.cancel(), work).await?;
        Ok::<_, onward::Error>((one.applied, none.applied))
    });
    assert_eq!(swept.await.unwrap().unwrap(), (2, 0));
}
