//! What the servers do alike, each with codes of its own: deadlocks, errors told by code; and decimals.

use crate::{
    db::{Db, Fixture},
    lifecycles::{Order, Orders as _, Paid, noon},
};
use onward::ErrorKind;

/// Two transactions that lock two orders in opposite order: one of them is given up by the engine.
pub async fn a_deadlock_in_the_callers_transaction<B: Db>(db: Fixture<B>) {
    db.orders(2).await;
    let start = std::sync::Arc::new(tokio::sync::Barrier::new(2));
    let mut tasks = Vec::new();
    for (first, second) in [(1, 2), (2, 1)] {
        let (pool, start, order) = (db.pool.clone(), start.clone(), db.pending(second).await);
        tasks.push(tokio::spawn(async move {
            let mut tx = onward::begin(&pool).await.unwrap();
            let sql =
                format!("UPDATE orders SET note = 'x', lock_version = lock_version + 1 WHERE id = {first}");
            B::run(&mut tx, &sql).await.unwrap();
            start.wait().await;
            let outcome = order.pay(format!("T-{second}"), noon()).apply_in(&mut tx).await;
            match outcome {
                Ok(outcome) => {
                    tx.commit().await.unwrap();
                    Ok(outcome.as_str())
                }
                Err(error) => {
                    tx.rollback().await;
                    Err(error)
                }
            }
        }));
    }
    let mut given_up = 0;
    for task in tasks {
        match task.await.unwrap() {
            // The survivor meets a row that is as it was: the other's write was undone.
            Ok(outcome) => assert_eq!(outcome, "applied"),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::RestartTransaction, "{error:?}");
                assert!(error.is_transient());
                given_up += 1;
            }
        }
    }
    assert_eq!(given_up, 1);
    assert_eq!(db.number("SELECT COUNT(*) FROM orders WHERE note = 'x'").await, 1);
}

/// The same in transactions of ours: the whole work runs again, and both get through.
pub async fn a_deadlock_restarts_our_own_work<B: Db>(db: Fixture<B>) {
    use std::sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    };
    db.orders(2).await;
    db.run("INSERT INTO stock VALUES ('cup', 5)").await;
    let runs = Arc::new(AtomicU32::new(0));
    let start = Arc::new(tokio::sync::Barrier::new(2));
    let mut tasks = Vec::new();
    for id in [1, 2] {
        let (pool, start, runs, order) = (db.pool.clone(), start.clone(), runs.clone(), db.pending(id).await);
        tasks.push(tokio::spawn(async move {
            let first = Arc::new(AtomicU32::new(0));
            let work = async move |tx: &mut B::Connection, _: &Order<Paid>| -> Result<(), sqlx::Error> {
                runs.fetch_add(1, Relaxed);
                for step in 0..2 {
                    let article = if (id == 1) == (step == 0) { "tea" } else { "cup" };
                    let sql =
                        format!("UPDATE stock SET available = available - 1 WHERE article = '{article}'");
                    B::run(tx, &sql).await?;
                    if first.fetch_add(1, Relaxed) == 0 {
                        start.wait().await;
                    }
                }
                Ok(())
            };
            order.pay(format!("T-{id}"), noon()).apply_with(&pool, work).await
        }));
    }
    for task in tasks {
        task.await.unwrap().unwrap().applied().unwrap();
    }
    assert!(runs.load(Relaxed) > 2, "there was no deadlock");
    assert_eq!(db.number("SELECT COUNT(*) FROM stock WHERE available = 4 OR available = 3").await, 2);
}

/// Raises an error with each code inside the work: conflicts run the work again and end in `Busy`, anything else is
/// the work's own error. The texts are of no known language and the same for all.
pub async fn codes_decide<B: Db>(db: Fixture<B>, codes: &[(&str, bool)], raise: fn(&str) -> String) {
    use std::sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    };
    db.orders(1).await;
    for (code, conflict) in codes {
        let runs = Arc::new(AtomicU32::new(0));
        let (counted, sql) = (runs.clone(), raise(code));
        let work = async move |tx: &mut B::Connection, _: &Order<Paid>| -> Result<(), sqlx::Error> {
            counted.fetch_add(1, Relaxed);
            B::run(tx, &sql).await.map(drop)
        };
        let error =
            db.pending(1).await.pay("T-1".into(), noon()).apply_with(&db.pool, work).await.unwrap_err();
        let (kind, again) = (error.kind(), runs.load(Relaxed) > 1);
        let expected = if *conflict { (ErrorKind::Busy, true) } else { (ErrorKind::Effect, false) };
        assert_eq!((kind, again), expected, "{code}: {error:?}");
        assert_eq!(db.state(1).await, "pending:0");
    }
}

/// The same codes where the guarded write itself fails: only some of them say that nothing was applied.
pub async fn codes_of_the_write_decide<B: Db>(
    db: Fixture<B>,
    codes: &[(&str, ErrorKind)],
    raise: fn(&str) -> String,
) {
    db.orders(1).await;
    for (code, kind) in codes {
        db.run(&raise(code)).await;
        let error = db.pending(1).await.pay("T-1".into(), noon()).apply(&db.pool).await.unwrap_err();
        assert_eq!(error.kind(), *kind, "{code}: {error:?}");
    }
}

#[cfg(feature = "rust_decimal")]
pub async fn decimals<B: Db + onward::Supports<rust_decimal::Decimal>>(db: Fixture<B>) {
    use crate::lifecycles::invoices::*;
    use rust_decimal::Decimal;
    db.run(INVOICES).await;
    let row = InvoiceRow { no: "I-1".into(), total: Decimal::new(1999, 2) };
    let open = Invoice::create(row).apply(&db.pool).await.unwrap().applied().unwrap();
    let settle = open
        .settle("R-1".into(), Decimal::new(20, 0), None)
        .check(|invoice| invoice.total < Decimal::new(20, 0));
    let _ = settle.apply(&db.pool).await.unwrap().applied().unwrap();
    let settled: Invoice<Settled> = Invoice::load(&db.pool, "I-1").await.unwrap();
    assert_eq!(
        (settled.paid, settled.fee, settled.total.to_string()),
        (Decimal::new(2000, 2), None, "19.99".into())
    );
}
