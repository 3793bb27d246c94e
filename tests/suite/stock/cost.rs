//! What it costs to move stock beside a ledger of many entries, and beside an almost empty one in the same run:
//! `scripts/volume-cost`.

use super::{
    Call::{self, Confirm, Deduct, Release, Reserve},
    once,
};
use crate::{
    db::{Db, Fixture},
    volume::{again, median, rounds, rows},
};
use onward::stock::{Line, Operation};
use sqlx::Pool;
use std::time::Instant;

/// The median of each round, and of all rounds: a pause of the machine does not change them.
const ORDERS: usize = 14;
/// What is measured, and what comes before it.
const CALLS: [(&str, Call, &[Call]); 4] = [
    ("a deduct", Deduct, &[]),
    ("a reserve", Reserve, &[]),
    ("a confirm", Confirm, &[Reserve]),
    ("a release", Release, &[Reserve]),
];

measured_on_each_database!();

/// SQL for up to a million entries of finished orders, two for each.
fn entries<B: Db>(count: u32) -> String {
    let (now, text) = match B::ENGINE {
        "sqlite" => ("strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now')", "TEXT"),
        "postgres" => ("CURRENT_TIMESTAMP", "TEXT"),
        _ => ("UTC_TIMESTAMP(6)", "CHAR"),
    };
    let number = "a.i * 10000 + b.i * 100 + c.i";
    format!(
        "INSERT INTO onward_stock_ledger (stock, source, order_key, line, kind, operation, article, quantity, moved_at)
         WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99),
         k(kind) AS (SELECT 'reserve' UNION ALL SELECT 'confirm')
         SELECT 'goods', 'shop', CAST({number} AS {text}), 'tea', k.kind, 'T', 'tea', 1, {now}
         FROM n a, n b, n c, k WHERE {number} < {}",
        count / 2
    )
}

async fn measured<B: Db>(few: Fixture<B>) {
    let many = few.another(1).await;
    for db in [&few, &many] {
        db.goods(0).await;
        db.run("UPDATE goods SET available = 1000000 WHERE article = 'tea'").await;
    }
    let count = rows();
    many.run(&entries::<B>(count)).await;
    if B::ENGINE == "postgres" {
        // As the server does by itself before long.
        many.run("VACUUM ANALYZE onward_stock_ledger").await;
    }
    // As order numbers that rise, and as keys of chance.
    for (place, first, step) in [("behind", count as usize / 2, 1), ("among", 1, 7_919)] {
        let mut ratios = [const { Vec::new() }; CALLS.len()];
        let mut next = 0;
        for _ in 0..rounds() {
            let pools = [again(&few).await, again(&many).await];
            let mut took = [const { [Vec::new(), Vec::new()] }; CALLS.len()];
            for order in 0..ORDERS {
                for (took, (_, call, before)) in took.iter_mut().zip(CALLS) {
                    let key = first + next * step % (count as usize / 2);
                    next += 1;
                    let operation = Operation::new("shop", key.to_string(), format!("a {place}"));
                    // Each of both goes first half of the time.
                    for which in [order % 2, 1 - order % 2] {
                        took[which].push(round(&pools[which], call, before, &operation).await);
                    }
                }
            }
            for pool in pools {
                pool.close().await;
            }
            for (ratios, [few, many]) in ratios.iter_mut().zip(took) {
                ratios.push(median(many) / median(few));
            }
        }
        let ratios = ratios.map(median);
        let told = CALLS.iter().zip(ratios).map(|((name, ..), ratio)| format!("{name} {ratio:.2}"));
        let told = told.collect::<Vec<_>>().join(", ");
        println!("{}: {place} {count} entries in the ledger: {told} times as long as beside none", B::ENGINE);
        assert!(ratios.iter().all(|ratio| *ratio < 1.5));
    }
}

/// In a transaction of its own, to its commit.
async fn round<B: Db>(pool: &Pool<B>, call: Call, before: &[Call], operation: &Operation) -> f64 {
    let lines = [Line::new("tea", 1)];
    for call in before {
        once(pool, *call, operation, &lines).await.unwrap();
    }
    let since = Instant::now();
    assert_eq!(once(pool, call, operation, &lines).await.unwrap().moved, 1);
    since.elapsed().as_secs_f64()
}
