//! Orders move forward, once.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(unreachable_pub)]

mod amendment;
mod attempt;
mod backend;
mod course;
mod creation;
mod error;
mod fault;
mod handle;
mod lifecycle;
mod observe;
mod outcome;
mod plan;
mod policy;
mod row;
mod serialize;
mod session;
mod statement;
#[cfg(feature = "testkit")]
pub mod testkit;
mod transaction;
mod transition;
mod uncommitted;
mod won;

pub use amendment::Amendment;
pub use attempt::Attempt;
pub use backend::{Backend, Supports};
pub use creation::Creation;
pub use error::{BoxError, Error, ErrorKind};
pub use handle::{Handle, Page};
pub use lifecycle::{Column, Description, Fact, Lifecycle, State, StateInfo, StatusType, TransitionInfo};
pub use outcome::{Answer, Clash, Conflict, Outcome};
pub use policy::Policy;
pub use session::{Access, Own, Session};
pub use sqlx;
pub use transaction::{Transaction, begin};
pub use transition::Transition;
pub use uncommitted::Uncommitted;
pub use won::Won;

/// What the output of `lifecycle!` needs; no part of the public surface.
#[doc(hidden)]
pub mod __private {
    pub use crate::{
        error::BoxError,
        handle::{Seal, Snapshot, columns, debug_handle, find, from_row, list, load, lock},
        lifecycle::{Source, Version},
        row::{Columns, Stored, StoredState, bind_code, bind_text, bind_version, no_such_fact},
        serialize::{deserialize_name, serialize_handle, text},
        statement::{Dialect, StatementCache, Statements},
    };

    pub use onward_macros::lifecycle;
    pub use {serde, sqlx, strum};
}

/// Declares a lifecycle.
#[macro_export]
macro_rules! lifecycle {
    ($($declaration:tt)*) => { $crate::__private::lifecycle! { [$crate] $($declaration)* } };
}
