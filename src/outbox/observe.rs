//! A `tracing` event for whatever happens to an entry: `outbox`, `topic`, `event_id`, `attempts`, `outcome`; no payload.

use crate::{
    observe::{event_at, level},
    outbox::{Outbox, entry::Entry},
    outcome::Answer,
};

pub(crate) fn told(outbox: &Outbox, entry: &Entry, outcome: &str, answer: Answer) {
    event_at!(
        level(answer),
        outbox = outbox.name,
        topic = entry.topic,
        event_id = entry.event_id,
        attempts = entry.attempts,
        outcome,
    );
}
