//! Why a call ends before its end.

use crate::{backend::Backend, fault::Fault, stock::error::StockError};

pub(super) enum Stop {
    /// The business says no, in a transaction that lives on.
    Refused(StockError),
    Fault(Fault),
}

impl Stop {
    /// Whether what the call did so far may still be in the transaction, to be kept by whoever commits all the same.
    pub(super) fn leaves_something<B: Backend>(&self) -> bool {
        match self {
            Self::Refused(_) | Self::Fault(Fault::Other(_) | Fault::Broken(_)) => true,
            // MySQL undoes the one statement that waited for a lock in vain. PostgreSQL takes none any more, and must not
            // be brought to commit after all.
            Self::Fault(Fault::Conflict(_)) => !B::ABORTS_ON_ERROR,
            Self::Fault(_) => false,
        }
    }
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<StockError> for Stop {
    fn from(error: StockError) -> Self {
        Self::Refused(error)
    }
}
