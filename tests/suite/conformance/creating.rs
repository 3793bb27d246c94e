//! New rows: the unique key decides, and every clash has a name.

use super::lifecycles::{Order, OrderRow, Orders as _, noon, row};
use crate::db::{Db, Fixture};
use onward::{Clash, ErrorKind, Outcome};

on_every_database![
    creating_twice_gives_one_row,
    other_content_is_a_conflict,
    a_clash_on_another_column_is_named,
    an_undeclared_index_is_an_error,
    what_does_not_fit_is_an_error,
    many_create_one_row,
];

async fn creating_twice_gives_one_row<B: Db>(db: Fixture<B>) {
    db.orders(0).await;
    let created = Order::create(row(1)).apply(&db.pool).await.unwrap().applied().unwrap();
    assert_eq!((created.version(), created.order_no.as_str()), (0, "N-1"));
    db.paid(1, "T-1").await;
    let again = Order::create(row(1)).apply(&db.pool).await.unwrap();
    let Outcome::Duplicate(found) = again else { panic!("{again:?}") };
    assert_eq!(found.version(), 1);
    let mut tx = onward::begin(&db.pool).await.unwrap();
    let again = Order::create(row(1)).apply_in(&mut tx).await.unwrap();
    assert!(matches!(again, Outcome::Duplicate(_)));
    tx.commit().await.unwrap();
}

async fn other_content_is_a_conflict<B: Db>(db: Fixture<B>) {
    db.orders(1).await;
    let dearer = || OrderRow { amount_cents: 900, ..row(1) };
    let by_amount =
        |there: &super::lifecycles::AnyOrder, new: &OrderRow| there.amount_cents == new.amount_cents;
    let outcome = Order::create(dearer()).same(by_amount).apply(&db.pool).await.unwrap();
    let Outcome::Conflict(conflict) = outcome else { panic!("{outcome:?}") };
    assert_eq!((conflict.clash, conflict.found.amount_cents), (Clash::OtherContent, 500));
    let outcome = Order::create(row(1)).same(by_amount).apply(&db.pool).await.unwrap();
    assert!(matches!(outcome, Outcome::Duplicate(_)));
    let outcome = Order::create(dearer()).apply(&db.pool).await.unwrap();
    assert!(matches!(outcome, Outcome::Duplicate(_)));
}

async fn a_clash_on_another_column_is_named<B: Db>(db: Fixture<B>) {
    db.orders(1).await;
    let outcome = Order::create(OrderRow { order_no: "N-1".into(), ..row(2) }).apply(&db.pool).await.unwrap();
    let Outcome::Conflict(conflict) = outcome else { panic!("{outcome:?}") };
    assert_eq!((conflict.clash, conflict.holder), (Clash::UniqueTaken(Some("order_no")), Some(1)));
    assert_eq!(conflict.found.id, 1);
    assert_eq!(db.number("SELECT COUNT(*) FROM orders").await, 1);
}

async fn an_undeclared_index_is_an_error<B: Db>(db: Fixture<B>) {
    db.orders(2).await;
    db.run("CREATE UNIQUE INDEX one_note ON orders (note)").await;
    let noted = |id| OrderRow { note: Some("gift".into()), ..row(id) };
    let _ = Order::create(noted(3)).apply(&db.pool).await.unwrap().applied().unwrap();
    let error = Order::create(noted(4)).apply(&db.pool).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UniqueTaken);
    // A step that an undeclared index refuses.
    db.run("CREATE UNIQUE INDEX one_parcel ON orders (tracking_no)").await;
    let (one, two) = (db.paid(1, "T-1").await, db.paid(2, "T-2").await);
    one.ship("parcel".into()).apply(&db.pool).await.unwrap().applied().unwrap();
    let outcome = two.ship("parcel".into()).apply(&db.pool).await.unwrap();
    let Outcome::Conflict(conflict) = outcome else { panic!("{outcome:?}") };
    assert_eq!((conflict.clash, conflict.holder), (Clash::UniqueTaken(None), None));
    assert_eq!(db.state(2).await, "paid:1");
}

async fn what_does_not_fit_is_an_error<B: Db>(db: Fixture<B>) {
    db.orders(1).await;
    db.run(match B::ENGINE {
        "sqlite" => "CREATE TRIGGER long BEFORE INSERT ON orders WHEN length(NEW.note) > 64 BEGIN SELECT RAISE(ABORT, 'too long'); END",
        _ => "SELECT 1",
    })
    .await;
    let long = OrderRow { note: Some("x".repeat(65)), ..row(2) };
    assert_eq!(Order::create(long).apply(&db.pool).await.unwrap_err().kind(), ErrorKind::Database);
    assert_eq!(db.number("SELECT COUNT(*) FROM orders").await, 1);
    if B::ENGINE != "sqlite" {
        // SQLite does not limit the length of a text by its column's type.
        let error = db.pending(1).await.pay("x".repeat(65), noon()).apply(&db.pool).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Database);
    }
    assert_eq!(db.state(1).await, "pending:0");
}

async fn many_create_one_row<B: Db>(db: Fixture<B>) {
    db.orders(0).await;
    let mut tasks = Vec::new();
    for _ in 0..20 {
        let pool = db.pool.clone();
        tasks.push(tokio::spawn(async move { Order::create(row(1)).apply(&pool).await.unwrap() }));
    }
    let mut applied = 0;
    for task in tasks {
        match task.await.unwrap() {
            Outcome::Applied(_) => applied += 1,
            Outcome::Duplicate(found) => assert_eq!(found.id, 1),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((applied, db.number("SELECT COUNT(*) FROM orders").await), (1, 1));
}
