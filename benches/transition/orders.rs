//! The order that all rivals move from `Pending` to `Paid`, and the rows of one round.

use crate::rivals::Rivals;
use onward::BoxError;
use sqlx::{AssertSqlSafe, Pool};
use std::fmt::Write as _;

onward::lifecycle! {
    pub struct Order in "orders";
    pub struct OrderRow { id: i64, amount_cents: i64, article: String }
    pub enum AnyOrder: OrderStatus {
        Pending,
        Paid { trade_no: String },
    }
    transitions { pay: Pending -> Paid by trade_no; }
}

pub const TABLE: &str = "CREATE TABLE orders (id BIGINT NOT NULL PRIMARY KEY, amount_cents BIGINT NOT NULL,
    article VARCHAR(64) NOT NULL,
    status VARCHAR(16) NOT NULL, version BIGINT NOT NULL, trade_no VARCHAR(64) UNIQUE)";

/// What a hand-written step knows beforehand, as a handle does.
pub struct Known {
    pub id: i64,
    pub version: i64,
    pub trade_no: String,
}

impl Known {
    pub fn new(order: &Order<Pending>, trade_no: String) -> Self {
        Self { id: order.id, version: order.version(), trade_no }
    }
}

/// The number that pays this order; a number, so that pgbench can compute it too.
pub const FIRST_TRADE: i64 = 4_200_000_000_000_000;

pub fn trade_no(id: i64) -> String {
    (FIRST_TRADE + id).to_string()
}

/// Leaves nothing in the table but this many pending orders, with the keys from 1 on.
pub async fn prepare<B: Rivals>(pool: &Pool<B>, count: usize) -> Result<(), BoxError> {
    B::script(pool, B::EMPTY.into()).await?;
    let keys: Vec<usize> = (1..=count).collect();
    for part in keys.chunks(1000) {
        let mut insert = "INSERT INTO orders (id, amount_cents, article, status, version) VALUES ".to_owned();
        for (i, id) in part.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(insert, "{comma}({id}, 500, 'tea', 'pending', 0)")?;
        }
        B::script(pool, insert).await?;
    }
    B::script(pool, B::SETTLE.into()).await
}

/// How many orders were paid, each exactly once.
pub async fn paid<B: Rivals>(pool: &Pool<B>) -> Result<usize, BoxError> {
    let mut after = None;
    let mut paid = 0;
    loop {
        let page = Order::<Paid>::list(pool, after, 1000).await?;
        for order in page.rows {
            let order = order?;
            if order.version() == 1 && order.trade_no == trade_no(order.id) {
                paid += 1;
            }
        }
        match page.next {
            Some(next) => after = Some(next),
            None => return Ok(paid),
        }
    }
}

/// The handles of all pending orders, with what pays them.
pub async fn handles<B: Rivals>(pool: &Pool<B>) -> Result<Vec<(Order<Pending>, String)>, BoxError> {
    let mut after = None;
    let mut handles = Vec::new();
    loop {
        let page = Order::<Pending>::list(pool, after, 1000).await?;
        for order in page.rows {
            let order = order?;
            let trade_no = trade_no(order.id);
            handles.push((order, trade_no));
        }
        match page.next {
            Some(next) => after = Some(next),
            None => return Ok(handles),
        }
    }
}

/// Several statements without arguments.
pub fn safe(sql: String) -> AssertSqlSafe<String> {
    AssertSqlSafe(sql)
}
