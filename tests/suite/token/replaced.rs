//! A token was consumed, and its work was rolled back: there is another one, and the old one is as good as it.

use super::{add, fresh, shop, shown, times, used};
use crate::db::{Db, Fixture};
use onward::{
    BoxError, Error, ErrorKind, Handle, Outcome,
    token::{Receipt, TokenStore, Tokens},
};
use sqlx::pool::PoolOptions;

on_every_database![the_work_is_rolled_back, only_if_certainly_not_applied];

async fn the_work_is_rolled_back<B: Db>(db: Fixture<B>) {
    let tokens = Tokens::new(&db.pool, "form");
    shop(&db, 2).await;
    rolled_back(tokens, db).await;
}

#[cfg(all(feature = "redis", feature = "sqlite"))]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_work_is_rolled_back_and_tokens_are_in_redis() {
    let (ground, db) = (crate::stores::in_redis().await, sqlx::Sqlite::fresh(4).await);
    shop(&db, 2).await;
    rolled_back(Tokens::new(&ground.store, "form"), db).await;
}

async fn rolled_back<S: TokenStore, B: Db>(tokens: Tokens<S>, db: Fixture<B>) {
    for (id, with_the_old_one) in [(1, false), (2, true)] {
        let old = tokens.issue("anna").await.unwrap();
        let receipt = fresh(&tokens, old.secret()).await;
        let failed = add(&db.pool, id, &receipt, true).await;
        assert_eq!(failed.as_ref().unwrap_err().kind(), ErrorKind::Effect);
        assert_eq!(times(&db, id).await, 0);
        let new = tokens.replace_after(&receipt, &failed).await.unwrap().expect("it was not applied");
        assert_ne!(new.secret(), old.secret());
        let receipt = if with_the_old_one {
            let again = used(&tokens, old.secret()).await;
            assert_eq!(again.request_id(), receipt.request_id());
            again
        } else {
            let other = fresh(&tokens, new.secret()).await;
            assert_ne!(other.request_id(), receipt.request_id());
            other
        };
        for told in ["applied", "duplicate", "duplicate"] {
            let done = add(&db.pool, id, &receipt, false).await;
            assert_eq!(done.as_ref().unwrap().as_str(), told);
            assert!(tokens.replace_after(&receipt, &done).await.unwrap().is_none(), "{told}");
        }
        assert_eq!(times(&db, id).await, 1);
    }
}

/// Whether there is another token after this, which must be one.
pub async fn another<S: TokenStore, T: Handle>(
    tokens: &Tokens<S>,
    receipt: &Receipt,
    expected: &str,
    result: Result<Outcome<T>, Error>,
) -> bool {
    let told = match &result {
        Ok(outcome) => outcome.as_str(),
        Err(error) => error.kind().as_str(),
    };
    assert_eq!(told, expected, "{:?}", result.as_ref().err());
    let Some(token) = tokens.replace_after(receipt, &result).await.unwrap() else { return false };
    assert_eq!(shown(tokens, "anna", token.secret()).await, "fresh");
    true
}

async fn only_if_certainly_not_applied<B: Db>(db: Fixture<B>) {
    use crate::lifecycles::{AnyOrder, Orders as _, noon};
    db.orders(4).await;
    onward::migrate(&db.pool).await.unwrap();
    let tokens = Tokens::new(&db.pool, "form");
    let token = tokens.issue("anna").await.unwrap();
    let receipt = fresh(&tokens, token.secret()).await;
    let pay = async |id: i64, trade_no: &str| db.any(id).await.pay(trade_no.into(), noon());

    let applied = pay(1, "T-1").await.apply(&db.pool).await;
    assert!(!another(&tokens, &receipt, "applied", applied).await);
    let duplicate = pay(1, "T-1").await.apply(&db.pool).await;
    assert!(!another(&tokens, &receipt, "duplicate", duplicate).await);
    let conflict = pay(1, "T-2").await.apply(&db.pool).await;
    assert!(another(&tokens, &receipt, "other_cause", conflict).await);
    let refused = pay(2, "T-2").await.check(|_| false).apply(&db.pool).await;
    assert!(another(&tokens, &receipt, "refused", refused).await);
    let gone = db.any(4).await;
    db.run("DELETE FROM orders WHERE id = 4").await;
    let not_found = gone.pay("T-4".into(), noon()).apply(&db.pool).await;
    assert!(another(&tokens, &receipt, "not_found", not_found).await);
    let work = async |_: &mut B::Connection, _: &_| Err::<(), BoxError>("no money".into());
    let effect = pay(2, "T-2").await.apply_with(&db.pool, work).await;
    assert!(another(&tokens, &receipt, "effect", effect).await);
    let busy = busy(&db).await;
    assert!(another(&tokens, &receipt, "busy", busy).await);
    // The same as errors, which is what `applied()` makes of them.
    let failed = |outcome: Outcome<AnyOrder>| outcome.applied().map(Outcome::Applied);
    let duplicate = failed(Outcome::Duplicate(db.any(1).await));
    assert!(!another(&tokens, &receipt, "duplicate", duplicate).await);
    assert!(another(&tokens, &receipt, "not_found", failed(Outcome::NotFound)).await);

    if B::ENGINE != "sqlite" {
        db.run(&raised_by_a_write::<B>()).await;
        let unknown = pay(2, "T-2").await.apply(&db.pool).await;
        assert!(!another(&tokens, &receipt, "commit_unknown", unknown).await);
        db.run(if B::ENGINE == "postgres" { "DROP TRIGGER fails ON orders" } else { "DROP TRIGGER fails" })
            .await;
    }
    let lost = ended_by_the_work(&db).await;
    assert!(!another(&tokens, &receipt, "transaction_lost", lost).await);
    let order = db.any(2).await;
    db.run("ALTER TABLE orders RENAME TO gone").await;
    let database = order.pay("T-2".into(), noon()).apply(&db.pool).await;
    assert!(another(&tokens, &receipt, "database", database).await);
}

type Tried = Result<Outcome<crate::lifecycles::AnyOrder>, Error>;

/// The engine gives it up at each attempt.
async fn busy<B: Db>(db: &Fixture<B>) -> Tried {
    use crate::lifecycles::Orders as _;
    let gives_up = match B::ENGINE {
        "postgres" => "DO $$ BEGIN RAISE EXCEPTION 'qlqx' USING ERRCODE = '40001'; END $$",
        "mariadb" => "SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'qlqx'",
        _ => "",
    };
    let attempt = db.any(2).await.amend(|row| row.amount_cents += 10);
    if B::ENGINE != "sqlite" {
        let work = async move |tx: &mut B::Connection, _: &_| B::run(tx, gives_up).await.map(drop);
        return attempt.apply_with(&db.pool, work).await;
    }
    let hasty = PoolOptions::<B>::new().max_connections(1).connect(&db.url).await.unwrap();
    B::run(&mut *hasty.acquire().await.unwrap(), "PRAGMA busy_timeout = 0").await.unwrap();
    let held = onward::begin(&db.pool).await.unwrap();
    let busy = attempt.apply(&hasty).await;
    held.rollback().await;
    busy
}

/// What leaves open whether a write took effect.
fn raised_by_a_write<B: Db>() -> String {
    match B::ENGINE {
        "postgres" => "CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN RAISE EXCEPTION 'qlqx' USING ERRCODE = '40003'; END $$;
             CREATE TRIGGER fails BEFORE UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION fails()"
            .into(),
        _ => "CREATE TRIGGER fails BEFORE UPDATE ON orders FOR EACH ROW
             SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1180, MESSAGE_TEXT = 'qlqx'"
            .into(),
    }
}

/// An error on PostgreSQL, a trigger on SQLite, DDL on MariaDB: the work goes on as if nothing had happened.
async fn ended_by_the_work<B: Db>(db: &Fixture<B>) -> Tried {
    use crate::lifecycles::Orders as _;
    let ends = match B::ENGINE {
        "postgres" => "SELECT no_such_column FROM orders",
        "sqlite" => {
            db.run("CREATE TRIGGER ends BEFORE DELETE ON stock BEGIN SELECT RAISE(ROLLBACK, 'no'); END")
                .await;
            "DELETE FROM stock"
        }
        _ => "CREATE TABLE late (id INT)",
    };
    let work = async move |tx: &mut B::Connection, _: &_| {
        let _ = B::run(tx, ends).await;
        let _ = B::run(tx, "UPDATE stock SET available = available - 1").await;
        Ok::<_, BoxError>(())
    };
    db.any(3).await.amend(|row| row.amount_cents += 10).apply_with(&db.pool, work).await
}
