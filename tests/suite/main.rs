//! One suite, every database: the same source runs on SQLite, PostgreSQL, MariaDB and a cluster.
//!
//! Plain `cargo test` has the default features and so covers SQLite alone; `scripts/test` covers all of them.
#![allow(
    missing_docs,
    unreachable_pub,
    clippy::pedantic,
    // the same cases run with journals and without
    clippy::duplicate_mod,
    // what the database's clock says is compared with ours, and facts of orders have times
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic
)]

#[cfg(any(feature = "postgres", feature = "mysql"))]
mod balancer;
#[cfg(unix)]
mod child;
#[macro_use]
mod db;
#[macro_use]
mod volume;
#[macro_use]
mod stores;
mod conformance;
mod conformance_journalled;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod cuts;
mod drops;
mod engines;
mod examples;
mod flow;
#[cfg(feature = "mysql")]
mod galera;
mod idempotency;
mod inbox;
mod journal;
macro_rules! declare {
    ([$journal:literal] $($declaration:tt)*) => { onward::lifecycle! { $($declaration)* } };
}
mod lifecycles;
macro_rules! declare {
    ([$journal:literal] $($declaration:tt)*) => { onward::lifecycle! { $($declaration)* journal in $journal; } };
}
#[path = "lifecycles.rs"]
mod journalled;
mod lease;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod lost;
mod migrations;
mod observed;
mod once;
mod outbox;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod proxy;
mod races;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod servers;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod skew;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod statements;
mod stock;
mod sweep;
mod token;
// rustc lists what implements a trait, so the expected texts are those of all features.
#[cfg(all(feature = "postgres", feature = "mysql", feature = "json"))]
mod ui;

/// Its name is seen where plain `cargo test` is run.
#[cfg(not(all(feature = "postgres", feature = "mysql")))]
#[test]
fn not_every_database_is_covered_by_this_run_but_all_are_by_scripts_test() {
    let features = [cfg!(feature = "sqlite"), cfg!(feature = "postgres"), cfg!(feature = "mysql")];
    assert!(features.contains(&true) && features.contains(&false), "{features:?}");
}
