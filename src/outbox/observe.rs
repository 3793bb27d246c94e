//! A `tracing` event for whatever happens to an entry: `outbox`, `topic`, `event_id`, `attempts`, `outcome`; no payload.

use crate::{
    outbox::{Outbox, entry::Entry},
    outcome::Answer,
};
use tracing::{Level, enabled, event};

pub(crate) fn told(outbox: &Outbox, entry: &Entry, outcome: &str, answer: Answer) {
    let level = match answer {
        Answer::Settled => Level::DEBUG,
        Answer::Later => Level::INFO,
        Answer::Escalate => Level::WARN,
    };
    // `tracing` wants the level of an event at compile time.
    macro_rules! at {
        ($($level:ident)*) => { $(
            if level == Level::$level && enabled!(target: "onward", Level::$level) {
                event!(
                    target: "onward",
                    Level::$level,
                    outbox = outbox.name,
                    topic = entry.topic,
                    event_id = entry.event_id,
                    attempts = entry.attempts,
                    outcome,
                );
            }
        )* };
    }
    at!(DEBUG INFO WARN);
}
