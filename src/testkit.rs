//! Handles without a database, for tests of code that takes one. With the feature `testkit` only.
//!
//! Domain code is better off with `&Paid`, plain data that anybody can make. Where a handle is wanted all the same:
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/order.rs"));
//! # fn main() {
//! fn may_ship(order: &Order<Paid>) -> bool {
//!     order.version() > 0 && !order.trade_no.is_empty()
//! }
//!
//! let row = OrderRow { id: 1, amount_cents: 500, note: None };
//! let order: Order<Paid> = onward::testkit::handle(Paid { trade_no: "T-1".into(), row }, 1);
//! assert!(may_ship(&order));
//! # }
//! ```

use crate::{handle::Snapshot, lifecycle::State};

/// A handle with this data and version that no row stands behind; see the [module](self) for an example.
pub fn handle<S: State>(data: S, version: i64) -> S::Handle {
    S::wrap(Snapshot::new(data, version))
}
