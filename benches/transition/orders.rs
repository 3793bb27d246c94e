//! The order that all rivals move from `Pending` to `Paid`, with and without a journal, and the rows of one round.

use crate::rivals::Rivals;
use onward::{BoxError, Lifecycle as _};
use sqlx::{AssertSqlSafe, Pool};
use std::{
    collections::hash_map::RandomState,
    fmt::Write as _,
    hash::{BuildHasher, Hasher as _},
};

onward::lifecycle! {
    pub struct Order in "orders";
    pub struct OrderRow { id: i64, amount_cents: i64, article: String }
    pub enum AnyOrder: OrderStatus {
        Pending,
        Paid { trade_no: String },
    }
    transitions { pay: Pending -> Paid by trade_no; }
}

/// The same order in the same table, with a journal.
pub mod journalled {
    onward::lifecycle! {
        pub struct Order in "orders";
        pub struct OrderRow { id: i64, amount_cents: i64, article: String }
        pub enum AnyOrder: OrderStatus {
            Pending,
            Paid { trade_no: String },
        }
        transitions { pay: Pending -> Paid by trade_no; }
        journal in "order_journal";
    }
}

const TABLE: &str = "CREATE TABLE orders (id BIGINT NOT NULL PRIMARY KEY, amount_cents BIGINT NOT NULL,
    article VARCHAR(64) NOT NULL,
    status VARCHAR(16) NOT NULL, version BIGINT NOT NULL, trade_no VARCHAR(64) UNIQUE)";

/// Both tables, anew.
pub fn tables<B: Rivals>() -> Result<String, BoxError> {
    let journal = journalled::AnyOrder::DESCRIPTION.journal_table::<B>()?;
    Ok(format!("DROP TABLE IF EXISTS orders; DROP TABLE IF EXISTS order_journal; {TABLE}; {journal}"))
}

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

/// What a hand-written entry tells its attempt by: 128 random bits as text, as the crate's own.
pub fn attempt_id() -> String {
    let random = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", random(), random())
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

/// The orders in a state, page by page.
macro_rules! every {
    ($order:ty, $pool:expr, $each:expr) => {{
        let mut after = None;
        let mut each = $each;
        loop {
            let page = <$order>::list($pool, after, 1000).await?;
            for order in page.rows {
                each(order?);
            }
            match page.next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
    }};
}

/// How many orders were paid, each exactly once.
pub async fn paid<B: Rivals>(pool: &Pool<B>) -> Result<usize, BoxError> {
    let mut paid = 0;
    every!(Order<Paid>, pool, |order: Order<Paid>| {
        paid += usize::from(order.version() == 1 && order.trade_no == trade_no(order.id));
    });
    Ok(paid)
}

/// How many entries the journal has.
pub async fn entries<B: Rivals>(pool: &Pool<B>) -> Result<usize, BoxError> {
    Ok(usize::try_from(B::count(pool, "SELECT COUNT(*) FROM order_journal").await?)?)
}

/// The handles of all pending orders by their keys, with what pays them.
pub async fn handles<B: Rivals>(pool: &Pool<B>) -> Result<Vec<(Order<Pending>, String)>, BoxError> {
    let mut handles = Vec::new();
    every!(Order<Pending>, pool, |order: Order<Pending>| {
        let trade_no = trade_no(order.id);
        handles.push((order, trade_no));
    });
    Ok(handles)
}

type Journalled = journalled::Order<journalled::Pending>;

/// The same with the lifecycle that has a journal.
pub async fn journalled_handles<B: Rivals>(pool: &Pool<B>) -> Result<Vec<(Journalled, String)>, BoxError> {
    let mut handles = Vec::new();
    every!(Journalled, pool, |order: Journalled| {
        let trade_no = trade_no(order.id);
        handles.push((order, trade_no));
    });
    Ok(handles)
}

/// Several statements without arguments.
pub fn safe(sql: String) -> AssertSqlSafe<String> {
    AssertSqlSafe(sql)
}
