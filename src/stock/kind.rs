//! What can be done with stock.

/// What is done with stock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Deduct,
    Reserve,
    Confirm,
    Release,
    Restore,
}

impl Kind {
    pub(super) const ALL: [Self; 5] =
        [Self::Deduct, Self::Reserve, Self::Confirm, Self::Release, Self::Restore];

    /// As it stands in the ledger.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Deduct => "deduct",
            Self::Reserve => "reserve",
            Self::Confirm => "confirm",
            Self::Release => "release",
            Self::Restore => "restore",
        }
    }

    /// How many columns of the stock's row it changes, each under a guard of its own.
    pub(super) fn columns(self) -> usize {
        match self {
            Self::Deduct | Self::Confirm | Self::Restore => 1,
            Self::Reserve | Self::Release => 2,
        }
    }

    /// It gives or takes only what the same order has by earlier movements.
    pub(super) fn is_owed(self) -> bool {
        match self {
            Self::Deduct | Self::Reserve => false,
            Self::Confirm | Self::Release | Self::Restore => true,
        }
    }
}
