//! What `lifecycle!` writes stands in a stranger's crate without a warning.

#![deny(warnings, missing_docs, unreachable_pub, rust_2018_idioms, clippy::pedantic)]

pub mod approvals;
pub mod hostile;
pub mod orders;
mod private;

/// An alias that generated code must not run into.
pub type Result<T> = std::result::Result<T, steps::Error>;
