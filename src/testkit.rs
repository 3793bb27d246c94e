//! Handles without a database, for tests of code that takes one. With the feature `testkit` only.
//!
//! Domain code is better off with `&Paid`, plain data that anybody can make. Where a handle is wanted all the same:
//!
//! ```
//! # onward::doc_lifecycle!();
//! let row = OrderRow { id: 1, amount_cents: 500 };
//! let order: Order<Pending> = onward::testkit::handle(Pending { row }, 0);
//! assert_eq!(order.version(), 0);
//! ```

use crate::{handle::Snapshot, lifecycle::State};

/// A handle with this data and version that no row stands behind.
pub fn handle<S: State>(data: S, version: i64) -> S::Handle {
    S::wrap(Snapshot::new(data, version))
}
