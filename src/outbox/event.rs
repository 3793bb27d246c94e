//! What an event says: topic, key, payload, headers, the version of its row.

use crate::headers;
use std::fmt;

/// Something that happened, to be told to others. Its payload, headers and key never reach `Debug` or logs.
///
/// ```
/// use onward::outbox::Event;
///
/// let event = Event::new("order.paid", "order-1", r#"{"order":1}"#).header("content-type", "application/json").version(1);
/// assert_eq!((event.topic(), event.key(), event.row_version()), ("order.paid", "order-1", Some(1)));
/// assert!(!format!("{event:?}").contains("order-1"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Event {
    topic: String,
    key: String,
    payload: Vec<u8>,
    headers: Vec<(String, String)>,
    row_version: Option<i64>,
}

impl Event {
    /// An event of this topic, at most 512 bytes. Events of one key, likewise, are sent in order, whatever their topics;
    /// let it name the row: `order-1`.
    pub fn new(topic: impl Into<String>, key: impl Into<String>, payload: impl Into<Vec<u8>>) -> Self {
        Self {
            topic: topic.into(),
            key: key.into(),
            payload: payload.into(),
            headers: Vec::new(),
            row_version: None,
        }
    }

    /// A header that goes with it.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// The version of the row that it tells about, `paid.version()`: a receiver that has seen a higher one knows that
    /// this is old.
    pub fn version(mut self, version: i64) -> Self {
        self.row_version = Some(version);
        self
    }

    /// What it is about.
    pub fn topic(&self) -> &str {
        &self.topic
    }

    /// What it is in order with.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The bytes.
    pub fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// The headers in their order.
    pub fn headers(&self) -> &[(String, String)] {
        &self.headers
    }

    /// The version of the row, if it was given.
    pub fn row_version(&self) -> Option<i64> {
        self.row_version
    }

    pub(crate) fn headers_text(&self) -> String {
        headers::text(&self.headers)
    }

    pub(crate) fn of_row(
        topic: String,
        key: String,
        payload: Vec<u8>,
        headers: &str,
        row_version: Option<i64>,
    ) -> Self {
        Self { topic, key, payload, headers: headers::read(headers), row_version }
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event")
            .field("topic", &self.topic)
            .field("bytes", &self.payload.len())
            .field("row_version", &self.row_version)
            .finish_non_exhaustive()
    }
}
