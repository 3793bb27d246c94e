//! What moves stock: an order, and which of its operations.

use crate::lifecycle::{Lifecycle, Source};

/// What moves stock, and by which it is known when it comes again: an order, and one of its operations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// Whose orders they are, so that two tables of orders can share one stock.
    pub(super) source: String,
    pub(super) order: String,
    pub(super) name: String,
    /// The caller's own name for it, and not that of an attempt.
    pub(super) named: bool,
}

impl Operation {
    /// The attempt that made this handle: a row (table, key and guards) at a version.
    ///
    /// In the work of `apply_with` and `begin` it is the order as it will be; of an
    /// [`Uncommitted`](crate::Uncommitted) take `Operation::of(&*paid)`. All movements of one kind on one line in one
    /// attempt are the same one; for more than one, name them.
    pub fn of<H: Source>(handle: &H) -> Self {
        let (row, version) = handle.stands();
        let name = format!("version {version}");
        let order = joined(&H::Any::place_of(row));
        Self { source: H::Any::DESCRIPTION.table.to_owned(), order, name, named: false }
    }

    /// An operation of an order that no lifecycle knows: whose orders they are, the order's key, the operation's name.
    pub fn new(source: impl Into<String>, order: impl Into<String>, name: impl Into<String>) -> Self {
        Self { source: source.into(), order: order.into(), name: name.into(), named: true }
    }

    /// The business's own name for the operation: a parcel's number, a trade number.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        (self.name, self.named) = (name.into(), true);
        self
    }
}

/// Key and guards, told apart also where they have commas in them.
fn joined(place: &[String]) -> String {
    match place {
        [key] => key.clone(),
        parts => {
            let parts = parts.iter().map(|part| part.replace('\\', "\\\\").replace(',', "\\,"));
            parts.collect::<Vec<_>>().join(",")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_told_apart() {
        let joined =
            |parts: &[&str]| joined(&parts.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>());
        assert_eq!(joined(&["a,b"]), "a,b");
        assert_ne!(joined(&["a,b", "c"]), joined(&["a", "b,c"]));
        assert_ne!(joined(&["a\\", "b"]), joined(&["a", "\\b"]));
        assert_eq!(joined(&["7", "1"]), "7,1");
    }
}
