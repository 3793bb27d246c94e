//! What is noted beside an entry that did not work out, for a person.

use std::error::Error;

/// A person needs no more of it.
const CHARS: usize = 2_000;

/// A note as it is stored.
pub(crate) fn short(note: &str) -> String {
    // PostgreSQL has no place for a zero in a text.
    note.replace('\0', "").chars().take(CHARS).collect()
}

/// What an error and its sources say.
pub(crate) fn of(error: &(dyn Error + 'static)) -> String {
    let mut note = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        note.push_str(": ");
        note.push_str(&error.to_string());
        source = error.source();
    }
    note
}
