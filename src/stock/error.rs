//! Why stock was not moved.

use crate::{error::Error, stock::line::Article};

/// Why stock was not moved. All lines of the call are as they were.
///
/// In the closure of `apply_with` it goes with `?`, into its own type or a [`BoxError`](crate::BoxError), and comes back
/// from [`Error::effect`]: `error.effect::<StockError>()`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StockError {
    /// There are not as many.
    #[error("{wanted} of article {article} are wanted, {available} are available")]
    Shortage {
        /// Of what.
        article: Article,
        /// How many the line asks for.
        wanted: i64,
        /// How many there are when the line's turn comes: less what earlier lines of the call took.
        available: i64,
    },
    /// The stock's table has no such article.
    #[error("there is no article {article}")]
    UnknownArticle {
        /// The article.
        article: Article,
    },
    /// The order has less than that reserved: it never was, or it was confirmed or released before.
    #[error("{wanted} on line {line} are to be confirmed or released, {held} are reserved")]
    NotHeld {
        /// The line's name.
        line: String,
        /// How many were to be confirmed or released.
        wanted: i64,
        /// How many the order still has reserved on it.
        held: i64,
    },
    /// The order has taken less than that, or it was restored before.
    #[error("{wanted} on line {line} are to be restored, {taken} are taken")]
    NotTaken {
        /// The line's name.
        line: String,
        /// How many were to be restored.
        wanted: i64,
        /// How many the order has taken on it and not put back.
        taken: i64,
    },
    /// The operation did this before with another article or quantity: it is no repeat.
    #[error("line {line} of this operation was {before} of article {article} before")]
    Changed {
        /// The line's name.
        line: String,
        /// The article that it was before.
        article: String,
        /// How many it was before.
        before: i64,
    },
    /// A quantity that is zero or less.
    #[error("a quantity of {quantity} of article {article} cannot be moved")]
    Quantity {
        /// Of what.
        article: Article,
        /// How many.
        quantity: i64,
    },
    /// Two lines of one call have the same name: give each its own by [`Line::named`](crate::stock::Line::named).
    #[error("two lines have the name {line}")]
    SameLine {
        /// The name.
        line: String,
    },
    /// The sum would be more than 64 bits can hold.
    #[error("there would be too many of article {article}")]
    Overflow {
        /// Of what.
        article: Article,
    },
    /// A fault, as everywhere else; what happened is in its [`kind`](Error::kind).
    #[error("{0}")]
    Fault(#[from] Error),
}
