//! One entry of the inbox, without its payload.

use crate::{
    backend::Backend,
    error::{Error, ErrorKind},
    inbox::message::Message,
    outcome::Answer,
    query::{required, text},
};
use std::{fmt, time::SystemTime};

pub(crate) const TABLE: &str = "onward_inbox";

/// A SELECT of what [`Entry::decode`] reads, and of what [`message`] reads.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, source, message_id, variant, business_key, status, version, attempts, outcome, note, \
             {micros:received_at}, digest FROM onward_inbox ",
            $rest
        )
    };
    (all $rest:literal) => {
        concat!(
            "SELECT id, source, message_id, variant, business_key, status, version, attempts, outcome, note, \
             {micros:received_at}, digest, headers, body FROM onward_inbox ",
            $rest
        )
    };
}
pub(crate) use select;

/// Where an entry stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// Stored, and not worked on yet.
    Received,
    /// Somebody works on it, or died doing so: then it can be taken over once the claim has run out.
    Claimed,
    /// The work took effect.
    Applied,
    /// It had taken effect before, by another message.
    Duplicate,
    /// The business said no, and nobody has to look at it.
    Refused,
    /// It did not work out, and is tried again later.
    Failed,
    /// A person has to look at it: every attempt failed, or money may be owed.
    NeedsAttention,
    /// A person has looked at it.
    Closed,
}

impl Status {
    /// A stable name, as it is stored.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// What whoever delivered the message is answered.
    ///
    /// [`Escalate`](Answer::Escalate) is a success to them: it is kept here, and coming again would not help.
    pub fn answer(self) -> Answer {
        match self {
            Self::Applied | Self::Duplicate | Self::Refused | Self::Closed => Answer::Settled,
            Self::NeedsAttention => Answer::Escalate,
            Self::Received | Self::Claimed | Self::Failed => Answer::Later,
        }
    }
}

/// What is known about a message that was stored; its payload is a [`Message`].
#[derive(Clone)]
#[non_exhaustive]
pub struct Entry {
    /// Its number in the inbox.
    pub id: i64,
    /// Where it came from, as given to [`Inbox::new`](crate::inbox::Inbox::new).
    pub source: String,
    /// Its id there.
    pub message_id: String,
    /// Another payload came under this id before. It is processed like any other; whether it means the same is told by
    /// its cause.
    pub changed: bool,
    /// What it is about.
    pub business_key: Option<String>,
    /// Where it stands.
    pub status: Status,
    /// How often it was claimed since it was received or given back.
    pub attempts: u32,
    /// What became of the last attempt, in one word: `applied`, `other_cause`, `effect`, …
    pub outcome: Option<String>,
    /// The error of the last attempt, or what a person noted.
    pub note: Option<String>,
    /// When it was stored, by the database's clock.
    pub received_at: SystemTime,
    pub(crate) version: i64,
    pub(crate) digest: Vec<u8>,
}

impl Entry {
    pub(crate) fn decode<B: Backend>(row: &B::Row) -> Result<Self, Error> {
        let id: i64 = required::<B, _>(row, 0, TABLE)?;
        let named = |column| text::<B>(row, column, TABLE);
        let failed = |what: String| Error::new(ErrorKind::Unreadable, TABLE).key(&id).note(what);
        let status = named(5)?.unwrap_or_default();
        Ok(Self {
            id,
            source: named(1)?.unwrap_or_default(),
            message_id: named(2)?.unwrap_or_default(),
            changed: named(3)?.is_some_and(|variant| !variant.is_empty()),
            business_key: named(4)?,
            status: status.parse().map_err(|_| failed(format!("`{status}` is no known status")))?,
            version: required::<B, _>(row, 6, TABLE)?,
            attempts: u32::try_from(required::<B, i64>(row, 7, TABLE)?)
                .map_err(|_| failed("its attempts are out of range".into()))?,
            outcome: named(8)?,
            note: named(9)?,
            received_at: crate::clock::time(required::<B, _>(row, 10, TABLE)?),
            digest: required::<B, _>(row, 11, TABLE)?,
        })
    }
}

/// The payload in a row of `select!(all …)`.
pub(crate) fn message<B: Backend>(row: &B::Row) -> Result<Message, Error> {
    let headers = text::<B>(row, 12, TABLE)?.unwrap_or_default();
    Ok(Message::of_row(required::<B, _>(row, 13, TABLE)?, &headers, text::<B>(row, 4, TABLE)?))
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("id", &self.id)
            .field("source", &self.source)
            .field("message_id", &self.message_id)
            .field("changed", &self.changed)
            .field("status", &self.status)
            .field("attempts", &self.attempts)
            .field("outcome", &self.outcome)
            .finish_non_exhaustive()
    }
}
