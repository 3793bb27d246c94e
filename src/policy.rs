//! What to do when an attempt loses: accept it, or try again a bounded number of times.

use backon::{BackoffBuilder as _, ExponentialBackoff, ExponentialBuilder};
use std::time::Duration;

/// What to do when an attempt loses.
///
/// A policy tries again where a fresh row leaves the step possible: after [`Clash::Stale`](crate::Clash::Stale),
/// after [`Clash::Moved`](crate::Clash::Moved) when the attempt started from `AnyOrder`, and after
/// [`Clash::Behind`](crate::Clash::Behind). Every try asks the guard again, on what was just read.
///
/// Engine conflicts (deadlocks, serialization failures, a busy SQLite file) are another matter: under every policy
/// they restart the attempt as a whole within a small budget of their own.
///
/// ```
/// use onward::Policy;
/// use std::time::Duration;
///
/// let in_a_request = Policy::retry(3);
/// let in_a_worker = Policy::callback().delays(Duration::from_secs(5), Duration::from_secs(20));
/// assert_eq!((in_a_request.attempts(), in_a_worker.attempts()), (3, 3));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    attempts: u32,
    first: Duration,
    longest: Duration,
}

impl Policy {
    /// One attempt; a lost race is answered with what is there now. The default, and right for money.
    pub const fn return_current() -> Self {
        Self::retry(1)
    }

    /// At most this many attempts in all, for use within a request: delays grow from 5 ms to at most 200 ms.
    ///
    /// Zero counts as one.
    pub const fn retry(attempts: u32) -> Self {
        Self {
            attempts: if attempts == 0 { 1 } else { attempts },
            first: Duration::from_millis(5),
            longest: Duration::from_millis(200),
        }
    }

    /// For a message that may come before what it speaks of: three attempts, delays of 1 s, 2 s, … and at most 30 s.
    pub const fn callback() -> Self {
        Self { attempts: 3, first: Duration::from_secs(1), longest: Duration::from_secs(30) }
    }

    /// The same number of attempts with other delays: from `first`, doubling, to `longest`, each with jitter.
    pub const fn delays(self, first: Duration, longest: Duration) -> Self {
        Self { first, longest, ..self }
    }

    /// How often an attempt is made at the most.
    pub const fn attempts(self) -> u32 {
        self.attempts
    }

    /// The delay after this many attempts; `None` if no further one is allowed.
    pub(crate) fn delay_after(self, attempts: u32) -> Option<Duration> {
        self.backoff().nth(attempts.saturating_sub(1) as usize)
    }

    /// The delays between the attempts; it ends when no further attempt is allowed.
    pub(crate) fn backoff(self) -> ExponentialBackoff {
        ExponentialBuilder::default()
            .with_min_delay(self.first)
            .with_max_delay(self.longest)
            .with_jitter()
            .with_max_times(self.attempts as usize - 1)
            .build()
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::return_current()
    }
}

/// How often our own transaction restarts after an engine conflict before the answer is `Busy`.
const RESTARTS: u32 = 8;

/// The delays between such restarts.
pub(crate) fn restarts() -> ExponentialBackoff {
    Policy::retry(RESTARTS + 1).delays(Duration::from_millis(2), Duration::from_millis(250)).backoff()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_are_bounded_and_delays_grow_to_a_limit() {
        assert_eq!(Policy::return_current().backoff().count(), 0);
        assert_eq!(Policy::retry(0).attempts(), 1);
        assert_eq!(Policy::retry(4).backoff().count(), 3);
        // Jitter adds at most the delay itself.
        let delays: Vec<_> = Policy::callback().backoff().collect();
        assert_eq!(delays.len(), 2);
        assert!(delays[0] >= Duration::from_secs(1) && delays[0] <= Duration::from_secs(2));
        assert!(delays[1] >= Duration::from_secs(2) && delays[1] <= Duration::from_secs(4));
        let longest = Policy::retry(40).backoff().max().unwrap_or_default();
        assert!(longest <= Duration::from_millis(400));
    }
}
