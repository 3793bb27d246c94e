//! What one step of the flow was answered, and whether that was true.

use onward::{BoxError, Error, ErrorKind, Outcome};

/// What an answer says about a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Says {
    Yes,
    /// And it never will be.
    No,
    Nothing,
    /// An order's step cannot be told.
    Unknown,
    /// What can only be when somebody else was there.
    Nonsense,
}

/// What one step was answered.
pub struct Answer {
    pub step: &'static str,
    pub told: String,
    pub says: Says,
    /// A count by SQL, and from how many on it holds.
    pub fact: (String, i64),
    pub held_at_once: bool,
}

impl Answer {
    /// Whether it was true, by whether the fact holds in the end.
    pub fn is_true(&self, holds: bool) -> bool {
        match self.says {
            Says::Yes => self.held_at_once && holds,
            Says::No => !holds,
            Says::Nothing | Says::Unknown => true,
            Says::Nonsense => false,
        }
    }
}

pub fn of_outcome<T: onward::Handle>(outcome: &Result<Outcome<T>, Error>) -> (String, Says) {
    match outcome {
        Ok(outcome) => {
            let says = match outcome {
                Outcome::Applied(_) | Outcome::Duplicate(_) => Says::Yes,
                Outcome::NotFound => Says::No,
                _ => Says::Nonsense,
            };
            (outcome.as_str().into(), says)
        }
        Err(error) => of_error(error.kind()),
    }
}

pub fn of_error(kind: ErrorKind) -> (String, Says) {
    (format!("{kind:?}"), if kind == ErrorKind::CommitUnknown { Says::Unknown } else { Says::No })
}

/// That an order took this step.
pub fn entry(id: i64, step: &str) -> (String, i64) {
    let of = "SELECT COUNT(*) FROM order_journal WHERE";
    (format!("{of} row_key = {id} AND transition = '{step}'"), 1)
}

pub fn kind_of(error: &BoxError) -> ErrorKind {
    error.downcast_ref().map_or(ErrorKind::Effect, Error::kind)
}
