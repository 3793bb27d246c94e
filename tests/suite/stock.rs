//! Stock: what is a repeat, what is refused, what is set aside, and who gets the last one.

mod contention;
mod cost;
mod names;
mod refusals;
mod repeats;
mod reservations;
mod transactions;

use crate::{
    db::{Db, Fixture},
    lifecycles::{Orders as _, row},
};
use onward::{
    Session,
    stock::{Line, Moved, Operation, Stock, StockError},
};
use sqlx::Pool;

pub static STOCK: Stock = Stock::new("goods");

const GOODS: &str = "CREATE TABLE goods (article VARCHAR(32) PRIMARY KEY, stocked BIGINT NOT NULL,
    available BIGINT NOT NULL, reserved BIGINT NOT NULL);
  INSERT INTO goods VALUES ('cup', 5, 5, 0), ('pot', 1, 1, 0), ('tea', 5, 5, 0)";

impl<B: Db> Fixture<B> {
    /// Orders, and stock for them.
    pub async fn goods(&self, orders: i64) {
        self.orders(0).await;
        for first in (1..=orders).step_by(500) {
            let last = orders.min(first + 499);
            let rows = (first..=last)
                .map(row)
                .map(|order| format!("({}, '{}', 7, 500, 'pending', 0)", order.id, order.order_no));
            let rows = rows.collect::<Vec<_>>().join(", ");
            let insert =
                "INSERT INTO orders (id, order_no, cust_no, amount_cents, state, lock_version) VALUES";
            self.run(&format!("{insert} {rows}")).await;
        }
        self.run(GOODS).await;
        onward::migrate(&self.pool).await.unwrap();
    }

    /// `available reserved` of an article.
    pub async fn stock(&self, article: &str) -> String {
        let of = |column| format!("SELECT {column} FROM goods WHERE article = '{article}'");
        format!("{} {}", self.number(&of("available")).await, self.number(&of("reserved")).await)
    }

    pub async fn entries(&self) -> i64 {
        self.number("SELECT COUNT(*) FROM onward_stock_ledger").await
    }

    /// Stock and ledger agree on every article.
    pub async fn agrees(&self) {
        let sum = |plus: [&str; 2], minus: [&str; 2]| {
            format!(
                "(SELECT COALESCE(SUM(CASE WHEN kind IN ('{}', '{}') THEN quantity WHEN kind IN ('{}', '{}')
                THEN -quantity ELSE 0 END), 0) FROM onward_stock_ledger WHERE article = goods.article)",
                plus[0], plus[1], minus[0], minus[1]
            )
        };
        let gone = sum(["deduct", "reserve"], ["release", "restore"]);
        let held = sum(["reserve", "reserve"], ["confirm", "release"]);
        let wrong = format!(
            "SELECT COUNT(*) FROM goods WHERE available <> stocked - {gone} OR reserved <> {held} OR available < 0"
        );
        assert_eq!(self.number(&wrong).await, 0);
    }

    /// One call in a transaction of its own, which is committed also when the call was refused; again as a whole when
    /// the engine gives it up.
    pub async fn call(
        &self,
        call: Call,
        operation: &Operation,
        lines: &[(&str, i64)],
    ) -> Result<Moved, StockError> {
        let lines: Vec<Line> =
            lines.iter().map(|(article, quantity)| Line::new(*article, *quantity)).collect();
        on(&self.pool, call, operation, &lines).await
    }
}

#[derive(Debug, Clone, Copy)]
pub enum Call {
    Deduct,
    Reserve,
    Confirm,
    Release,
    Restore,
}

pub async fn on<B: Db>(
    pool: &Pool<B>,
    call: Call,
    operation: &Operation,
    lines: &[Line],
) -> Result<Moved, StockError> {
    loop {
        match once(pool, call, operation, lines).await {
            Err(StockError::Fault(error)) if error.is_transient() => {}
            done => return done,
        }
    }
}

/// What was refused is committed, too: it must not have done anything.
pub async fn once<B: Db>(
    pool: &Pool<B>,
    call: Call,
    operation: &Operation,
    lines: &[Line],
) -> Result<Moved, StockError> {
    let mut tx = onward::begin(pool).await?;
    let done = called(&mut tx, call, operation, lines).await;
    match done {
        Err(StockError::Fault(_)) => tx.rollback().await,
        _ => tx.commit().await?,
    }
    done
}

pub async fn called<S: Session>(
    tx: &mut S,
    call: Call,
    operation: &Operation,
    lines: &[Line],
) -> Result<Moved, StockError> {
    match call {
        Call::Deduct => STOCK.deduct(tx, operation, lines).await,
        Call::Reserve => STOCK.reserve(tx, operation, lines).await,
        Call::Confirm => STOCK.confirm(tx, operation, lines).await,
        Call::Release => STOCK.release(tx, operation, lines).await,
        Call::Restore => STOCK.restore(tx, operation, lines).await,
    }
}

/// An operation of an order that no lifecycle knows.
pub fn by(order: i64, name: &str) -> Operation {
    Operation::new("shop", order.to_string(), name)
}

/// How many lines were moved, were repeats, and were void.
pub fn told(done: Result<Moved, StockError>) -> [usize; 3] {
    let Moved { moved, repeated, void, .. } = done.unwrap();
    [moved, repeated, void]
}
