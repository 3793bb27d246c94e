//! How far a sweep is.

/// What became of the rows that a sweep has come by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Swept {
    /// Moved on.
    pub applied: u64,
    /// Left alone, because they had moved by themselves, or had become younger, since their keys were read.
    pub passed: u64,
    /// The attempt lost: its guard said no, or another row has a unique value.
    pub lost: u64,
    /// It could not be read or decided, or the work failed. They stay as they are, unless a COMMIT's reply was lost where
    /// there is no journal to settle it, or the work has committed something itself:
    /// [`Sweep::failure`](crate::sweep::Sweep::failure) hears which.
    pub failed: u64,
}
