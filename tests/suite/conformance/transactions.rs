//! More work in the same transaction: all of it or nothing, and no handle before the commit.

use super::lifecycles::{AnyOrder, Order, Orders as _, Paid, Pending, noon};
use crate::db::{Db, Fixture};
use onward::{BoxError, Clash, Error, ErrorKind, Outcome, Outcome::Applied, Policy, Uncommitted};

on_every_database![
    two_buyers_of_one_unit,
    work_that_fails_leaves_nothing,
    a_rollback_gives_the_handle_back,
    dropping_what_was_won_rolls_back,
    a_step_in_a_transaction_that_is_rolled_back_gives_no_handle,
    several_steps_in_one_transaction,
    an_expected_unique_violation_does_not_kill_the_callers_transaction,
    a_swallowed_failure_does_not_commit_half,
    nested_transactions_of_the_work,
    a_transaction_that_is_safe_to_drop,
    everything_runs_in_spawned_tasks_and_generic_code,
    a_single_connection_is_enough,
    losing_starts_no_work,
    a_connection_inside_a_transaction_is_turned_away,
    a_connection_outside_of_one_is_turned_away,
    a_nested_transaction_left_open_commits_nothing,
    work_that_commits_by_itself_is_told,
    a_key_that_is_not_unique,
];

#[derive(Debug, thiserror::Error)]
#[error("sold out")]
struct SoldOut;

/// Takes one piece, if there is one.
async fn deduct<B: Db>(tx: &mut B::Connection) -> Result<(), BoxError> {
    match B::run(tx, "UPDATE stock SET available = available - 1 WHERE available >= 1").await? {
        1 => Ok(()),
        _ => Err(SoldOut.into()),
    }
}

async fn two_buyers_of_one_unit<B: Db>(db: Fixture<B>) {
    db.orders(2).await;
    db.run("UPDATE stock SET available = 1").await;
    let mut tasks = Vec::new();
    for id in [1, 2] {
        let (pool, order) = (db.pool.clone(), db.pending(id).await);
        tasks.push(tokio::spawn(async move {
            let attempt = order.pay(format!("T-{id}"), noon());
            attempt.apply_with(&pool, async move |tx, _| deduct::<B>(tx).await).await
        }));
    }
    let mut loser = None;
    for (id, task) in [1, 2].into_iter().zip(tasks) {
        match task.await.unwrap() {
            Ok(outcome) => drop(outcome.applied().unwrap()),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Effect);
                assert!(error.effect::<SoldOut>().is_some());
                assert_eq!(loser.replace(id), None);
            }
        }
    }
    assert_eq!(db.number("SELECT available FROM stock").await, 0);
    let loser = loser.unwrap();
    assert_eq!(db.state(loser).await, "pending:0");
    db.pending(loser).await.cancel().apply(&db.pool).await.unwrap().applied().unwrap();
}

async fn work_that_fails_leaves_nothing<B: Db>(db: Fixture<B>) {
    db.orders(1).await;
    let attempt = db.pending(1).await.pay("T-1".into(), noon());
    let work = async move |tx: &mut B::Connection, paid: &Order<Paid>| -> Result<(), SoldOut> {
        assert_eq!((paid.trade_no.as_str(), paid.version()), ("T-1", 1));
        B::run(tx, "INSERT INTO effects VALUES (1, 'mail')").await.unwrap();
        Err(SoldOut)
    };
    let error = attempt.apply_with(&db.pool, work).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.transition(), error.row_key()),
        (ErrorKind::Effect, Some("pay"), Some("1"))
    );
    assert!(error.effect::<SoldOut>().is_some());
    assert_eq!(db.state(1).await, "pending:0");
    assert_eq!(db.number("SELECT COUNT(*) FROM effects").await, 0);
}

async fn a_rollback_gives_the_handle_back<B: Db>(db: Fixture<B>) {
    db.orders(1).await;
    let Applied(mut won) = db.pending(1).await.pay("T-1".into(), noon()).begin(&db.pool).await.unwrap()
    else {
        panic!()
    };
    let (tx, paid) = won.parts();
    assert_eq!(paid.trade_no, "T-1");
    B::run(tx, "INSERT INTO effects VALUES (1, 'mail')").await.unwrap();
    let back: Order<Pending> = won.rollback().await.unwrap();
    assert_eq!((db.state(1).await.as_str(), back.version()), ("pending:0", 0));
    assert_eq!(db.number("SELECT COUNT(*) FROM effects").await, 0);

    let Applied(mut won) = back.pay("T-1".into(), noon()).begin(&db.pool).await.unwrap() else { panic!() };
    B::run(won.parts().0, "INSERT INTO effects VALUES (1, 'mail')").await.unwrap();
    let paid: Order<Paid> = won.commit().await.unwrap();
    assert_eq!((db.state(1).await.as_str(), paid.version()), ("paid:1", 1));
    assert_eq!(db.number("SELECT COUNT(*) FROM effects").await, 1);
}

async fn dropping_what_was_won_rolls_back<B: Db>(db: Fixture<B>) {
    db.orders(1).await;
    for _ in 0..12 {
        // More often than the pool has connections: none of them is lost.
        let attempt = db.pending(1).await.pay("T-1".into(), noon());
        let Applied(mut won) = attempt.begin(&db.pool).await.unwrap() else { panic!() };
        B::run(won.parts().0, "INSERT INTO effects VALUES (1, 'mail')").await.unwrap();
        drop(won);
    }
    let paid = db.paid(1, "T-1").await;
    assert_eq!(paid.version(), 1);
    assert_eq!(db.number("SELECT COUNT(*) FROM effects").await, 0);
}

async fn a_step_in_a_transaction_that_is_rolled_back_gives_no_handle<B: Db>(db: Fixture<B>) {
    db.orders(1).await;
    let mut tx = onward::begin(&db.pool).await.unwrap();
    let outcome = db.pending(1).await.pay("T-1".into(), noon()).apply_in(&mut tx).await.unwrap();
    // The type says so: nothing but an explicit call makes a handle of it.
    let paid: Uncommitted<Order<Paid>> = outcome.applied().unwrap();
    assert_eq!((paid.trade_no.as_str(), paid.id), ("T-1", 1));
    tx.rollback().await;
    assert_eq!(db.state(1).await, "pending:0");
}

async fn several_steps_in_one_transaction<B: Db>(db: Fixture<B>) {
    db.orders(1).await;
    let mut tx = db.pool.begin().await.unwrap();
    let any = AnyOrder::find(&mut tx, 1).await.unwrap().unwrap();
    let paid = any.pay("T-1".into(), noon()).apply_in(&mut tx).await.unwrap().applied().unwrap();
    let shipped = paid.then_in(&mut tx, |paid| paid.ship("parcel".into())).await.unwrap().applied().unwrap();
    assert_eq!((shipped.trade_no.as_str(), shipped.tracking_no.as_str()), ("T-1", "parcel"));
    tx.commit().await.unwrap();
    let shipped = shipped.committed();
    assert_eq!((shipped.version(), db.state(1).await.as_str()), (2, "shipped:2"));
}

async fn an_expected_unique_violation_does_not_kill_the_callers_transaction<B: Db>(db: Fixture<B>) {
    db.orders(3).await;
    db.paid(1, "T-1").await;
    let two = db.pending(2).await;
    let mut tx = onward::begin(&db.pool).await.unwrap();
    B::run(&mut tx, "INSERT INTO effects VALUES (2, 'before')").await.unwrap();
    let outcome = two.pay("T-1".into(), noon()).apply_in(&mut tx).await.unwrap();
    let Outcome::Conflict(conflict) = outcome else { panic!("{outcome:?}") };
    assert_eq!((conflict.clash, conflict.holder, conflict.found.id), (Clash::CauseTaken, Some(1), 2));
    let row = super::lifecycles::OrderRow { order_no: "N-3".into(), ..super::lifecycles::row(4) };
    let outcome = Order::create(row).apply_in(&mut tx).await.unwrap();
    assert!(matches!(outcome, Outcome::Conflict(c) if c.clash == Clash::UniqueTaken(Some("order_no"))));
    B::run(&mut tx, "INSERT INTO effects VALUES (2, 'after')").await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(db.number("SELECT COUNT(*) FROM effects").await, 2);
    assert_eq!(db.state(2).await, "pending:0");
}

async fn a_swallowed_failure_does_not_commit_half<B: Db>(db: Fixture<B>) {
    db.orders(2).await;
    // What ends a transaction behind the back of who runs it: an error on PostgreSQL, a trigger on SQLite, DDL on MariaDB.
    let ends = match B::ENGINE {
        "postgres" => "SELECT no_such_column FROM orders",
        "sqlite" => {
            db.run("CREATE TRIGGER ends BEFORE DELETE ON stock BEGIN SELECT RAISE(ROLLBACK, 'no'); END")
                .await;
            "DELETE FROM stock"
        }
        _ => "CREATE TABLE late (id INT)",
    };
    let work = async move |tx: &mut B::Connection, _: &_| -> Result<(), BoxError> {
        let _ = B::run(tx, ends).await;
        let _ = B::run(tx, "UPDATE stock SET available = available - 1").await;
        Ok(())
    };
    let error = db.pending(1).await.pay("T-1".into(), noon()).apply_with(&db.pool, work).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TransactionLost, "{error:?}");
    assert_eq!(db.number("SELECT available FROM stock").await, 5);
    // DDL on MariaDB commits what ran before it, and the error says so; elsewhere nothing was kept.
    let left = if B::ENGINE == "mariadb" { "paid:1" } else { "pending:0" };
    assert_eq!(db.state(1).await, left);
    assert!(error.to_string().contains("DDL"), "{error}");

    // The same with the guard form, and the pool is as good as before.
    db.run(if B::ENGINE == "mariadb" { "DROP TABLE late" } else { "SELECT 1" }).await;
    let Applied(mut won) = db.pending(2).await.pay("T-2".into(), noon()).begin(&db.pool).await.unwrap()
    else {
        panic!()
    };
    let _ = B::run(won.parts().0, ends).await;
    let _ = B::run(won.parts().0, "UPDATE stock SET available = available - 1").await;
    assert_eq!(won.commit().await.unwrap_err().kind(), ErrorKind::TransactionLost);
    assert_eq!(db.number("SELECT available FROM stock").await, 5);
    for _ in 0..12 {
        let tx = onward::begin(&db.pool).await.unwrap();
        tx.commit().await.unwrap();
    }
}

async fn nested_transactions_of_the_work<B: Db>(db: Fixture<B>) {
    use sqlx::Connection as _;
    db.orders(1).await;
    let work = async move |tx: &mut B::Connection, _: &_| -> Result<(), sqlx::Error> {
        let mut kept = tx.begin().await?;
        B::run(&mut kept, "INSERT INTO effects VALUES (1, 'kept')").await?;
        kept.commit().await?;
        let mut undone = tx.begin().await?;
        B::run(&mut undone, "INSERT INTO effects VALUES (1, 'undone')").await?;
        undone.rollback().await
    };
    let outcome = db.pending(1).await.pay("T-1".into(), noon()).apply_with(&db.pool, work).await.unwrap();
    outcome.applied().unwrap();
    assert_eq!(db.text("SELECT what FROM effects").await, "kept");
    assert_eq!(db.number("SELECT COUNT(*) FROM effects").await, 1);
}

async fn a_transaction_that_is_safe_to_drop<B: Db>(db: Fixture<B>) {
    db.orders(1).await;
    for _ in 0..12 {
        let mut tx = onward::begin(&db.pool).await.unwrap();
        B::run(&mut tx, "INSERT INTO effects VALUES (1, 'mail')").await.unwrap();
        drop(tx);
        let _ = tokio::time::timeout(std::time::Duration::from_micros(200), onward::begin(&db.pool)).await;
    }
    let mut tx = onward::begin(&db.pool).await.unwrap();
    B::run(&mut tx, "INSERT INTO effects VALUES (1, 'mail')").await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(db.number("SELECT COUNT(*) FROM effects").await, 1);
    // An autocommit write on any of the connections is seen by all others.
    for n in 2..=12 {
        db.run("INSERT INTO effects VALUES (1, 'mail')").await;
        assert_eq!(db.number("SELECT COUNT(*) FROM effects").await, n);
    }
}

async fn everything_runs_in_spawned_tasks_and_generic_code<B: Db>(db: Fixture<B>) {
    async fn pay<B: onward::Backend>(pool: &sqlx::Pool<B>, id: i64) -> Result<Outcome<Order<Paid>>, Error> {
        let order: Order<Pending> = Order::load(pool, id).await?;
        order.pay(format!("T-{id}"), noon()).policy(Policy::retry(3)).check(|o| o.id == id).apply(pool).await
    }
    async fn pay_with<B: onward::Backend>(pool: &sqlx::Pool<B>, id: i64) -> Result<Order<Paid>, Error> {
        let Some(any) = AnyOrder::find(pool, id).await? else { panic!() };
        let work = async move |_: &mut B::Connection, _: &_| Ok::<(), Error>(());
        any.pay(format!("T-{id}"), noon()).apply_with(pool, work).await?.applied()
    }
    async fn pay_in<B: onward::Backend>(
        c: &mut B::Connection,
        id: i64,
    ) -> Result<Uncommitted<Order<Paid>>, Error> {
        let Some(any) = AnyOrder::lock(c, id).await? else { panic!() };
        any.pay(format!("T-{id}"), noon()).apply_in(c).await?.applied()
    }
    async fn begun<B: onward::Backend>(pool: &sqlx::Pool<B>, id: i64) -> Result<Order<Paid>, Error> {
        let order: Order<Pending> = Order::load(pool, id).await?;
        let Applied(won) = order.pay(format!("T-{id}"), noon()).begin(pool).await? else { panic!() };
        won.commit().await
    }
    async fn held<B: onward::Backend>(
        c: &mut sqlx::pool::PoolConnection<B>,
        id: i64,
    ) -> Result<Order<Paid>, Error> {
        let order: Order<Pending> = Order::load(&mut *c, id).await?;
        order.pay(format!("T-{id}"), noon()).apply(c).await?.applied()
    }
    fn spawn<B: onward::Backend>(pool: sqlx::Pool<B>) -> tokio::task::JoinHandle<Result<(), Error>> {
        tokio::spawn(async move {
            let _ = pay(&pool, 1).await?.applied()?;
            pay_with(&pool, 2).await?;
            let mut tx = onward::begin(&pool).await?;
            let paid = pay_in::<B>(&mut tx, 3).await?;
            tx.commit().await?;
            assert_eq!(paid.committed().version(), 1);
            begun(&pool, 4).await?;
            let page = Order::<Paid>::list(&pool, None, 10).await?;
            assert_eq!(page.rows.len(), 4);
            held(&mut pool.acquire().await.unwrap(), 5).await?;
            Ok(())
        })
    }
    db.orders(5).await;
    spawn(db.pool.clone()).await.unwrap().unwrap();
}

async fn a_single_connection_is_enough<B: Db>(db: Fixture<B>) {
    let db = db.another(1).await;
    db.orders(3).await;
    db.shipped(1, "T-1").await;
    let stale = db.pending(2).await;
    let work = async move |tx: &mut B::Connection, _: &_| deduct::<B>(tx).await;
    db.pending(2)
        .await
        .pay("T-2".into(), noon())
        .apply_with(&db.pool, work)
        .await
        .unwrap()
        .applied()
        .unwrap();
    let outcome = stale.pay("T-2".into(), noon()).apply_with(&db.pool, work).await.unwrap();
    assert!(matches!(outcome, Outcome::Duplicate(_)));
    // A held connection does as well as a pool.
    let order = db.pending(3).await;
    let mut held = db.pool.acquire().await.unwrap();
    let paid = order.pay("T-3".into(), noon()).apply(&mut held).await.unwrap().applied().unwrap();
    let shipped = paid.ship("parcel".into()).apply(&mut held).await.unwrap().applied().unwrap();
    assert_eq!(AnyOrder::find(&mut held, 3).await.unwrap().unwrap().version(), shipped.version());
}

async fn losing_starts_no_work<B: Db>(db: Fixture<B>) {
    db.orders(1).await;
    let stale = db.pending(1).await;
    db.paid(1, "T-1").await;
    let work =
        async move |_: &mut B::Connection, _: &_| -> Result<(), SoldOut> { panic!("the row is not won") };
    let outcome = stale.pay("T-1".into(), noon()).apply_with(&db.pool, work).await.unwrap();
    assert!(matches!(outcome, Outcome::Duplicate(_)));
}

async fn a_connection_inside_a_transaction_is_turned_away<B: Db>(db: Fixture<B>) {
    use sqlx::Connection as _;
    db.orders(1).await;
    let order = db.pending(1).await;
    let mut connection = db.pool.acquire().await.unwrap();
    let tx = connection.begin().await.unwrap();
    // Forgotten rather than dropped, which would roll back.
    std::mem::forget(tx);
    let error = order.pay("T-1".into(), noon()).apply(&mut connection).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InTransaction);
    connection.close().await.unwrap();
    assert_eq!(db.state(1).await, "pending:0");
}

async fn a_connection_outside_of_one_is_turned_away<B: Db>(db: Fixture<B>) {
    db.orders(1).await;
    let order = db.pending(1).await;
    let mut connection = db.pool.acquire().await.unwrap();
    let error = order.pay("T-1".into(), noon()).apply_in(&mut connection).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotInTransaction);
    assert_eq!(db.state(1).await, "pending:0");
}

/// On a pool of one connection, that an attempt is seen by everybody.
async fn the_pool_is_in_order<B: Db>(db: &Fixture<B>, id: i64) {
    db.paid(id, &format!("T-{id}")).await;
    let other = sqlx::Pool::<B>::connect(&db.url).await.unwrap();
    assert_eq!(AnyOrder::find(&other, id).await.unwrap().unwrap().version(), 1);
    other.close().await;
}

async fn a_nested_transaction_left_open_commits_nothing<B: Db>(db: Fixture<B>) {
    use sqlx::Connection as _;
    let db = db.another(1).await;
    db.orders(4).await;
    let forgotten = async move |tx: &mut B::Connection, _: &_| -> Result<(), sqlx::Error> {
        let mut nested = tx.begin().await?;
        B::run(&mut nested, "INSERT INTO effects VALUES (1, 'mail')").await?;
        std::mem::forget(nested);
        Ok(())
    };
    let error =
        db.pending(1).await.pay("T-1".into(), noon()).apply_with(&db.pool, forgotten).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TransactionLost);
    the_pool_is_in_order(&db, 2).await;

    // The same and then dropped.
    let attempt = db.pending(1).await.pay("T-1".into(), noon());
    let Applied(mut won) = attempt.begin(&db.pool).await.unwrap() else { panic!() };
    std::mem::forget(won.parts().0.begin().await.unwrap());
    drop(won);
    the_pool_is_in_order(&db, 3).await;

    // A transaction of sqlx's that could not begin ends ours when it is dropped: what follows must not be kept.
    let swallowed = async move |tx: &mut B::Connection, _: &_| -> Result<(), sqlx::Error> {
        drop(tx.begin_with("BEGIN").await);
        let _ = B::run(tx, "SELECT 1").await;
        let _ = B::run(tx, "INSERT INTO effects VALUES (1, 'mail')").await;
        Err(sqlx::Error::RowNotFound)
    };
    let error =
        db.pending(1).await.pay("T-1".into(), noon()).apply_with(&db.pool, swallowed).await.unwrap_err();
    the_pool_is_in_order(&db, 4).await;
    // PostgreSQL cannot be kept from committing a statement that stands alone; the error says so.
    let (kind, kept) =
        if B::ENGINE == "postgres" { (ErrorKind::TransactionLost, 1) } else { (ErrorKind::Effect, 0) };
    assert_eq!(db.number("SELECT COUNT(*) FROM effects").await, kept, "{error:?}");
    if B::ENGINE != "mariadb" {
        assert_eq!(error.kind(), kind, "{error:?}");
    }
    assert_eq!(db.state(1).await, "pending:0");
}

async fn work_that_commits_by_itself_is_told<B: Db>(db: Fixture<B>) {
    db.orders(2).await;
    let commits = if B::ENGINE == "mariadb" { "CREATE TABLE late (id INT)" } else { "COMMIT" };
    let work = async move |tx: &mut B::Connection, _: &_| -> Result<(), SoldOut> {
        let _ = B::run(tx, commits).await;
        Err(SoldOut)
    };
    let error = db.pending(1).await.pay("T-1".into(), noon()).apply_with(&db.pool, work).await.unwrap_err();
    let attempt = db.pending(2).await.pay("T-2".into(), noon());
    let Applied(mut won) = attempt.begin(&db.pool).await.unwrap() else { panic!() };
    let _ = B::run(won.parts().0, &commits.replace("late", "later")).await;
    let back = won.rollback().await.map_err(|error| error.kind());
    if B::ENGINE == "sqlite" {
        // The fence turns a COMMIT that is not ours into a rollback.
        assert_eq!(error.kind(), ErrorKind::Effect);
        assert_eq!((db.state(1).await.as_str(), db.state(2).await.as_str()), ("pending:0", "pending:0"));
        assert_eq!(back.unwrap().version(), 0);
    } else {
        assert_eq!(
            (error.kind(), back.unwrap_err()),
            (ErrorKind::TransactionLost, ErrorKind::TransactionLost)
        );
        assert!(error.effect::<SoldOut>().is_some(), "{error:?}");
        assert_eq!((db.state(1).await.as_str(), db.state(2).await.as_str()), ("paid:1", "paid:1"));
    }
}

async fn a_key_that_is_not_unique<B: Db>(db: Fixture<B>) {
    db.orders(0).await;
    let loose =
        super::lifecycles::ORDERS.split(';').next().unwrap().replace("PRIMARY KEY", "").replace("UNIQUE", "");
    db.run("DROP TABLE orders").await;
    db.run(&loose).await;
    for _ in 0..2 {
        db.run("INSERT INTO orders (id, order_no, cust_no, amount_cents, state) VALUES (1, 'A', 7, 500, 'pending')").await;
    }
    let (one, two) = (db.pending(1).await, db.pending(1).await);
    let work = async move |_: &mut B::Connection, _: &_| Ok::<(), SoldOut>(());
    let error = one.pay("T-1".into(), noon()).apply_with(&db.pool, work).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyNotUnique);
    assert_eq!(db.number("SELECT COUNT(*) FROM orders WHERE state = 'pending'").await, 2);
    let error = two.pay("T-1".into(), noon()).apply(&db.pool).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyNotUnique);
}
