//! One entry of the outbox, without its payload.

use crate::{
    backend::{Backend, Supports},
    error::{Error, ErrorKind},
    outbox::event::Event,
    query::{required, text},
};
use std::{fmt, time::SystemTime};

pub(crate) const TABLE: &str = "onward_outbox";

/// A SELECT of what [`Entry::decode`] reads, of [`event`] too, and of a key's oldest event that is not done.
macro_rules! select {
    (@ $more:literal $rest:literal) => {
        concat!(
            "SELECT e.id, e.event_id, e.topic, e.event_key, e.row_version, e.status, e.version, e.attempts, e.note, \
             {micros:e.written_at}",
            $more,
            " FROM onward_outbox e ",
            $rest
        )
    };
    ($rest:literal) => {
        select!(@ "" $rest)
    };
    (all $rest:literal) => {
        select!(@ ", e.headers, e.payload" $rest)
    };
    (oldest $rest:literal) => {
        select!(
            @ ", (SELECT o.id FROM onward_outbox o WHERE o.outbox = e.outbox AND o.event_key = e.event_key \
              AND o.done_at IS NULL ORDER BY {behind:o.id} LIMIT 1)"
            $rest
        )
    };
}
pub(crate) use select;

/// Where an event stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// Written, and not sent yet.
    Pending,
    /// A relay is about to publish it, or died doing so: then it is claimed again once the claim has run out.
    Claimed,
    /// It could not be published, and is tried again later.
    Failed,
    /// A person has to look at it: no attempt succeeded. Later events of its key wait.
    NeedsAttention,
    /// Published, at least once.
    Sent,
    /// A person has skipped it: it is not sent any more.
    Closed,
}

impl Status {
    /// A stable name, as it is stored.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// What is known about an event that was written; what it says is an [`Event`].
#[derive(Clone)]
#[non_exhaustive]
pub struct Entry {
    /// Its number in the outbox. Numbers say nothing about the order of commits.
    pub id: i64,
    /// What receivers know it by; the same whenever it is sent.
    pub event_id: String,
    /// What it is about.
    pub topic: String,
    /// What it is in order with.
    pub key: String,
    /// The version of its row, if it was given.
    pub row_version: Option<i64>,
    /// Where it stands.
    pub status: Status,
    /// How often it was claimed since it was written or given back.
    pub attempts: u32,
    /// The error of the last attempt, or what a person noted.
    pub note: Option<String>,
    /// When it was written, by the database's clock.
    pub written_at: SystemTime,
    pub(crate) version: i64,
}

impl Entry {
    pub(crate) fn decode<B: Backend>(row: &B::Row) -> Result<Self, Error> {
        let id: i64 = required::<B, _>(row, 0, TABLE)?;
        let named = |column| text::<B>(row, column, TABLE);
        let failed = |what: String| Error::new(ErrorKind::Unreadable, TABLE).key(&id).note(what);
        let status = named(5)?.unwrap_or_default();
        let row_version = <B as Supports<i64>>::get(row, 4);
        Ok(Self {
            id,
            event_id: named(1)?.unwrap_or_default(),
            topic: named(2)?.unwrap_or_default(),
            key: named(3)?.unwrap_or_default(),
            row_version: row_version.map_err(|error| failed("its row's version".into()).source(error))?,
            status: status.parse().map_err(|_| failed(format!("`{status}` is no known status")))?,
            version: required::<B, _>(row, 6, TABLE)?,
            attempts: u32::try_from(required::<B, i64>(row, 7, TABLE)?)
                .map_err(|_| failed("its attempts are out of range".into()))?,
            note: named(8)?,
            written_at: crate::clock::time(required::<B, _>(row, 9, TABLE)?),
        })
    }

    /// What the event says, in a row of `select!(all …)`.
    pub(crate) fn event<B: Backend>(&self, row: &B::Row) -> Result<Event, Error> {
        let headers = text::<B>(row, 10, TABLE)?.unwrap_or_default();
        let payload = required::<B, _>(row, 11, TABLE)?;
        Ok(Event::of_row(self.topic.clone(), self.key.clone(), payload, &headers, self.row_version))
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("id", &self.id)
            .field("event_id", &self.event_id)
            .field("topic", &self.topic)
            .field("row_version", &self.row_version)
            .field("status", &self.status)
            .field("attempts", &self.attempts)
            .finish_non_exhaustive()
    }
}
