//! What is a repeat, and what is a second operation.

use super::{
    Call::{Deduct, Restore},
    STOCK, by, told,
};
use crate::{
    db::{Db, Fixture},
    lifecycles::{AnyOrder, Orders as _, noon},
};
use onward::{
    BoxError, ErrorKind,
    Outcome::Applied,
    stock::{Line, Operation, StockError},
};

on_every_database![
    a_line_shipped_in_two_parts,
    each_attempt_is_an_operation,
    without_a_closure_and_in_a_transaction_of_the_callers,
    work_that_failed_is_done_again,
    a_restore_delivered_three_times,
    a_repeat_with_another_quantity_is_none,
    some_lines_of_a_call_are_repeats,
];

async fn a_line_shipped_in_two_parts<B: Db>(db: Fixture<B>) {
    db.goods(0).await;
    for parcel in ["parcel-1", "parcel-2"] {
        assert_eq!(told(db.call(Deduct, &by(1, parcel), &[("tea", 2)]).await), [1, 0, 0]);
    }
    assert_eq!(db.stock("tea").await, "1 0");
    for parcel in ["parcel-2", "parcel-1", "parcel-1"] {
        assert_eq!(told(db.call(Deduct, &by(1, parcel), &[("tea", 2)]).await), [0, 1, 0]);
    }
    assert_eq!(db.stock("tea").await, "1 0");
    db.agrees().await;
}

/// By its version, which is another one for each step, and for an amendment between them.
async fn each_attempt_is_an_operation<B: Db>(db: Fixture<B>) {
    db.goods(1).await;
    let take = async |tx: &mut B::Connection, operation: Operation| {
        let done = STOCK.deduct(tx, &operation, &[Line::new("tea", 1)]).await?;
        assert_eq!(done.moved, 1);
        // Again in the same attempt it is the same operation, unless it has a name.
        assert_eq!(STOCK.deduct(tx, &operation, &[Line::new("tea", 1)]).await?.repeated, 1);
        Ok::<_, BoxError>(())
    };
    let paid = db.pending(1).await.pay("T-1".into(), noon());
    let paid = paid.apply_with(&db.pool, async |tx, paid| take(tx, Operation::of(paid)).await).await.unwrap();
    let shipped = paid.applied().unwrap().ship("parcel".into());
    let shipped = shipped
        .apply_with(&db.pool, async |tx, shipped| take(tx, Operation::of(shipped)).await)
        .await
        .unwrap();
    assert_eq!(shipped.applied().unwrap().version(), 2);
    assert_eq!(db.stock("tea").await, "3 0");
    // The step again is a repeat of the order's, and its work does not run.
    let again = db.any(1).await.pay("T-1".into(), noon());
    let again =
        again.apply_with(&db.pool, async |tx, paid| take(tx, Operation::of(paid)).await).await.unwrap();
    assert_eq!(again.as_str(), "duplicate");
    db.agrees().await;
}

async fn without_a_closure_and_in_a_transaction_of_the_callers<B: Db>(db: Fixture<B>) {
    db.goods(2).await;
    let Applied(mut won) = db.pending(1).await.pay("T-1".into(), noon()).begin(&db.pool).await.unwrap()
    else {
        panic!()
    };
    let (tx, paid) = won.parts();
    STOCK.deduct(tx, &Operation::of(paid), &[Line::new("tea", 1)]).await.unwrap();
    won.commit().await.unwrap();

    let mut tx = db.pool.begin().await.unwrap();
    let order = AnyOrder::lock(&mut tx, 2).await.unwrap().unwrap();
    let paid = order.pay("T-2".into(), noon()).apply_in(&mut tx).await.unwrap().applied().unwrap();
    STOCK.deduct(&mut tx, &Operation::of(&*paid), &[Line::new("tea", 1)]).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(db.stock("tea").await, "3 0");
    // A handle that was read is known by the same version.
    assert_eq!(Operation::of(&db.any(2).await), Operation::of(&paid.committed()));
}

async fn work_that_failed_is_done_again<B: Db>(db: Fixture<B>) {
    db.goods(1).await;
    for fails in [true, true, false] {
        let paid = db.pending(1).await.pay("T-1".into(), noon());
        let paid = paid.apply_with(&db.pool, async |tx, paid| {
            let done = STOCK.deduct(tx, &Operation::of(paid), &[Line::new("tea", 2)]).await?;
            assert_eq!(done.moved, 1);
            if fails { Err(BoxError::from("out of paper")) } else { Ok(()) }
        });
        match paid.await {
            Ok(outcome) => assert_eq!(outcome.as_str(), "applied"),
            Err(error) => assert_eq!((error.kind(), fails), (ErrorKind::Effect, true)),
        }
    }
    assert_eq!((db.stock("tea").await.as_str(), db.entries().await), ("3 0", 1));
}

async fn a_restore_delivered_three_times<B: Db>(db: Fixture<B>) {
    db.goods(0).await;
    // Not before it was taken.
    let early = db.call(Restore, &by(1, "refund-1"), &[("tea", 3)]).await.unwrap_err();
    assert!(matches!(early, StockError::NotTaken { wanted: 3, taken: 0, .. }), "{early:?}");
    assert_eq!(told(db.call(Deduct, &by(1, "T-1"), &[("tea", 3)]).await), [1, 0, 0]);
    for moved in [1, 0, 0] {
        assert_eq!(told(db.call(Restore, &by(1, "refund-1"), &[("tea", 3)]).await), [moved, 1 - moved, 0]);
        assert_eq!(db.stock("tea").await, "5 0");
    }
    // Nor twice under two names, nor what another order has taken.
    assert_eq!(told(db.call(Deduct, &by(2, "T-2"), &[("tea", 3)]).await), [1, 0, 0]);
    for (order, quantity, taken_before) in [(1, 1, 0), (2, 4, 3)] {
        let more = db.call(Restore, &by(order, "refund-2"), &[("tea", quantity)]).await.unwrap_err();
        assert!(matches!(more, StockError::NotTaken { taken, .. } if taken == taken_before), "{more:?}");
    }
    assert_eq!(db.stock("tea").await, "2 0");
    db.agrees().await;
}

async fn a_repeat_with_another_quantity_is_none<B: Db>(db: Fixture<B>) {
    db.goods(0).await;
    assert_eq!(told(db.call(Deduct, &by(1, "p"), &[("tea", 2)]).await), [1, 0, 0]);
    let changed = db.call(Deduct, &by(1, "p"), &[("tea", 3)]).await.unwrap_err();
    assert!(matches!(changed, StockError::Changed { before: 2, .. }), "{changed:?}");
    let lines = [Line::new("cup", 2).named("tea")];
    let changed = super::on(&db.pool, Deduct, &by(1, "p"), &lines).await.unwrap_err();
    assert!(matches!(&changed, StockError::Changed { article, .. } if article == "tea"), "{changed:?}");
    // The entry is there as before.
    assert_eq!(told(db.call(Deduct, &by(1, "p"), &[("tea", 2)]).await), [0, 1, 0]);
    assert_eq!((db.stock("tea").await.as_str(), db.stock("cup").await.as_str()), ("3 0", "5 0"));
}

async fn some_lines_of_a_call_are_repeats<B: Db>(db: Fixture<B>) {
    db.goods(0).await;
    assert_eq!(told(db.call(Deduct, &by(1, "p"), &[("tea", 2)]).await), [1, 0, 0]);
    assert_eq!(told(db.call(Deduct, &by(1, "p"), &[("tea", 2), ("cup", 1)]).await), [1, 1, 0]);
    assert_eq!(told(db.call(Deduct, &by(1, "p"), &[]).await), [0, 0, 0]);
    // Two lines of one article by their names.
    let lines = [Line::new("tea", 1).named("line 1"), Line::new("tea", 2).named("line 2")];
    assert_eq!(told(super::on(&db.pool, Deduct, &by(2, "p"), &lines).await), [2, 0, 0]);
    assert_eq!((db.stock("tea").await.as_str(), db.stock("cup").await.as_str()), ("0 0", "4 0"));
    db.agrees().await;
}
