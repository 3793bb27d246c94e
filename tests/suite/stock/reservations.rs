//! Set aside first, then taken or given back.

use super::{
    Call::{Confirm, Deduct, Release, Reserve, Restore},
    STOCK, by, told,
};
use crate::{
    db::{Db, Fixture},
    lifecycles::{Orders as _, noon},
};
use onward::{
    BoxError,
    stock::{Line, Operation, StockError},
};
use tokio::task::JoinSet;

on_every_database![
    confirmed_in_two_parts,
    released_twice,
    release_after_confirm,
    confirmed_twice,
    a_release_before_its_reserve,
    a_release_and_its_reserve_at_once,
    a_release_that_waits_for_its_reserve,
    in_the_steps_of_an_order,
    what_was_confirmed_is_restored,
];

async fn confirmed_in_two_parts<B: Db>(db: Fixture<B>) {
    db.goods(0).await;
    assert_eq!(told(db.call(Reserve, &by(1, "r"), &[("tea", 5)]).await), [1, 0, 0]);
    assert_eq!(db.stock("tea").await, "0 5");
    assert_eq!(told(db.call(Confirm, &by(1, "parcel-1"), &[("tea", 3)]).await), [1, 0, 0]);
    assert_eq!(told(db.call(Confirm, &by(1, "parcel-1"), &[("tea", 3)]).await), [0, 1, 0]);
    assert_eq!(told(db.call(Confirm, &by(1, "parcel-2"), &[("tea", 1)]).await), [1, 0, 0]);
    assert_eq!(db.stock("tea").await, "0 1");
    // What is left goes back.
    assert_eq!(told(db.call(Release, &by(1, "r"), &[("tea", 1)]).await), [1, 0, 0]);
    assert_eq!(db.stock("tea").await, "1 0");
    db.agrees().await;
}

async fn released_twice<B: Db>(db: Fixture<B>) {
    db.goods(0).await;
    for order in [1, 2] {
        assert_eq!(told(db.call(Reserve, &by(order, "r"), &[("tea", 2)]).await), [1, 0, 0]);
        assert_eq!(told(db.call(Reserve, &by(order, "r"), &[("tea", 2)]).await), [0, 1, 0]);
    }
    assert_eq!(told(db.call(Release, &by(1, "r"), &[("tea", 2)]).await), [1, 0, 0]);
    assert_eq!(told(db.call(Release, &by(1, "r"), &[("tea", 2)]).await), [0, 1, 0]);
    assert_eq!(db.stock("tea").await, "3 2");
    // More than is reserved, though the order has as many under another name, and another order, too.
    assert_eq!(told(db.call(Reserve, &by(2, "r2"), &[("tea", 1)]).await), [1, 0, 0]);
    let more = db.call(Release, &by(2, "r"), &[("tea", 3)]).await.unwrap_err();
    assert!(matches!(more, StockError::NotHeld { wanted: 3, held: 2, .. }), "{more:?}");
    assert_eq!(db.stock("tea").await, "2 3");
    db.agrees().await;
}

async fn release_after_confirm<B: Db>(db: Fixture<B>) {
    db.goods(0).await;
    // Another order's, so that the table alone would have enough.
    for order in [1, 2] {
        assert_eq!(told(db.call(Reserve, &by(order, "r"), &[("tea", 2)]).await), [1, 0, 0]);
    }
    assert_eq!(told(db.call(Confirm, &by(1, "r"), &[("tea", 2)]).await), [1, 0, 0]);
    let late = db.call(Release, &by(1, "r"), &[("tea", 2)]).await.unwrap_err();
    assert!(matches!(late, StockError::NotHeld { held: 0, .. }), "{late:?}");
    assert_eq!(db.stock("tea").await, "1 2");
    db.agrees().await;
}

async fn confirmed_twice<B: Db>(db: Fixture<B>) {
    db.goods(0).await;
    let early = db.call(Confirm, &by(1, "r"), &[("tea", 2)]).await.unwrap_err();
    assert!(matches!(early, StockError::NotHeld { held: 0, .. }), "{early:?}");
    for order in [1, 2] {
        assert_eq!(told(db.call(Reserve, &by(order, "r"), &[("tea", 2)]).await), [1, 0, 0]);
    }
    assert_eq!(told(db.call(Confirm, &by(1, "r"), &[("tea", 2)]).await), [1, 0, 0]);
    assert_eq!(told(db.call(Confirm, &by(1, "r"), &[("tea", 2)]).await), [0, 1, 0]);
    let twice = db.call(Confirm, &by(1, "other"), &[("tea", 2)]).await.unwrap_err();
    assert!(matches!(twice, StockError::NotHeld { held: 0, .. }), "{twice:?}");
    assert_eq!(db.stock("tea").await, "1 2");
    db.agrees().await;
}

async fn a_release_before_its_reserve<B: Db>(db: Fixture<B>) {
    db.goods(0).await;
    // The order has another reservation, which is not touched by it.
    assert_eq!(told(db.call(Reserve, &by(1, "other"), &[("tea", 2)]).await), [1, 0, 0]);
    for _ in 0..2 {
        assert_eq!(told(db.call(Release, &by(1, "r"), &[("tea", 2)]).await), [0, 0, 1]);
        assert_eq!(db.stock("tea").await, "3 2");
    }
    for _ in 0..2 {
        assert_eq!(told(db.call(Reserve, &by(1, "r"), &[("tea", 2)]).await), [0, 0, 1]);
        assert_eq!(told(db.call(Release, &by(1, "r"), &[("tea", 2)]).await), [0, 0, 1]);
        assert_eq!(db.stock("tea").await, "3 2");
    }
    // Nothing is held by it, and what came under other names is as it was.
    assert_eq!(told(db.call(Confirm, &by(1, "other"), &[("tea", 2)]).await), [1, 0, 0]);
    assert_eq!(told(db.call(Reserve, &by(1, "next"), &[("tea", 2)]).await), [1, 0, 0]);
    assert_eq!(db.stock("tea").await, "1 2");
    db.agrees().await;
}

async fn a_release_and_its_reserve_at_once<B: Db>(db: Fixture<B>) {
    db.goods(0).await;
    for order in 1..=15 {
        let mut tasks = JoinSet::new();
        for call in [Reserve, Release] {
            let pool = db.pool.clone();
            tasks.spawn(async move { super::on(&pool, call, &by(order, "r"), &[Line::new("tea", 2)]).await });
        }
        let told = tasks.join_all().await.into_iter().map(told).collect::<Vec<_>>();
        assert!(told == [[1, 0, 0]; 2] || told == [[0, 0, 1]; 2], "{told:?}");
        assert_eq!(db.stock("tea").await, "5 0");
    }
    db.agrees().await;
}

/// It takes no more than that, though the order has as many under another name.
async fn a_release_that_waits_for_its_reserve<B: Db>(db: Fixture<B>) {
    db.goods(0).await;
    assert_eq!(told(db.call(Reserve, &by(1, "other"), &[("tea", 2)]).await), [1, 0, 0]);
    let mut tx = onward::begin(&db.pool).await.unwrap();
    let lines = [Line::new("tea", 2)];
    assert_eq!(told(STOCK.reserve(&mut tx, &by(1, "r"), &lines).await), [1, 0, 0]);
    let pool = db.pool.clone();
    let release =
        tokio::spawn(async move { super::on(&pool, Release, &by(1, "r"), &[Line::new("tea", 3)]).await });
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    assert!(!release.is_finished());
    tx.commit().await.unwrap();
    let more = release.await.unwrap().unwrap_err();
    assert!(matches!(more, StockError::NotHeld { wanted: 3, held: 2, .. }), "{more:?}");
    assert_eq!(db.stock("tea").await, "1 4");
    db.agrees().await;
}

/// Without names: by the versions of the order.
async fn in_the_steps_of_an_order<B: Db>(db: Fixture<B>) {
    db.goods(2).await;
    let lines = [Line::new("tea", 2), Line::new("cup", 1)];
    for id in [1, 2] {
        let order = db.pending(id).await;
        let mut tx = onward::begin(&db.pool).await.unwrap();
        assert_eq!(told(STOCK.reserve(&mut tx, &Operation::of(&order), &lines).await), [2, 0, 0]);
        tx.commit().await.unwrap();
    }
    assert_eq!((db.stock("tea").await.as_str(), db.stock("cup").await.as_str()), ("1 4", "3 2"));
    let paid = db.pending(1).await.pay("T-1".into(), noon());
    let paid = paid.apply_with(&db.pool, async |tx, paid| {
        STOCK.confirm(tx, &Operation::of(paid), &lines).await.map(drop)
    });
    let _ = paid.await.unwrap().applied().unwrap();
    let cancelled = db.pending(2).await.cancel();
    let cancelled = cancelled.apply_with(&db.pool, async |tx, cancelled| {
        STOCK.release(tx, &Operation::of(cancelled), &lines).await?;
        Ok::<_, BoxError>(())
    });
    let _ = cancelled.await.unwrap().applied().unwrap();
    assert_eq!((db.stock("tea").await.as_str(), db.stock("cup").await.as_str()), ("3 0", "4 0"));
    // Without a name there is nothing that a release could come too early for.
    let mut tx = onward::begin(&db.pool).await.unwrap();
    let nothing = STOCK.release(&mut tx, &Operation::of(&db.any(2).await).named("x"), &lines).await;
    assert_eq!(told(nothing), [0, 0, 2]);
    tx.rollback().await;
    let mut tx = onward::begin(&db.pool).await.unwrap();
    let nothing = STOCK.release(&mut tx, &Operation::of(&db.any(1).await), &lines).await.unwrap_err();
    assert!(matches!(nothing, StockError::NotHeld { held: 0, .. }), "{nothing:?}");
    tx.rollback().await;
    db.agrees().await;
}

async fn what_was_confirmed_is_restored<B: Db>(db: Fixture<B>) {
    db.goods(0).await;
    assert_eq!(told(db.call(Reserve, &by(1, "r"), &[("tea", 4)]).await), [1, 0, 0]);
    let early = db.call(Restore, &by(1, "back"), &[("tea", 1)]).await.unwrap_err();
    assert!(matches!(early, StockError::NotTaken { taken: 0, .. }), "{early:?}");
    assert_eq!(told(db.call(Confirm, &by(1, "r"), &[("tea", 3)]).await), [1, 0, 0]);
    assert_eq!(told(db.call(Deduct, &by(1, "more"), &[("tea", 1)]).await), [1, 0, 0]);
    let more = db.call(Restore, &by(1, "back"), &[("tea", 5)]).await.unwrap_err();
    assert!(matches!(more, StockError::NotTaken { taken: 4, .. }), "{more:?}");
    assert_eq!(told(db.call(Restore, &by(1, "back"), &[("tea", 4)]).await), [1, 0, 0]);
    assert_eq!(db.stock("tea").await, "4 1");
    db.agrees().await;
}
