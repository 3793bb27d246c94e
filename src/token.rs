//! One-time tokens: a form that is sent twice is worked on once.
//!
//! The server issues a token with the form, and whoever sends the form shows it. It is consumed **before** the work, and
//! atomically: of many who show it at once, one goes on. Deleting it after the work, as some texts have it, lets all of them
//! through that come while the first is still working.
//!
//! A token is a door, not the last word: the work may fail after it was consumed, and whoever keeps the tokens may lose
//! them. So its hash goes with the work as the [`request_id`](crate::Attempt::request_id), which the lifecycle's journal
//! makes unique (or as the key of [`once`](crate::once())): what was done under it is not done again, whatever became of the token.
//!
//! 128 bits of the system's generator, bound to a purpose and a subject, with an expiry; only the hash is stored.
//! Tokens are kept in the database (`&pool`; the table comes with [`migrate`](crate::migrate)) or in Redis
//! (`redis::Redis`, feature `redis`).
//!
//! If they cannot be reached, `issue` and `consume` are errors, and **no work is done**: right for money. A form may fall
//! through to another store, if you say so: [`OrElse`].
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/journalled.rs"));
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), onward::BoxError> {
//! # let (db, _) = example().await?;
//! use onward::{Answer, token::{Consumed, Tokens}};
//! onward::migrate(&db).await?;
//! let tokens = Tokens::new(&db, "cancel-order");
//!
//! // With the form, for this customer and this order:
//! let token = tokens.issue("customer 7, order 1").await?;
//! let field: &str = token.secret();
//!
//! // When it comes back; a second click finds the token used, and goes the same way.
//! # for answer in ["applied", "duplicate"] {
//! // So does a first whose work failed: the same form can be sent again.
//! let receipt = match tokens.consume("customer 7, order 1", field).await? {
//!     Consumed::Fresh(receipt) | Consumed::Used(receipt) => receipt,
//!     Consumed::Expired | Consumed::Unknown => return Ok(()), // show the form again
//! };
//! let Some(order) = AnyOrder::find(&db, 1).await? else { return Ok(()) };
//! let outcome = order.cancel().request_id(receipt.request_id()).apply(&db).await?;
//! assert_eq!(outcome.answer(), Answer::Settled);
//! # assert_eq!(outcome.as_str(), answer);
//! # }
//! # Ok(())
//! # }
//! ```

mod or_else;
#[cfg(feature = "redis")]
mod redis;
mod sql;

pub use or_else::OrElse;

use crate::{
    digest::digest,
    error::{Error, ErrorKind},
    handle::Handle,
    hex::hex,
    journal::REQUEST,
    outcome::{Answer, Clash, Outcome},
    query::{SOURCE, fits},
};
use std::{future::Future, time::Duration};

const TABLE: &str = "onward_token";

/// Where tokens are kept: `&pool`, `&redis`, or [`OrElse`] of two.
pub trait TokenStore: sealed::Store {}

mod sealed {
    use super::{Draw, Duration, Error, Found, Future, Token};

    pub trait Store: Clone + Send + Sync + 'static {
        /// Keeps a token that it draws.
        fn put(
            &self,
            purpose: &str,
            lifetime: Duration,
            draw: &impl Draw,
        ) -> impl Future<Output = Result<Token, Error>> + Send;

        /// Marks it as used, unless it is expired, and says what it was before. Whoever gets no reply asks again, and finds it
        /// used by itself: a database knows that.
        fn take(
            &self,
            purpose: &str,
            hash: &str,
            lifetime: Duration,
        ) -> impl Future<Output = Result<Found, Error>> + Send;
    }
}
pub(crate) use sealed::Store;

/// Draws a token and says what is stored of it: another one each time, so that no secret is ever in two stores.
#[doc(hidden)]
pub trait Draw: Fn() -> Result<(Token, String), Error> + Sync {}

impl<F: Fn() -> Result<(Token, String), Error> + Sync> Draw for F {}

/// What a store knows of a token.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    Fresh,
    Used,
    Expired,
    Unknown,
}

/// Issues and consumes the tokens of one purpose.
#[derive(Debug, Clone)]
pub struct Tokens<S> {
    store: S,
    purpose: String,
    lifetime: Duration,
}

/// A token that was just issued. Its secret is shown nowhere else, and not by `Debug`.
#[derive(Clone)]
pub struct Token {
    secret: String,
}

impl Token {
    /// What goes into the form: 32 hexadecimal digits.
    pub fn secret(&self) -> &str {
        &self.secret
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}

/// What became of a token that somebody showed.
#[derive(Debug, Clone)]
#[must_use = "the work belongs to a fresh token"]
pub enum Consumed {
    /// It was not used before, and now it is.
    Fresh(Receipt),
    /// It was used before: a second click, or a first whose work failed or is still running, or whose reply Redis did not
    /// get through. Work that carries the receipt's request id may run again: it is a repeat, or it is done now, for the
    /// first time.
    Used(Receipt),
    /// Its time was over before anybody used it. Once it is purged it is unknown; in Redis at once.
    Expired,
    /// It was never issued, or for another purpose or subject, or is forgotten by now.
    Unknown,
}

/// Under which request id the work is done.
#[derive(Debug, Clone)]
pub struct Receipt {
    subject: String,
    request_id: String,
    /// Whether it was this call that consumed it.
    fresh: bool,
}

impl Receipt {
    /// The token's hash: 64 hexadecimal digits.
    pub fn request_id(&self) -> &str {
        &self.request_id
    }
}

impl<S: TokenStore> Tokens<S> {
    /// For one purpose (a form, a button), of at most 64 bytes; tokens last 10 minutes.
    pub fn new(store: &S, purpose: impl Into<String>) -> Self {
        Self { store: store.clone(), purpose: purpose.into(), lifetime: Duration::from_mins(10) }
    }

    /// How long a token can be used, by the store's clock.
    pub fn lifetime(self, lifetime: Duration) -> Self {
        Self { lifetime, ..self }
    }

    /// Issues a token that holds for this subject alone: who may use it, and for what.
    ///
    /// # Errors
    ///
    /// [`TooLong`](ErrorKind::TooLong) for a purpose of more than 64 bytes, [`Busy`](ErrorKind::Busy), [`Database`](ErrorKind::Database),
    /// [`CommitUnknown`](ErrorKind::CommitUnknown): then issue another one.
    pub fn issue(&self, subject: &str) -> impl Future<Output = Result<Token, Error>> + Send + '_ {
        let subject = subject.to_owned();
        async move {
            let draw = || {
                let secret = secret()?;
                let hash = hash(&self.purpose, &subject, &secret);
                Ok((Token { secret }, hash))
            };
            fits(&self.purpose, SOURCE, "purpose", TABLE)?;
            let token = self.store.put(&self.purpose, self.lifetime, &draw).await;
            token.map_err(|error| self.failed(error))
        }
    }

    /// Consumes a token before the work: of all who show it, one finds it fresh.
    ///
    /// It is committed at once, and what is done under it comes afterwards, in a transaction of its own. A reply that is
    /// lost is settled by asking again: in a database whoever consumed it is kept beside it, in Redis it is then `Used`.
    ///
    /// # Errors
    ///
    /// [`Busy`](ErrorKind::Busy), [`Database`](ErrorKind::Database) if the store cannot be reached, [`CommitUnknown`](ErrorKind::CommitUnknown) if it
    /// stopped answering. **Do no work then**: show the form again, or take the token the next time for used.
    pub fn consume(
        &self,
        subject: &str,
        secret: &str,
    ) -> impl Future<Output = Result<Consumed, Error>> + Send + '_ {
        let request_id = hash(&self.purpose, subject, secret);
        let mut receipt = Receipt { subject: subject.to_owned(), request_id, fresh: false };
        async move {
            let found = self.store.take(&self.purpose, &receipt.request_id, self.lifetime).await;
            let found = found.map_err(|error| self.failed(error))?;
            tracing::debug!(target: "onward", purpose = self.purpose, outcome = ?found, "token");
            Ok(match found {
                Found::Fresh => {
                    receipt.fresh = true;
                    Consumed::Fresh(receipt)
                }
                Found::Used => Consumed::Used(receipt),
                Found::Expired => Consumed::Expired,
                Found::Unknown => Consumed::Unknown,
            })
        }
    }

    /// Issues another token for the same subject if the work was certainly not applied: `None` if it was, or may have been.
    ///
    /// For forms of which only a [fresh](Consumed::Fresh) token does the work. Where a used one does it, too, show the same token
    /// again: the first may still be at work, and what is sent with another token is another request. So of a used one this
    /// is always `None`.
    ///
    /// # Errors
    ///
    /// As for [`issue`](Tokens::issue).
    pub fn replace_after<T: Handle>(
        &self,
        receipt: &Receipt,
        result: &Result<Outcome<T>, Error>,
    ) -> impl Future<Output = Result<Option<Token>, Error>> + Send + use<'_, S, T> {
        let subject = match result {
            _ if !receipt.fresh => None,
            Ok(outcome) if outcome.answer() == Answer::Settled => None,
            // This very request has moved another row; or whatever it was that an index refused.
            Ok(Outcome::Conflict(conflict))
                if matches!(conflict.clash, Clash::UniqueTaken(None | Some(REQUEST))) =>
            {
                None
            }
            Err(error) if !error.is_known_not_applied() => None,
            _ => Some(receipt.subject.clone()),
        };
        async move {
            match subject {
                Some(subject) => self.issue(&subject).await.map(Some),
                None => Ok(None),
            }
        }
    }

    fn failed(&self, error: Error) -> Error {
        error.table_or(TABLE).step("token").key(&self.purpose)
    }
}

/// 128 bits of the system's generator.
fn secret() -> Result<String, Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        let note = "the system gives no random numbers";
        Error::new(ErrorKind::Database, TABLE).note(note).source(error.to_string())
    })?;
    Ok(hex(&bytes))
}

/// What is stored.
fn hash(purpose: &str, subject: &str, secret: &str) -> String {
    hex(&digest(&[purpose, subject, secret]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_holds_for_its_purpose_and_subject() {
        let all = [("a", "bc", "d"), ("ab", "c", "d"), ("a", "b", "cd"), ("a", "bc", "D")];
        let hashes: std::collections::HashSet<String> =
            all.into_iter().map(|(purpose, subject, secret)| hash(purpose, subject, secret)).collect();
        assert_eq!(hashes.len(), all.len());
        assert!(hashes.iter().all(|hash| hash.len() == 64));
    }

    #[test]
    fn no_two_secrets_are_the_same_and_none_is_shown() {
        let (one, two) = (secret().unwrap_or_default(), secret().unwrap_or_default());
        assert_eq!((one.len(), one == two), (32, false));
        assert!(!format!("{:?}", Token { secret: one.clone() }).contains(&one));
    }
}
