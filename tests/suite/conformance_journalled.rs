//! The same cases, all lifecycles with a journal.

use crate::journalled as lifecycles;

#[path = "conformance/amending.rs"]
mod amending;
#[path = "conformance/conflicts.rs"]
mod conflicts;
#[path = "conformance/creating.rs"]
mod creating;
#[cfg(any(feature = "postgres", feature = "mysql"))]
#[path = "conformance/late.rs"]
mod late;
#[path = "conformance/reading.rs"]
mod reading;
#[path = "conformance/repeats.rs"]
mod repeats;
#[path = "conformance/transactions.rs"]
mod transactions;
#[path = "conformance/variants.rs"]
mod variants;
