//! What is refused, by which error, and that nothing of it was kept.

use super::{
    Call::{Confirm, Deduct, Release, Reserve, Restore},
    STOCK, by, told,
};
use crate::{
    db::{Db, Fixture},
    lifecycles::{Order, Orders as _, Paid, noon},
};
use onward::{
    ErrorKind,
    stock::{Line, Operation, StockError},
};

on_every_database![
    two_buyers_and_one_unit,
    a_shortage_undoes_earlier_lines,
    a_shortage_in_a_transaction_of_the_callers,
    an_article_that_is_not_there,
    quantities_of_zero_and_less,
    too_many,
    two_lines_of_the_same_name,
    names_that_are_too_long,
    outside_of_a_transaction,
    a_table_that_says_less_than_the_ledger,
    an_error_of_the_database,
    a_lock_that_was_waited_for_in_vain,
];

async fn two_buyers_and_one_unit<B: Db>(db: Fixture<B>) {
    db.goods(2).await;
    let buy = async |id: i64| {
        let paid = db.pending(id).await.pay(format!("T-{id}"), noon());
        paid.apply_with(&db.pool, async |tx, paid: &Order<Paid>| -> Result<(), StockError> {
            STOCK.deduct(tx, &Operation::of(paid), &[Line::new("pot", 1)]).await.map(drop)
        })
        .await
    };
    let both = tokio::join!(buy(1), buy(2));
    let (loser, error) = match both {
        (Ok(won), Err(error)) => (won.applied().map(|_| 2).unwrap(), error),
        (Err(error), Ok(won)) => (won.applied().map(|_| 1).unwrap(), error),
        both => panic!("{both:?}"),
    };
    assert_eq!(error.kind(), ErrorKind::Effect);
    let Some(StockError::Shortage { article, wanted: 1, available: 0 }) = error.effect() else {
        panic!("{error:?}")
    };
    assert_eq!(article.to_string(), "pot");
    assert_eq!((db.stock("pot").await.as_str(), db.entries().await), ("0 0", 1));
    // The other one can go on.
    assert_eq!(db.state(loser).await, "pending:0");
    let _ = db.pending(loser).await.cancel().apply(&db.pool).await.unwrap().applied().unwrap();
}

async fn a_shortage_undoes_earlier_lines<B: Db>(db: Fixture<B>) {
    db.goods(0).await;
    for call in [Deduct, Reserve] {
        let lines = [("tea", 2), ("pot", 2), ("cup", 5)];
        let short = db.call(call, &by(1, "p"), &lines).await.unwrap_err();
        assert!(matches!(short, StockError::Shortage { wanted: 2, available: 1, .. }), "{short:?}");
        assert_eq!(db.entries().await, 0);
        for (article, there) in [("tea", "5 0"), ("pot", "1 0"), ("cup", "5 0")] {
            assert_eq!(db.stock(article).await, there);
        }
    }
    // One line alone, and the same operation later.
    assert!(db.call(Deduct, &by(1, "p"), &[("pot", 2)]).await.is_err());
    assert_eq!(db.entries().await, 0);
    db.run("UPDATE goods SET available = 2, stocked = 2 WHERE article = 'pot'").await;
    assert_eq!(told(db.call(Deduct, &by(1, "p"), &[("pot", 2)]).await), [1, 0, 0]);
    db.agrees().await;
}

async fn a_shortage_in_a_transaction_of_the_callers<B: Db>(db: Fixture<B>) {
    db.goods(1).await;
    let mut tx = db.pool.begin().await.unwrap();
    B::run(&mut tx, "INSERT INTO effects VALUES (1, 'before')").await.unwrap();
    let order = db.pending(1).await.pay("T-1".into(), noon());
    let paid = order.apply_in(&mut tx).await.unwrap().applied().unwrap();
    for lines in [vec![Line::new("cup", 1), Line::new("pot", 2)], vec![Line::new("pot", 2)]] {
        let short = STOCK.deduct(&mut tx, &Operation::of(&*paid), &lines).await.unwrap_err();
        assert!(matches!(short, StockError::Shortage { .. }), "{short:?}");
    }
    let owed = STOCK.restore(&mut tx, &Operation::of(&*paid), &[Line::new("tea", 1)]).await.unwrap_err();
    assert!(matches!(owed, StockError::NotTaken { .. }), "{owed:?}");
    // It lives on, with what came before, and with something else instead.
    STOCK.deduct(&mut tx, &Operation::of(&*paid), &[Line::new("pot", 1)]).await.unwrap();
    B::run(&mut tx, "INSERT INTO effects VALUES (1, 'after')").await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!((db.state(1).await.as_str(), db.stock("cup").await.as_str()), ("paid:1", "5 0"));
    assert_eq!((db.stock("pot").await.as_str(), db.entries().await), ("0 0", 1));
    assert_eq!(db.number("SELECT COUNT(*) FROM effects").await, 2);
}

async fn an_article_that_is_not_there<B: Db>(db: Fixture<B>) {
    db.goods(0).await;
    for call in [Deduct, Reserve, Confirm, Restore] {
        let unknown = db.call(call, &by(1, "p"), &[("cup", 1), ("gold", 1)]).await.unwrap_err();
        match (call, &unknown) {
            (Confirm, StockError::NotHeld { .. }) | (Restore, StockError::NotTaken { .. }) => {}
            (_, StockError::UnknownArticle { article }) => assert_eq!(article.to_string(), "gold"),
            _ => panic!("{unknown:?}"),
        }
        assert_eq!((db.stock("cup").await.as_str(), db.entries().await), ("5 0", 0));
    }
}

async fn quantities_of_zero_and_less<B: Db>(db: Fixture<B>) {
    db.goods(0).await;
    for call in [Deduct, Reserve, Confirm, Release, Restore] {
        for wrong in [0, -1, i64::MIN] {
            let error = db.call(call, &by(1, "p"), &[("cup", 1), ("tea", wrong)]).await.unwrap_err();
            assert!(matches!(error, StockError::Quantity { quantity, .. } if quantity == wrong), "{error:?}");
        }
    }
    assert_eq!((db.stock("cup").await.as_str(), db.entries().await), ("5 0", 0));
}

async fn too_many<B: Db>(db: Fixture<B>) {
    db.goods(0).await;
    assert_eq!(told(db.call(Deduct, &by(1, "p"), &[("tea", 5)]).await), [1, 0, 0]);
    assert_eq!(told(db.call(Reserve, &by(1, "r"), &[("cup", 5)]).await), [1, 0, 0]);
    db.run(&format!("UPDATE goods SET available = {} WHERE article IN ('tea', 'cup')", i64::MAX - 4)).await;
    let error = db.call(Restore, &by(1, "p"), &[("tea", 5)]).await.unwrap_err();
    assert!(matches!(error, StockError::Overflow { .. }), "{error:?}");
    let error = db.call(Release, &by(1, "r"), &[("cup", 5)]).await.unwrap_err();
    assert!(matches!(error, StockError::Overflow { .. }), "{error:?}");
    assert_eq!(db.stock("cup").await, format!("{} 5", i64::MAX - 4));
    assert_eq!(told(db.call(Restore, &by(1, "p"), &[("tea", 4)]).await), [1, 0, 0]);
    assert_eq!(db.stock("tea").await, format!("{} 0", i64::MAX));
    db.run(&format!("UPDATE goods SET available = 5, reserved = {} WHERE article = 'cup'", i64::MAX - 1))
        .await;
    let error = db.call(Reserve, &by(2, "r"), &[("cup", 2)]).await.unwrap_err();
    assert!(matches!(error, StockError::Overflow { .. }), "{error:?}");
    // More than there can be is a shortage.
    let error = db.call(Deduct, &by(2, "p"), &[("pot", i64::MAX)]).await.unwrap_err();
    assert!(matches!(error, StockError::Shortage { wanted: i64::MAX, available: 1, .. }), "{error:?}");
}

async fn two_lines_of_the_same_name<B: Db>(db: Fixture<B>) {
    db.goods(0).await;
    let same = db.call(Deduct, &by(1, "p"), &[("tea", 1), ("cup", 1), ("tea", 2)]).await.unwrap_err();
    assert!(matches!(&same, StockError::SameLine { line } if line == "tea"), "{same:?}");
    assert_eq!(db.entries().await, 0);
}

async fn names_that_are_too_long<B: Db>(db: Fixture<B>) {
    db.goods(0).await;
    let long = "n".repeat(513);
    let operations = [
        (Operation::new("s".repeat(193), "1", "p"), Line::new("tea", 1)),
        (Operation::new("shop", long.clone(), "p"), Line::new("tea", 1)),
        (Operation::new("shop", "1", long.clone()), Line::new("tea", 1)),
        (by(1, "p"), Line::new("tea", 1).named(long.clone())),
        (by(1, "p"), Line::new(long, 1).named("1")),
    ];
    for (operation, line) in operations {
        let error = super::on(&db.pool, Deduct, &operation, &[line]).await.unwrap_err();
        assert!(
            matches!(&error, StockError::Fault(error) if error.kind() == ErrorKind::TooLong),
            "{error:?}"
        );
    }
    // All of them as long as they may be.
    let (name, source) = ("n".repeat(512), "s".repeat(192));
    let operation = Operation::new(source, name.clone(), name.clone());
    let done = super::on(&db.pool, Deduct, &operation, &[Line::new("tea", 1).named(name)]).await;
    assert_eq!(told(done), [1, 0, 0]);
}

async fn outside_of_a_transaction<B: Db>(db: Fixture<B>) {
    db.goods(0).await;
    let mut connection = db.pool.acquire().await.unwrap();
    let error = STOCK.deduct(&mut connection, &by(1, "p"), &[Line::new("tea", 1)]).await.unwrap_err();
    let StockError::Fault(error) = error else { panic!("{error:?}") };
    assert_eq!(error.kind(), ErrorKind::NotInTransaction);
    assert_eq!(
        (error.table(), error.transition(), error.row_key()),
        ("goods", Some("deduct"), Some("\"1\""))
    );
    drop(connection);
    assert_eq!((db.stock("tea").await.as_str(), db.entries().await), ("5 0", 0));
}

async fn a_table_that_says_less_than_the_ledger<B: Db>(db: Fixture<B>) {
    db.goods(0).await;
    assert_eq!(told(db.call(Reserve, &by(1, "r"), &[("tea", 2)]).await), [1, 0, 0]);
    db.run("UPDATE goods SET reserved = 1 WHERE article = 'tea'").await;
    for call in [Confirm, Release] {
        let error = db.call(call, &by(1, "r"), &[("tea", 2)]).await.unwrap_err();
        assert!(
            matches!(&error, StockError::Fault(error) if error.kind() == ErrorKind::NoEffect),
            "{error:?}"
        );
    }
    assert_eq!((db.stock("tea").await.as_str(), db.entries().await), ("3 1", 1));
}

/// A constraint of the user's own: nothing is kept by whoever commits all the same.
async fn an_error_of_the_database<B: Db>(db: Fixture<B>) {
    db.goods(0).await;
    db.run(
        "DROP TABLE goods; CREATE TABLE goods (article VARCHAR(32) PRIMARY KEY, stocked BIGINT NOT NULL,
        available BIGINT NOT NULL CHECK (available >= 3), reserved BIGINT NOT NULL);
        INSERT INTO goods VALUES ('cup', 5, 5, 0), ('tea', 5, 5, 0)",
    )
    .await;
    for lines in [vec![Line::new("tea", 3)], vec![Line::new("cup", 1), Line::new("tea", 3)]] {
        let mut tx = db.pool.begin().await.unwrap();
        let error = STOCK.deduct(&mut tx, &by(1, "p"), &lines).await.unwrap_err();
        assert!(
            matches!(&error, StockError::Fault(error) if error.kind() == ErrorKind::Database),
            "{error:?}"
        );
        let _ = tx.commit().await;
        assert_eq!((db.stock("cup").await.as_str(), db.entries().await), ("5 0", 0));
    }
}

/// Only the statement is undone on MySQL, so whoever commits all the same keeps the rest of it.
async fn a_lock_that_was_waited_for_in_vain<B: Db>(db: Fixture<B>) {
    db.goods(0).await;
    for line in ["cup", "tea"] {
        assert_eq!(told(db.call(Reserve, &by(1, "r"), &[(line, 2)]).await), [1, 0, 0]);
        assert_eq!(told(db.call(Deduct, &by(1, "d"), &[(line, 1)]).await), [1, 0, 0]);
    }
    let mut holder = onward::begin(&db.pool).await.unwrap();
    B::run(&mut holder, "UPDATE goods SET available = available WHERE article = 'tea'").await.unwrap();
    let mut connection = db.pool.acquire().await.unwrap();
    let impatient = match B::ENGINE {
        "sqlite" => "PRAGMA busy_timeout = 20",
        "postgres" => "SET lock_timeout = '20ms'",
        _ => "SET innodb_lock_wait_timeout = 1",
    };
    B::run(&mut connection, impatient).await.unwrap();
    for lines in [vec![Line::new("tea", 1)], vec![Line::new("cup", 1), Line::new("tea", 1)]] {
        for call in [Deduct, Reserve, Confirm, Release, Restore] {
            let mut tx = sqlx::Connection::begin(&mut *connection).await.unwrap();
            let name = if matches!(call, Release) { "r" } else { "in vain" };
            let error = super::called(&mut tx, call, &by(1, name), &lines).await.unwrap_err();
            assert!(
                matches!(&error, StockError::Fault(error) if error.kind() == ErrorKind::RestartTransaction),
                "{call:?}: {error:?}"
            );
            let _ = tx.commit().await;
        }
    }
    drop(connection);
    holder.rollback().await;
    assert_eq!(
        (db.entries().await, db.stock("cup").await.as_str(), db.stock("tea").await.as_str()),
        (4, "2 2", "2 2")
    );
    db.agrees().await;
}
