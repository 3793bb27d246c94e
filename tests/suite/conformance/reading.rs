//! Loading, finding, locking, listing, and rows that cannot be read.

use super::lifecycles::{
    AnyOrder, Cancelled, Order, OrderStatus, Orders as _, Paid, Pending, Shipped, noon, row,
};
use crate::db::{Db, Fixture};
use onward::{Error, ErrorKind, Page};

on_every_database![
    events_out_of_order_are_told_apart,
    a_webhook_before_the_orders_commit_finds_nothing,
    a_row_with_a_null_version_is_an_error_with_names,
    a_row_that_this_build_cannot_read_hides_no_other,
    a_lock_serialises,
    a_lock_wants_a_transaction,
    rows_of_ones_own_selects,
    the_clock_of_the_database_is_utc,
    the_losers_read_is_on_the_writer,
    handles_serialize_and_show_no_facts,
];

async fn events_out_of_order_are_told_apart<B: Db>(db: Fixture<B>) {
    db.orders(2).await;
    let kind = |result: Result<Order<Paid>, Error>| result.unwrap_err().kind();
    assert_eq!(kind(Order::load(&db.pool, 1).await), ErrorKind::Behind);
    db.shipped(1, "T-1").await;
    assert_eq!(kind(Order::load(&db.pool, 1).await), ErrorKind::Past);
    db.pending(2).await.cancel().apply(&db.pool).await.unwrap().applied().unwrap();
    assert_eq!(kind(Order::load(&db.pool, 2).await), ErrorKind::Aside);
    assert_eq!(kind(Order::load(&db.pool, 3).await), ErrorKind::NotFound);
    let error = Order::<Paid>::load(&db.pool, 2).await.unwrap_err();
    assert_eq!((error.table(), error.row_key()), ("orders", Some("2")));
}

async fn a_webhook_before_the_orders_commit_finds_nothing<B: Db>(db: Fixture<B>) {
    db.orders(0).await;
    let mut tx = onward::begin(&db.pool).await.unwrap();
    Order::create(row(1)).apply_in(&mut tx).await.unwrap().applied().unwrap().committed();
    assert!(AnyOrder::find(&db.pool, 1).await.unwrap().is_none());
    assert_eq!(Order::<Pending>::load(&db.pool, 1).await.unwrap_err().kind(), ErrorKind::NotFound);
    tx.commit().await.unwrap();
    db.any(1).await.pay("T-1".into(), noon()).apply(&db.pool).await.unwrap().applied().unwrap();
}

async fn a_row_with_a_null_version_is_an_error_with_names<B: Db>(db: Fixture<B>) {
    db.orders(0).await;
    // A legacy table, whose version may be null.
    let legacy =
        super::lifecycles::ORDERS.split(';').next().unwrap().replace("INT NOT NULL DEFAULT 0", "INT");
    db.run("DROP TABLE orders").await;
    db.run(&legacy).await;
    db.run(
        "INSERT INTO orders (id, order_no, cust_no, amount_cents, state) VALUES (1, 'A', 7, 500, 'pending')",
    )
    .await;
    let error = AnyOrder::find(&db.pool, 1).await.unwrap_err();
    assert_eq!((error.kind(), error.row_key()), (ErrorKind::Unreadable, Some("1")));
    let text = error.to_string();
    assert!(text.contains("orders") && text.contains("lock_version") && text.contains("NULL"), "{text}");
}

async fn a_row_that_this_build_cannot_read_hides_no_other<B: Db>(db: Fixture<B>) {
    db.orders(6).await;
    for id in 1..=5 {
        db.paid(id, &format!("T-{id}")).await;
    }
    db.run("UPDATE orders SET paid_at = NULL WHERE id = 2").await;
    db.run("UPDATE orders SET state = 'dreaming' WHERE id = 6").await;
    let error = AnyOrder::find(&db.pool, 6).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unreadable);
    let text = error.to_string();
    assert!(["orders", "6", "state", "dreaming"].iter().all(|word| text.contains(word)), "{text}");

    let mut seen = Vec::new();
    let mut after = None;
    loop {
        let page: Page<Order<Paid>, i64> = Order::list(&db.pool, after, 2).await.unwrap();
        for row in page.rows {
            seen.push(
                row.map(|order| order.id).map_err(|error| (error.kind(), error.row_key().map(str::to_owned))),
            );
        }
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    let unreadable = Err((ErrorKind::Unreadable, Some("2".to_owned())));
    assert_eq!(seen, [Ok(1), unreadable, Ok(3), Ok(4), Ok(5)]);
    assert_eq!(db.text("SELECT state FROM orders WHERE id = 6").await, "dreaming");
    assert!(Order::<Cancelled>::list(&db.pool, None, 5).await.unwrap().rows.is_empty());
}

async fn a_lock_serialises<B: Db>(db: Fixture<B>) {
    db.orders(1).await;
    let mut tx = onward::begin(&db.pool).await.unwrap();
    let order = AnyOrder::lock(&mut tx, 1).await.unwrap().unwrap();
    let (pool, other) = (db.pool.clone(), db.pending(1).await);
    let waiting = tokio::spawn(async move { other.cancel().apply(&pool).await.unwrap() });
    tokio::time::sleep(std::time::Duration::from_millis(150)).await;
    assert!(!waiting.is_finished());
    let paid = order.pay("T-1".into(), noon()).apply_in(&mut tx).await.unwrap().applied().unwrap();
    tx.commit().await.unwrap();
    assert_eq!(paid.committed().version(), 1);
    assert_eq!(waiting.await.unwrap().answer(), onward::Answer::Escalate);
    assert_eq!(db.state(1).await, "paid:1");
}

async fn a_lock_wants_a_transaction<B: Db>(db: Fixture<B>) {
    db.orders(1).await;
    let mut connection = db.pool.acquire().await.unwrap();
    let error = AnyOrder::lock(&mut connection, 1).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotInTransaction);
}

async fn rows_of_ones_own_selects<B: Db>(db: Fixture<B>) {
    db.orders(1).await;
    db.shipped(1, "T-1").await;
    let columns = AnyOrder::columns::<B>("o");
    let sql =
        format!("SELECT s.available, {columns} FROM stock s CROSS JOIN orders o WHERE o.order_no = 'N-1'");
    let mut connection = db.pool.acquire().await.unwrap();
    let rows = B::fetch(&mut connection, Box::leak(sql.into_boxed_str()), Default::default()).await.unwrap();
    let any = <AnyOrder as sqlx::FromRow<B::Row>>::from_row(&rows[0]).unwrap();
    let AnyOrder::Shipped(order) = any else { panic!("{any:?}") };
    assert_eq!((order.version(), order.trade_no.as_str(), order.order_no.as_str()), (2, "T-1", "N-1"));
    assert_eq!(AnyOrder::COLUMNS.len(), columns.split(", ").count());

    // The same name twice would make one row of two.
    let sql = format!("SELECT 7 AS id, {} FROM orders o", AnyOrder::columns::<B>("o"));
    let rows = B::fetch(&mut connection, Box::leak(sql.into_boxed_str()), Default::default()).await.unwrap();
    let error = <AnyOrder as sqlx::FromRow<B::Row>>::from_row(&rows[0]).unwrap_err();
    assert!(error.to_string().contains("`id` is there twice"), "{error}");
}

async fn the_clock_of_the_database_is_utc<B: Db>(db: Fixture<B>) {
    db.orders(1).await;
    let before = chrono::Utc::now() - chrono::TimeDelta::seconds(5);
    db.paid(1, "T-1").await;
    let mut connection = db.pool.acquire().await.unwrap();
    let sql = "SELECT modified_at, paid_at FROM orders";
    let row = &B::fetch(&mut connection, sql, Default::default()).await.unwrap()[0];
    type Time = chrono::DateTime<chrono::Utc>;
    let modified = <B as onward::Supports<Time>>::get(row, 0).unwrap().unwrap();
    let paid_at = <B as onward::Supports<Time>>::get(row, 1).unwrap().unwrap();
    assert!(modified > before && modified < before + chrono::TimeDelta::seconds(30), "{modified} {before}");
    assert_eq!(paid_at, noon());
}

async fn the_losers_read_is_on_the_writer<B: Db>(db: Fixture<B>) {
    // The reader is another database that has not heard of the payment yet.
    let reader = db.another(2).await;
    reader.orders(1).await;
    db.orders(1).await;
    db.paid(1, "T-1").await;
    let stale: Order<Pending> = Order::load(&reader.pool, 1).await.unwrap();
    let outcome = stale.pay("T-1".into(), noon()).apply(&db.pool).await.unwrap();
    assert!(matches!(&outcome, onward::Outcome::Duplicate(found) if found.version() == 1), "{outcome:?}");
}

async fn handles_serialize_and_show_no_facts<B: Db>(db: Fixture<B>) {
    db.orders(1).await;
    let shipped: Order<Shipped> = db.shipped(1, "T-1").await;
    let json = serde_json::to_value(&shipped).unwrap();
    assert_eq!(
        json,
        serde_json::json!({
            "status": "shipped", "version": 2, "id": 1, "order_no": "N-1", "customer_id": 7, "amount_cents": 500,
            "note": null, "trade_no": "T-1", "paid_at": "2026-03-01T12:00:00Z", "tracking_no": "parcel-1",
        })
    );
    let shown = format!("{shipped:?} {:?}", db.any(1).await);
    assert!(shown.contains("shipped") && !shown.contains("T-1") && !shown.contains("500"), "{shown}");
    assert_eq!(shipped.status(), OrderStatus::Shipped);
    assert_eq!("shipped".parse::<OrderStatus>().unwrap(), OrderStatus::Shipped);
    assert_eq!(serde_json::from_str::<OrderStatus>("\"paid\"").unwrap(), OrderStatus::Paid);
    assert!(serde_json::from_str::<OrderStatus>("\"lost\"").unwrap_err().to_string().contains("`pending`"));
}
