//! A raw message: its bytes, some of its headers, the business key.

use crate::{headers, hex::hex};
use sha2::{Digest as _, Sha256};
use std::fmt;

/// A callback or message as it arrived. What is in it never reaches `Debug` or logs.
///
/// ```
/// use onward::inbox::Message;
///
/// let message = Message::new("trade_no=T-1&out_trade_no=N-1").header("content-type", "text/plain").key("N-1");
/// assert_eq!(message.business_key(), Some("N-1"));
/// assert!(!format!("{message:?}").contains("T-1"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Message {
    body: Vec<u8>,
    headers: Vec<(String, String)>,
    key: Option<String>,
}

impl Message {
    /// The bytes of the body, before anything was made of them.
    pub fn new(body: impl Into<Vec<u8>>) -> Self {
        Self { body: body.into(), headers: Vec::new(), key: None }
    }

    /// A header that should be kept, such as the signature.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// What it is about, an order number for instance: it can be looked for later.
    pub fn key(mut self, business_key: impl Into<String>) -> Self {
        self.key = Some(business_key.into());
        self
    }

    /// The bytes.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// The headers that were kept, in their order.
    pub fn headers(&self) -> &[(String, String)] {
        &self.headers
    }

    /// The key given to [`key`](Message::key).
    pub fn business_key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// The SHA-256 of the body, in hexadecimal: an id for messages that bear none.
    pub fn digest(&self) -> String {
        hex(&self.sha256())
    }

    pub(crate) fn sha256(&self) -> Vec<u8> {
        Sha256::digest(&self.body).to_vec()
    }

    /// The first bytes of body and headers, and the key if it is not too long.
    pub(crate) fn cut(&self, bytes: usize, key: usize) -> Self {
        let mut left = bytes;
        let mut headers = Vec::new();
        for (name, value) in &self.headers {
            let Some(rest) = left.checked_sub(name.len() + value.len()) else { break };
            left = rest;
            headers.push((name.clone(), value.clone()));
        }
        Self {
            headers,
            body: self.body.iter().take(bytes).copied().collect(),
            key: self.key.clone().filter(|name| name.len() <= key && !name.contains('\0')),
        }
    }

    pub(crate) fn of_row(body: Vec<u8>, headers: &str, key: Option<String>) -> Self {
        Self { body, headers: headers::read(headers), key }
    }

    /// A line for each header.
    pub(crate) fn headers_text(&self) -> String {
        headers::text(&self.headers)
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message").field("bytes", &self.body.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_verified_is_cut() {
        let message = Message::new(vec![7; 100]).header("a", "1234").header("b", "123456789").key("long key");
        let cut = message.cut(10, 4);
        assert_eq!((cut.body.len(), cut.headers.len(), cut.key), (10, 1, None));
    }

    #[test]
    fn the_digest_is_that_of_the_body() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Message::new("").header("a", "b").digest(), empty);
    }
}
