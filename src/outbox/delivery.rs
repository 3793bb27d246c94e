//! An event that a relay has claimed, on its way to be published.

use crate::outbox::{entry::Entry, event::Event};
use std::{
    fmt,
    ops::Deref,
    time::{Duration, Instant, SystemTime},
};

/// An event to be published. It derefs to the [`Event`].
#[derive(Clone)]
pub struct Delivery {
    pub(crate) entry: Entry,
    /// When it was claimed, or a little earlier.
    since: Instant,
    event: Event,
}

impl Delivery {
    pub(crate) fn new(entry: Entry, event: Event, since: Instant) -> Self {
        Self { entry, since, event }
    }

    /// What is left of a claim that holds for so long.
    pub(crate) fn left(&self, claim_for: Duration) -> Duration {
        claim_for.saturating_sub(self.since.elapsed())
    }

    /// What receivers know it by: send it along. It is the same whenever this event is sent, so a receiver that
    /// remembers it does its work once.
    pub fn id(&self) -> &str {
        &self.entry.event_id
    }

    /// How often it was claimed, this time included.
    pub fn attempts(&self) -> u32 {
        self.entry.attempts
    }

    /// When it was written, by the database's clock.
    pub fn written_at(&self) -> SystemTime {
        self.entry.written_at
    }
}

impl Deref for Delivery {
    type Target = Event;

    fn deref(&self) -> &Event {
        &self.event
    }
}

impl fmt::Debug for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Delivery").field(&self.entry).finish()
    }
}
