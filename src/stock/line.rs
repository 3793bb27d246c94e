//! A line of an order: how many of what.

use std::fmt;

/// An article as its table knows it: written everywhere as it is there, since a collation for which `Tea` is `tea` is not
/// that of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Article {
    /// An integer key.
    Integer(i64),
    /// A text key.
    Text(String),
}

impl fmt::Display for Article {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(number) => number.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

macro_rules! integers {
    ($($t:ty),*) => { $(
        impl From<$t> for Article {
            fn from(number: $t) -> Self {
                Self::Integer(number.into())
            }
        }
    )* };
}
integers!(i64, i32, i16, u32);

impl From<&str> for Article {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Article {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&String> for Article {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

/// So many of an article, on a line of an order.
///
/// The line is known by its article, unless it has a name of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub(super) article: Article,
    pub(super) quantity: i64,
    pub(super) name: String,
}

impl Line {
    /// So many of this article.
    pub fn new(article: impl Into<Article>, quantity: i64) -> Self {
        let article = article.into();
        Self { name: article.to_string(), article, quantity }
    }

    /// The line's own name, such as its number: where an order has several lines of the same article.
    pub fn named(mut self, line: impl Into<String>) -> Self {
        self.name = line.into();
        self
    }
}
