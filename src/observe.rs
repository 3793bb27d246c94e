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
use tracing::{Level, enabled, event};

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
    let level = match answer {
        Answer::Settled => Level::DEBUG,
        Answer::Later => Level::INFO,
        Answer::Escalate => Level::WARN,
    };
    record(plan, stamp, attempts, outcome, level);
}

pub(crate) fn failed<P: Plan>(plan: &P, stamp: &Stamp, attempts: u32, error: &Error) {
    record(plan, stamp, attempts, error.kind().as_str(), Level::ERROR);
}

fn record<P: Plan>(plan: &P, stamp: &Stamp, attempts: u32, outcome: &'static str, level: Level) {
    // `tracing` wants the level of an event at compile time.
    macro_rules! at {
        ($($level:ident)*) => { $(
            if level == Level::$level && enabled!(target: "onward", Level::$level) {
                event!(
                    target: "onward",
                    Level::$level,
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
        )* };
    }
    at!(DEBUG INFO WARN ERROR);
}
