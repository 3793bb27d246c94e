//! What has become of all orders, from the tables and the broker alone: what is missing, and what is there too often.

use super::{End, STOCKED, broker::Broker};
use crate::db::{Db, Fixture};
use std::collections::{BTreeMap, HashMap, HashSet};

/// What went wrong.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Wrong {
    pub lost: i64,
    pub doubled: i64,
}

/// Facts about orders, and how often each holds.
#[derive(Default)]
struct Facts(BTreeMap<String, i64>);

impl Facts {
    fn add(&mut self, order: &str, fact: String) {
        *self.0.entry(format!("order {order}: {fact}")).or_default() += 1;
    }
}

/// How the orders from 1 on ended, when everything is done; `end` says how an order should, and how often its payment
/// was notified.
pub async fn counted<B: Db>(
    db: &Fixture<B>,
    broker: &Broker,
    orders: i64,
    end: impl Fn(i64) -> (End, u32),
) -> (Wrong, BTreeMap<String, i64>) {
    let found = found(db, broker).await;
    let (mut expected, mut ends) = (Facts::default(), BTreeMap::<String, i64>::new());
    let mut paid = 0;
    for id in 1..=orders {
        let (end, notifications) = end(id);
        let is_paid = match end {
            End::Paid => true,
            End::Cancelled => false,
            End::Either => found.0.contains_key(&format!("order {id}: is paid T-{id}")),
        };
        paid += i64::from(is_paid);
        *ends.entry(format!("{end:?}: {}", if is_paid { "paid" } else { "cancelled" })).or_default() += 1;
        expect(&mut expected, id, is_paid, notifications);
    }
    let mut wrong = Wrong::default();
    let all: HashSet<&String> = found.0.keys().chain(expected.0.keys()).collect();
    for fact in all {
        let [found, expected] = [&found, &expected].map(|facts| facts.0.get(fact).copied().unwrap_or(0));
        if found != expected {
            println!("{fact}, {found} times instead of {expected}");
        }
        wrong.lost += (expected - found).max(0);
        wrong.doubled += (found - expected).max(0);
    }
    for (article, each) in [("tea", 2), ("box", 1)] {
        let column = |column| format!("SELECT {column} FROM goods WHERE article = '{article}'");
        let available = db.number(&column("available")).await;
        let reserved = db.number(&column("reserved")).await;
        let kept = STOCKED - each * paid;
        if (available, reserved) != (kept, 0) {
            println!("{article}: {available} available instead of {kept}, {reserved} reserved");
        }
        wrong.lost += (available - kept).max(0) + reserved.max(0);
        wrong.doubled += (kept - available).max(0) + (-reserved).max(0);
    }
    (wrong, ends)
}

fn expect(expected: &mut Facts, id: i64, is_paid: bool, notifications: u32) {
    let (id, trade_no) = (id.to_string(), format!("T-{id}"));
    let mut add = |fact: &str| expected.add(&id, fact.to_owned());
    let last = if is_paid { "paid" } else { "cancelled" };
    add("created in the journal");
    for (n, event) in ["created", last].into_iter().enumerate() {
        add(&format!("event {event} sent"));
        add(&format!("delivery {}: {event}", n + 1));
        add(&format!("mail {event}"));
    }
    add("reserve 2 tea");
    if is_paid {
        add(&format!("is paid {trade_no}"));
        add(&format!("paid in the journal {trade_no}"));
        add("confirm 2 tea");
        add("deduct 1 box");
    } else {
        add("is cancelled");
        add("cancelled in the journal");
        add("release 2 tea");
    }
    for n in 0..notifications {
        add(match (is_paid, n) {
            (true, 0) => "notified applied applied",
            (true, _) => "notified duplicate duplicate",
            // Money for an order that is cancelled: a person sees to it.
            (false, _) => "notified needs_attention aside",
        });
    }
}

/// By plain SQL, and from the broker's file.
async fn found<B: Db>(db: &Fixture<B>, broker: &Broker) -> Facts {
    let mut found = Facts::default();
    let rows = async |of: &str, from: &str| {
        let mut c = db.pool.acquire().await.unwrap();
        let sql = format!("SELECT CONCAT_WS(' ', {of}) FROM {from}");
        let rows = B::texts(&mut c, &sql).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
        let rows = rows.into_iter().map(|row| {
            let (key, rest) = row.split_once(' ').unwrap_or((&row, ""));
            (key.to_owned(), rest.to_owned())
        });
        rows.collect::<Vec<_>>()
    };
    // Where a lost reply was settled by a fence, versions are higher; but each has its entry.
    let latest =
        "orders o WHERE version = (SELECT MAX(j.version) FROM order_journal j WHERE j.row_key = o.id)";
    for (id, is) in rows("id, status, trade_no", latest).await {
        found.add(&id, format!("is {is}"));
    }
    let mut steps = HashMap::new();
    for (id, entry) in rows("row_key, version, transition, cause", "order_journal").await {
        let (version, entry) = entry.split_once(' ').unwrap();
        let (transition, cause) = entry.split_once(' ').unwrap_or((entry, ""));
        let step = match transition {
            "create" => "created",
            "pay" => "paid",
            "cancel" => "cancelled",
            _ => continue,
        };
        steps.insert(format!("{id} {version}"), step);
        found.add(&id, format!("{step} in the journal {cause}").trim_end().to_owned());
    }
    for (id, status) in rows("business_key, status, outcome", "onward_inbox").await {
        found.add(&id, format!("notified {status}"));
    }
    for (id, movement) in rows("order_key, kind, quantity, article", "onward_stock_ledger").await {
        found.add(&id, movement);
    }
    let mut events = HashMap::new();
    for (id, event) in rows("event_key, row_version, status, event_id, topic", "onward_outbox").await {
        let words: Vec<&str> = event.split(' ').collect();
        let [version, status, event_id, topic] = words[..] else { panic!("{event}") };
        let is_true = steps.get(&format!("{id} {version}")) == Some(&topic);
        found.add(&id, format!("event {topic} {status}{}", if is_true { "" } else { " of no such step" }));
        events.insert(event_id.to_owned(), topic.to_owned());
    }
    let topic = |event_id: &str| events.get(event_id).map_or("of what never was", String::as_str);
    for (event_id, rest) in rows("event_id, order_id", "mails").await {
        found.add(&rest, format!("mail {}", topic(&event_id)));
    }
    // Of deliveries of the same event only the first tells about the order of a key.
    let (mut seen, mut deliveries) = (HashSet::new(), HashMap::<String, u32>::new());
    for sent in broker.all().into_iter().filter(|sent| seen.insert(sent.event_id.clone())) {
        let n = deliveries.entry(sent.key.clone()).or_default();
        *n += 1;
        found.add(&sent.key, format!("delivery {n}: {}", topic(&sent.event_id)));
    }
    found
}
