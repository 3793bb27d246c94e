//! An answer, as it is stored and given again.

use std::fmt;

/// What a request is answered, a failure as well as a success: a number of yours, such as an HTTP status, and any bytes.
/// `Debug` shows how many.
#[derive(Clone, PartialEq, Eq)]
pub struct Reply {
    status: u16,
    body: Vec<u8>,
}

impl Reply {
    /// An answer.
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, body: body.into() }
    }

    /// The number.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// The bytes.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// The bytes, without a copy.
    pub fn into_body(self) -> Vec<u8> {
        self.body
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply").field("status", &self.status).field("bytes", &self.body.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_bytes_are_not_shown() {
        assert_eq!(format!("{:?}", Reply::new(200, "secret")), "Reply { status: 200, bytes: 6 }");
    }
}
