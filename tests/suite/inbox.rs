//! The inbox: what is stored, who may work on it, and what becomes of it.

mod claims;
mod keeping;
mod marks;
mod stored;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod unsettled;
mod worker;

use crate::db::{Db, Fixture};
use crate::lifecycles::Orders as _;
use onward::inbox::{Claim, Inbox, Message, Stored};
use std::time::Duration;

pub const DAY: Duration = Duration::from_secs(86_400);

pub fn inbox() -> Inbox {
    Inbox::new("alipay").owner("test")
}

impl<B: Db> Fixture<B> {
    /// Orders, and the tables of the inbox.
    pub async fn inbox(&self, orders: i64) {
        self.orders(orders).await;
        onward::migrate(&self.pool).await.unwrap();
    }

    pub async fn store(&self, id: &str, body: &str) -> Stored {
        inbox().store(&self.pool, id, &Message::new(body).key("N-1")).await.unwrap()
    }

    pub async fn claimed(&self, id: &str) -> Claim {
        let stored = self.store(id, "body").await;
        inbox().claim(&self.pool, stored.entry().id).await.unwrap().unwrap()
    }

    /// `status attempts outcome` of an entry.
    pub async fn entry(&self, id: &str) -> String {
        let found = self.store(id, "body").await;
        let entry = found.entry();
        let outcome = entry.outcome.as_deref().unwrap_or("-");
        format!("{} {} {outcome}", entry.status.as_str(), entry.attempts)
    }

    /// Moves a time of all entries into the past, as waiting would.
    pub async fn age(&self, column: &str, days: u32) {
        let table = if column == "received_at" { "onward_unverified" } else { "onward_inbox" };
        self.aged(table, column, days).await;
    }

    /// Likewise of all rows of a table.
    pub async fn aged(&self, table: &str, column: &str, days: u32) {
        let past = match B::ENGINE {
            "sqlite" => format!("strftime('%Y-%m-%dT%H:%M:%f+00:00', {column}, '-{days} days')"),
            "postgres" => format!("{column} - INTERVAL '{days} days'"),
            _ => format!("{column} - INTERVAL {days} DAY"),
        };
        self.run(&format!("UPDATE {table} SET {column} = {past} WHERE {column} IS NOT NULL")).await;
    }
}
