//! The outbox: what is written, in which order it is sent, and what becomes of it.

mod cost;
#[cfg(unix)]
mod crash;
mod keeping;
mod order;
mod relays;
mod writing;

use crate::{
    db::{Db, Fixture},
    lifecycles::Orders as _,
};
use onward::{
    BoxError, Policy,
    outbox::{Delivery, Event, Outbox, Publish, Status},
};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

pub const SHORT: Duration = Duration::from_millis(2);

pub fn outbox() -> Outbox {
    let policy = Policy::retry(3).delays(SHORT, SHORT);
    Outbox::new("orders").owner("test").policy(policy).poll_every(Duration::from_millis(10))
}

/// What was published: id, key, payload, in that order.
#[derive(Clone, Default)]
pub struct Published(Arc<Mutex<Vec<(String, String, String)>>>);

impl Published {
    pub fn push(&self, delivery: &Delivery) {
        let payload = String::from_utf8(delivery.payload().to_vec()).unwrap();
        self.0.lock().unwrap().push((delivery.id().into(), delivery.key().into(), payload));
    }

    pub fn all(&self) -> Vec<(String, String, String)> {
        self.0.lock().unwrap().clone()
    }

    pub fn payloads(&self) -> Vec<String> {
        self.all().into_iter().map(|(.., payload)| payload).collect()
    }

    /// Those of a key, without repeats of the same event.
    pub fn of(&self, key: &str) -> Vec<String> {
        let mut seen = std::collections::HashSet::new();
        let all = self.all().into_iter().filter(|(id, of, _)| of == key && seen.insert(id.clone()));
        all.map(|(.., payload)| payload).collect()
    }

    /// Records whatever is published.
    pub fn publisher(&self) -> impl Publish + Clone + use<> {
        let published = self.clone();
        move |delivery: Delivery| {
            published.push(&delivery);
            async { Ok::<_, BoxError>(()) }
        }
    }
}

impl<B: Db> Fixture<B> {
    /// Orders, and the table of the outbox.
    pub async fn outbox(&self, orders: i64) {
        self.orders(orders).await;
        onward::migrate(&self.pool).await.unwrap();
    }

    /// Writes events in a transaction of their own, and gives their ids.
    pub async fn written(&self, key: &str, payloads: &[&str]) -> Vec<String> {
        loop {
            let mut tx = onward::begin(&self.pool).await.unwrap();
            let mut ids = Vec::new();
            for payload in payloads {
                ids.push(outbox().write(&mut tx, Event::new("topic", key, *payload)).await.unwrap());
            }
            match tx.commit().await {
                Ok(()) => return ids,
                Err(error) => assert!(error.is_transient(), "{error}"),
            }
        }
    }

    /// Relays until nothing is due, and says what became of each event.
    pub async fn relayed(&self, publish: &impl Publish) -> Vec<Status> {
        let mut all = Vec::new();
        while let Some(status) = outbox().relay_next(&self.pool, publish).await.unwrap() {
            all.push(status);
        }
        all
    }

    /// Makes all claims run out, and all delays.
    pub async fn make_due(&self) {
        self.aged("onward_outbox", "next_at", 1).await;
    }

    pub async fn unsent(&self) -> u64 {
        outbox().backlog(&self.pool).await.unwrap().unsent
    }
}

/// SQL for up to a million events that have been sent, of as many keys.
pub fn many<B: Db>(count: u32) -> String {
    let now = match B::ENGINE {
        "sqlite" => "strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now')",
        "postgres" => "CURRENT_TIMESTAMP",
        _ => "UTC_TIMESTAMP(6)",
    };
    let (text, payload) = match B::ENGINE {
        "sqlite" => ("TEXT", "zeroblob(100)"),
        "postgres" => ("TEXT", "decode(repeat('00', 100), 'hex')"),
        _ => ("CHAR", "REPEAT('x', 100)"),
    };
    let number = "a.i * 10000 + b.i * 100 + c.i";
    format!(
        "INSERT INTO onward_outbox (outbox, event_key, event_id, topic, headers, payload, written_at, status, version,
           attempts, followers, done_at)
         WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99)
         SELECT 'orders', CAST({number} AS {text}), 'id', 'topic', '', {payload}, {now}, 'sent', 2, 1, 0, {now}
         FROM n a, n b, n c WHERE {number} < {count}"
    )
}
