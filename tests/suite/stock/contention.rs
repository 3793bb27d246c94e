//! Many at once: the last one is sold once, and nobody blocks another for good.

use super::{
    Call::{Confirm, Deduct, Release, Reserve, Restore},
    STOCK, by, on, once, told,
};
use crate::{
    db::{Db, Fixture},
    lifecycles::{Order, Pending, noon},
};
use onward::{
    BoxError,
    stock::{Line, Operation, StockError},
};
use sqlx::Pool;
use tokio::task::JoinSet;

on_every_database![
    a_flash_sale,
    articles_in_another_order_block_nobody,
    fifty_buyers_with_overlapping_baskets,
    the_same_restore_at_once,
    restores_of_one_line_at_once,
];

/// One buyer presses the button until there is an answer.
async fn buy<B: Db>(pool: Pool<B>, id: i64) -> Result<bool, BoxError> {
    loop {
        let order: Order<Pending> = Order::load(&pool, id).await?;
        let paid = order.pay(format!("T-{id}"), noon()).apply_with(&pool, async move |tx, paid| {
            STOCK.deduct(tx, &Operation::of(paid), &[Line::new("lamp", 1)]).await?;
            Ok::<_, BoxError>(())
        });
        match paid.await {
            Ok(outcome) => return Ok(outcome.applied().map(|_| true)?),
            Err(error) if error.is_transient() => {}
            Err(error) => match error.effect() {
                Some(StockError::Shortage { wanted: 1, available: 0, .. }) => return Ok(false),
                _ => return Err(error.into()),
            },
        }
    }
}

async fn a_flash_sale<B: Db>(db: Fixture<B>) {
    const BUYERS: i64 = 1_000;
    db.goods(BUYERS).await;
    db.run("INSERT INTO goods VALUES ('lamp', 100, 100, 0)").await;
    let mut buyers = JoinSet::new();
    for id in 1..=BUYERS {
        buyers.spawn(buy(db.pool.clone(), id));
    }
    let mut sold = 0;
    while let Some(bought) = buyers.join_next().await {
        sold += i64::from(bought.unwrap().unwrap());
    }
    assert_eq!((sold, db.stock("lamp").await.as_str(), db.entries().await), (100, "0 0", 100));
    assert_eq!(db.number("SELECT COUNT(*) FROM orders WHERE state = 'paid'").await, 100);
    assert_eq!(
        db.number("SELECT COUNT(*) FROM orders WHERE state = 'pending' AND lock_version = 0").await,
        900
    );
    db.agrees().await;
}

async fn articles_in_another_order_block_nobody<B: Db>(db: Fixture<B>) {
    db.goods(0).await;
    db.run("UPDATE goods SET available = 1000, stocked = 1000").await;
    // On a cluster nobody waits for a lock of another node's; the conflict shows at the commit.
    let alone = db.nodes.len() == 1;
    let mut tasks = JoinSet::new();
    for caller in 0..4 {
        let pool = db.pool.clone();
        tasks.spawn(async move {
            let mut lines = ["cup", "pot", "tea"].map(|article| Line::new(article, 1));
            lines.rotate_left(caller % 3);
            if caller == 3 {
                lines.reverse();
            }
            for round in 0..20 {
                let operation = by(100 * round + i64::try_from(caller).unwrap(), "T");
                for call in [Reserve, Confirm, Restore, Deduct] {
                    while let Err(error) = once(&pool, call, &operation, &lines).await {
                        let again = matches!(&error, StockError::Fault(error) if error.is_transient());
                        assert!(again && !alone, "{call:?}: {error:?}");
                    }
                }
            }
        });
    }
    while let Some(task) = tasks.join_next().await {
        task.unwrap();
    }
    for article in ["cup", "pot", "tea"] {
        assert_eq!(db.stock(article).await, "920 0");
    }
    db.agrees().await;
}

async fn fifty_buyers_with_overlapping_baskets<B: Db>(db: Fixture<B>) {
    db.goods(0).await;
    db.run("UPDATE goods SET available = 30, stocked = 30").await;
    let mut tasks = JoinSet::new();
    for buyer in 0..50 {
        let pool = db.pool.clone();
        tasks.spawn(async move {
            let articles = ["cup", "pot", "tea"];
            let first = usize::try_from(buyer).unwrap() % 3;
            let basket = [
                Line::new(articles[first], 1 + buyer % 2),
                Line::new(articles[(first + 1 + first % 2) % 3], 1),
            ];
            let call = async |call, name: &str, lines: &[Line]| match on(&pool, call, &by(buyer, name), lines)
                .await
            {
                Ok(moved) => moved.moved > 0,
                Err(StockError::Shortage { .. }) => false,
                Err(error) => panic!("{error:?}"),
            };
            match buyer % 3 {
                0 => {
                    if call(Deduct, "T", &basket).await {
                        assert!(call(Restore, "back", &basket[1..]).await);
                    }
                }
                1 => {
                    if call(Reserve, "T", &basket).await {
                        assert!(call(Confirm, "T", &basket[..1]).await);
                        assert!(call(Release, "T", &basket[1..]).await);
                    }
                }
                _ => {
                    if call(Deduct, "T", &basket).await {
                        assert!(!call(Deduct, "T", &basket).await);
                    }
                }
            }
        });
    }
    while let Some(task) = tasks.join_next().await {
        task.unwrap();
    }
    db.agrees().await;
    assert!(db.entries().await > 50);
}

async fn the_same_restore_at_once<B: Db>(db: Fixture<B>) {
    db.goods(0).await;
    assert_eq!(told(db.call(Deduct, &by(1, "T"), &[("tea", 3)]).await), [1, 0, 0]);
    let mut tasks = JoinSet::new();
    for _ in 0..9 {
        let pool = db.pool.clone();
        tasks.spawn(async move { on(&pool, Restore, &by(1, "back"), &[Line::new("tea", 3)]).await });
    }
    let told = tasks.join_all().await.into_iter().map(|done| told(done)[0]).sum::<usize>();
    assert_eq!((told, db.stock("tea").await.as_str()), (1, "5 0"));
    db.agrees().await;
}

/// Under different names: only as many as were taken.
async fn restores_of_one_line_at_once<B: Db>(db: Fixture<B>) {
    db.goods(0).await;
    for order in 1..=3 {
        assert_eq!(told(db.call(Deduct, &by(order, "T"), &[("tea", 1)]).await), [1, 0, 0]);
    }
    let mut tasks = JoinSet::new();
    for refund in 0..9 {
        let pool = db.pool.clone();
        tasks.spawn(async move {
            let operation = by(1, &format!("refund-{refund}"));
            on(&pool, Restore, &operation, &[Line::new("tea", 1)]).await
        });
    }
    let mut restored = 0;
    for done in tasks.join_all().await {
        match done {
            Ok(_) => restored += 1,
            Err(StockError::NotTaken { wanted: 1, taken: 0, .. }) => {}
            Err(error) => panic!("{error:?}"),
        }
    }
    assert_eq!((restored, db.stock("tea").await.as_str()), (1, "3 0"));
    db.agrees().await;
}
