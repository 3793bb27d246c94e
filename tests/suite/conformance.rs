//! What every database must do alike. Cases are named after what would go wrong without them.

use crate::lifecycles;

mod amending;
mod conflicts;
mod creating;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod late;
mod reading;
mod repeats;
mod transactions;
mod variants;
