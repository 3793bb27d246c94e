//! Names of the user's own, of tables, columns, articles and orders.

use super::{STOCK, by, told};
use crate::{
    db::{Db, Fixture},
    lifecycles::{Order, Orders as _, noon, parcels},
};
use onward::stock::{Line, Operation, Stock, StockError};

on_every_database![
    names_that_need_quotes,
    integer_articles,
    a_ledger_of_another_name,
    two_lifecycles_and_one_stock,
    two_stocks_and_one_ledger,
    names_are_told_apart_byte_by_byte,
];

async fn names_that_need_quotes<B: Db>(db: Fixture<B>) {
    static ODD: Stock = Stock::new("the order?")
        .article("a\"b")
        .available("on `hand` {now}")
        .reserved("select")
        .ledger("my ledger");
    let quoted = |name: &str| match B::ENGINE {
        "postgres" => format!("\"{}\"", name.replace('"', "\"\"")),
        _ => format!("`{}`", name.replace('`', "``")),
    };
    let [table, article, available, reserved] =
        ["the order?", "a\"b", "on `hand` {now}", "select"].map(quoted);
    db.run(&format!(
        "CREATE TABLE {table} ({article} VARCHAR(32) PRIMARY KEY, {available} BIGINT NOT NULL, {reserved} BIGINT NOT NULL);
        INSERT INTO {table} VALUES ('it''s ?', 5, 0)"
    ))
    .await;
    db.run(&ODD.ledger_table::<B>()).await;
    db.run(&ODD.ledger_table::<B>()).await;
    let lines = [Line::new("it's ?", 2)];
    let mut tx = onward::begin(&db.pool).await.unwrap();
    assert_eq!(told(ODD.reserve(&mut tx, &by(1, "r"), &lines).await), [1, 0, 0]);
    assert_eq!(told(ODD.confirm(&mut tx, &by(1, "r"), &lines).await), [1, 0, 0]);
    assert_eq!(told(ODD.restore(&mut tx, &by(1, "r"), &lines).await), [1, 0, 0]);
    assert_eq!(told(ODD.deduct(&mut tx, &by(1, "r"), &lines).await), [1, 0, 0]);
    let short = ODD.reserve(&mut tx, &by(2, "r"), &[Line::new("it's ?", 4)]).await.unwrap_err();
    assert!(matches!(short, StockError::Shortage { available: 3, .. }), "{short:?}");
    assert_eq!(told(ODD.reserve(&mut tx, &by(3, "r"), &lines).await), [1, 0, 0]);
    assert_eq!(told(ODD.release(&mut tx, &by(3, "r"), &lines).await), [1, 0, 0]);
    tx.commit().await.unwrap();
    assert_eq!(db.number(&format!("SELECT {available} FROM {table}")).await, 3);
    assert_eq!(db.number(&format!("SELECT COUNT(*) FROM {}", quoted("my ledger"))).await, 6);
}

/// Smaller integer types do, as far as they go; so does a stock without reservations.
async fn integer_articles<B: Db>(db: Fixture<B>) {
    static PARTS: Stock = Stock::new("parts").article("no").available("there");
    db.goods(0).await;
    db.run("CREATE TABLE parts (no INT PRIMARY KEY, there INT NOT NULL); INSERT INTO parts VALUES (7, 5)")
        .await;
    let mut tx = onward::begin(&db.pool).await.unwrap();
    assert_eq!(told(PARTS.deduct(&mut tx, &by(1, "p"), &[Line::new(7, 2)]).await), [1, 0, 0]);
    assert_eq!(told(PARTS.restore(&mut tx, &by(1, "p"), &[Line::new(7_i64, 1)]).await), [1, 0, 0]);
    let short =
        PARTS.deduct(&mut tx, &by(2, "p"), &[Line::new(7, i64::from(i32::MAX) + 1)]).await.unwrap_err();
    assert!(matches!(short, StockError::Shortage { available: 4, .. }), "{short:?}");
    let unknown = PARTS.deduct(&mut tx, &by(2, "p"), &[Line::new(8, 1)]).await.unwrap_err();
    assert!(matches!(unknown, StockError::UnknownArticle { .. }), "{unknown:?}");
    tx.commit().await.unwrap();
    assert_eq!(db.number("SELECT COUNT(*) FROM parts WHERE there = 4").await, 1);
}

async fn a_ledger_of_another_name<B: Db>(db: Fixture<B>) {
    static OWN: Stock = Stock::new("goods").ledger("own_ledger");
    db.goods(0).await;
    db.run(&OWN.ledger_table::<B>()).await;
    let mut tx = onward::begin(&db.pool).await.unwrap();
    assert_eq!(told(OWN.deduct(&mut tx, &by(1, "p"), &[Line::new("tea", 2)]).await), [1, 0, 0]);
    tx.commit().await.unwrap();
    assert_eq!(db.number("SELECT COUNT(*) FROM own_ledger").await, 1);
    assert_eq!(db.entries().await, 0);
}

/// Rows with the same key, in the same state of affairs: each takes its own.
async fn two_lifecycles_and_one_stock<B: Db>(db: Fixture<B>) {
    use parcels::{AnyParcel, PARCELS, Parcel, ParcelRow};
    db.goods(1).await;
    db.tables::<AnyParcel>(PARCELS).await;
    let lines = [Line::new("tea", 1)];
    let mut tx = onward::begin(&db.pool).await.unwrap();
    for tenant_id in [1, 2] {
        let row = ParcelRow { code: format!("{tenant_id}"), tenant_id, r#type: None };
        let parcel = Parcel::create(row).apply_in(&mut tx).await.unwrap().applied().unwrap();
        assert_eq!(told(STOCK.deduct(&mut tx, &Operation::of(&*parcel), &lines).await), [1, 0, 0]);
    }
    let order: Order<_> = db_pending(&mut tx).await;
    let paid = order.pay("T-1".into(), noon()).apply_in(&mut tx).await.unwrap().applied().unwrap();
    assert_eq!(
        told(STOCK.deduct(&mut tx, &Operation::of(&*paid).named("version 0"), &lines).await),
        [1, 0, 0]
    );
    assert_eq!(told(STOCK.deduct(&mut tx, &by(1, "version 0"), &lines).await), [1, 0, 0]);
    tx.commit().await.unwrap();
    assert_eq!(db.stock("tea").await, "1 0");
    assert_eq!(
        db.number("SELECT COUNT(*) FROM onward_stock_ledger WHERE source = 'parcels' AND order_key IN ('1,1', '2,2')").await,
        2
    );
    db.agrees().await;
}

async fn db_pending<S: onward::Session>(tx: &mut S) -> Order<crate::lifecycles::Pending> {
    Order::load(tx, 1).await.unwrap()
}

async fn two_stocks_and_one_ledger<B: Db>(db: Fixture<B>) {
    static SECOND: Stock = Stock::new("second_goods");
    db.goods(0).await;
    db.run(
        "CREATE TABLE second_goods (article VARCHAR(32) PRIMARY KEY, available BIGINT NOT NULL);
        INSERT INTO second_goods VALUES ('tea', 5)",
    )
    .await;
    let mut tx = onward::begin(&db.pool).await.unwrap();
    for stock in [&STOCK, &SECOND] {
        assert_eq!(told(stock.deduct(&mut tx, &by(1, "p"), &[Line::new("tea", 2)]).await), [1, 0, 0]);
    }
    tx.commit().await.unwrap();
    assert_eq!(db.number("SELECT available FROM second_goods").await, 3);
}

async fn names_are_told_apart_byte_by_byte<B: Db>(db: Fixture<B>) {
    db.goods(0).await;
    db.run("UPDATE goods SET available = 100").await;
    let mut tx = onward::begin(&db.pool).await.unwrap();
    for name in ["p", "P", "p ", "ṗ", ""] {
        let one = Line::new("tea", 1);
        let done = STOCK.deduct(&mut tx, &by(1, name), std::slice::from_ref(&one)).await;
        assert_eq!(told(done), [1, 0, 0], "{name}");
        let done =
            STOCK.deduct(&mut tx, &Operation::new("other", name, "p"), std::slice::from_ref(&one)).await;
        assert_eq!(told(done), [1, 0, 0], "{name}");
        let done = STOCK.deduct(&mut tx, &by(2, "p"), &[one.named(name)]).await;
        assert_eq!(told(done), [1, 0, 0], "{name}");
    }
    tx.commit().await.unwrap();
    assert_eq!(db.stock("tea").await, "85 0");
}
