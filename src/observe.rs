//! A `tracing` event for every outcome, with the target `onward`.
//!
//! Each has `lifecycle`, `transition`, `key`, `cause`, `request_id`, `actor`, `attempts` and `outcome`; no fact but the cause.

use crate::{
    error::Error,
    journal::Stamp,
    lifecycle::Lifecycle,
    outcome::{Answer, Loss},
    plan::Plan,
};
use tracing::Level;

/// An event whose level is known at run time only; `tracing` wants it at compile time.
macro_rules! event_at {
    ($level:expr, $($fields:tt)*) => {
        match $level {
            tracing::Level::DEBUG => tracing::event!(target: "onward", tracing::Level::DEBUG, $($fields)*),
            tracing::Level::INFO => tracing::event!(target: "onward", tracing::Level::INFO, $($fields)*),
            tracing::Level::WARN => tracing::event!(target: "onward", tracing::Level::WARN, $($fields)*),
            _ => tracing::event!(target: "onward", tracing::Level::ERROR, $($fields)*),
        }
    };
}
pub(crate) use event_at;

/// How loud an event is, by what a handler does about it.
pub(crate) fn level(answer: Answer) -> Level {
    match answer {
        Answer::Settled => Level::DEBUG,
        Answer::Later => Level::INFO,
        Answer::Escalate => Level::WARN,
    }
}

pub(crate) fn applied<P: Plan>(plan: &P, stamp: &Stamp, attempts: u32) {
    record(plan, stamp, attempts, "applied", Level::DEBUG);
}

pub(crate) fn refused<P: Plan>(plan: &P, stamp: &Stamp, attempts: u32) {
    record(plan, stamp, attempts, "refused", Level::WARN);
}

pub(crate) fn loss<P: Plan>(plan: &P, stamp: &Stamp, attempts: u32, loss: &Loss<P::Any>) {
    let (outcome, answer) = match loss {
        Loss::Duplicate(_) => ("duplicate", Answer::Settled),
        Loss::Refused(_) => ("refused", Answer::Escalate),
        Loss::Conflict(conflict) => (conflict.clash.as_str(), conflict.clash.answer()),
        Loss::NotFound => ("not_found", Answer::Later),
    };
    record(plan, stamp, attempts, outcome, level(answer));
}

pub(crate) fn failed<P: Plan>(plan: &P, stamp: &Stamp, attempts: u32, error: &Error) {
    record(plan, stamp, attempts, error.kind().as_str(), Level::ERROR);
}

fn record<P: Plan>(plan: &P, stamp: &Stamp, attempts: u32, outcome: &'static str, level: Level) {
    event_at!(
        level,
        lifecycle = P::Any::DESCRIPTION.name,
        transition = plan.name(),
        key = ?plan.key(),
        cause = plan.cause().map(|(cause, _)| cause).as_ref().or(stamp.cause.as_ref()),
        request_id = stamp.request,
        actor = stamp.actor,
        attempts,
        outcome,
    );
}
