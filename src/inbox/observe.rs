//! A `tracing` event for whatever happens to an entry: `source`, `message_id`, `attempts`, `outcome`; no payload.

use crate::{
    inbox::entry::Entry,
    observe::{event_at, level},
    outcome::Answer,
};

pub(crate) fn told(entry: &Entry, outcome: &str, answer: Answer) {
    event_at!(
        level(answer),
        source = entry.source,
        message_id = entry.message_id,
        attempts = entry.attempts,
        outcome,
    );
}
