//! What is claimed and by whom, and what a store knows of it.

use super::Reply;
use crate::clock;
use std::{sync::OnceLock, time::Duration};

/// What is claimed, and by whom.
#[doc(hidden)]
#[derive(Debug)]
pub struct Held {
    pub(super) business: String,
    pub(super) key: String,
    /// The hash of what makes two requests the same.
    pub(super) fingerprint: Vec<u8>,
    /// Told apart from every other call.
    pub(super) owner: String,
    pub(super) expires: Duration,
    pub(super) keeps: Duration,
    /// Made when it is first asked for.
    pub(super) request_id: OnceLock<String>,
}

impl Held {
    /// From now, in milliseconds, when others may take over.
    pub(super) fn ends(&self) -> i64 {
        clock::millis(self.expires).max(1)
    }

    /// From now, in milliseconds, how long a claim is known, finished or not.
    pub(super) fn known(&self) -> i64 {
        clock::millis(self.expires.saturating_add(self.keeps)).max(1)
    }

    /// From now, in milliseconds, how long an answer is known.
    pub(super) fn kept(&self) -> i64 {
        clock::millis(self.keeps).max(1)
    }
}

/// What a store knows of a key.
#[doc(hidden)]
#[derive(Debug)]
pub enum Found {
    Ours,
    InProgress { left: Duration },
    Answered(Reply),
    OtherPayload,
}

impl Found {
    pub(super) fn as_str(&self) -> &'static str {
        match self {
            Self::Ours => "owned",
            Self::InProgress { .. } => "in_progress",
            Self::Answered(_) => "answered",
            Self::OtherPayload => "other_payload",
        }
    }
}
