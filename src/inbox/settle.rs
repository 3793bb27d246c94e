//! From what became of the work to the right mark, and to what is answered.

use crate::{
    error::{BoxError, Error, ErrorKind},
    handle::Handle,
    inbox::{
        claim::Claim,
        entry::{Entry, Status, TABLE, select},
        mark::Mark,
        observe,
    },
    note,
    outcome::{Answer, Outcome},
    query::{Query, Sql, alone},
    session::Own,
};
use std::future::Future;

static NOW: Sql = Sql::read(select!("WHERE id = ?"));

/// What a claim can be settled by: an [`Outcome`], an [`Answer`], or a `Result` of one with an [`Error`] or any boxed
/// error.
#[diagnostic::on_unimplemented(
    message = "a claim cannot be settled by `{Self}`",
    label = "expected an `Outcome`, an `Answer`, or a `Result` of one with `onward::Error` or `BoxError`"
)]
pub trait Settles {
    #[doc(hidden)]
    fn told(&self) -> Told;
}

/// What became of the work.
#[doc(hidden)]
#[derive(Debug)]
pub struct Told {
    answer: Answer,
    /// What a settled one is.
    done: Status,
    word: &'static str,
    note: Option<String>,
}

impl<T: Handle> Settles for Outcome<T> {
    fn told(&self) -> Told {
        let done = if matches!(self, Self::Applied(_)) { Status::Applied } else { Status::Duplicate };
        Told { answer: self.answer(), done, word: self.as_str(), note: None }
    }
}

impl Settles for Answer {
    fn told(&self) -> Told {
        let word = match self {
            Self::Settled => "applied",
            Self::Escalate => "escalate",
            Self::Later => "later",
        };
        Told { answer: *self, done: Status::Applied, word, note: None }
    }
}

impl<S: Settles> Settles for Result<S, Error> {
    fn told(&self) -> Told {
        self.as_ref().map_or_else(of_error, Settles::told)
    }
}

impl<S: Settles> Settles for Result<S, BoxError> {
    fn told(&self) -> Told {
        match self {
            Ok(told) => told.told(),
            Err(error) => match error.downcast_ref::<Error>() {
                Some(error) => of_error(error),
                None => Told {
                    answer: Answer::Later,
                    done: Status::Applied,
                    word: "error",
                    note: Some(error.to_string()),
                },
            },
        }
    }
}

/// A loss that `applied()` made an error of is still that loss; a fault comes again.
fn of_error(error: &Error) -> Told {
    let (answer, done) = match error.kind() {
        ErrorKind::Duplicate => (Answer::Settled, Status::Duplicate),
        ErrorKind::Refused => (Answer::Escalate, Status::Refused),
        ErrorKind::Conflict(clash) => (clash.answer(), Status::Refused),
        _ => (Answer::Later, Status::Applied),
    };
    Told { answer, done, word: error.kind().as_str(), note: Some(note::of(error)) }
}

impl Claim {
    /// Marks the entry by what became of the work, and says what to answer.
    ///
    /// | the work | the entry | the answer |
    /// |---|---|---|
    /// | applied | `applied`; nothing is written if [`applied`](Claim::applied) was called in its transaction | `Settled` |
    /// | a duplicate | `duplicate` | `Settled` |
    /// | [`Escalate`](Answer::Escalate) | `needs_attention`, at once | `Escalate`: it is kept here, so answer success |
    /// | [`Later`](Answer::Later), or an error | `failed`, tried again after a delay | `Later` |
    /// | the same at the last attempt | `needs_attention` | `Escalate` |
    ///
    /// If the claim was lost meanwhile, nothing is marked, and the answer is that of the entry as it is now. The text of
    /// an error is kept as the entry's note, and reaches no log.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Busy`], [`ErrorKind::Database`]: the entry stays claimed until that runs out.
    /// [`ErrorKind::CommitUnknown`] if the reply was lost: it may be marked; settle it again, or leave it to the claim.
    pub fn settle<'a, D: Own<'a>>(
        &self,
        db: D,
        work: &impl Settles,
    ) -> impl Future<Output = Result<Answer, Error>> + Send {
        let mut db = db.access();
        let told = work.told();
        async move {
            let mark = match told.answer {
                // The outcome is known only after the commit, so the mark in it was committed too.
                Answer::Settled if told.done == Status::Applied && self.is_marked() => {
                    observe::told(self, told.word, Answer::Settled);
                    return Ok(Answer::Settled);
                }
                Answer::Settled => Mark::Done(told.done),
                Answer::Escalate => Mark::Attention,
                Answer::Later => self.again(),
            };
            if self.try_mark(&mut db, mark, told.word, told.note).await? {
                return Ok(mark.status().answer());
            }
            let found = alone(&mut db, TABLE, || Query::new(&NOW).bind(&self.id)).await?;
            // Only what is done is ever purged.
            let Some(row) = found.rows.first() else { return Ok(Answer::Settled) };
            let now = Entry::decode::<D::Db>(row)?;
            observe::told(self, "claim_lost", Answer::Escalate);
            Ok(now.status.answer())
        }
    }
}
