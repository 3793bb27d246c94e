//! What became of a claimed entry, marked under the claim alone.

use crate::{
    backend::Backend,
    clock,
    error::{Error, ErrorKind},
    fault::Fault,
    inbox::{
        claim::Claim,
        entry::{Status, TABLE},
        observe,
    },
    note,
    outcome::Answer,
    query::{Query, Sql, alone},
    session::{Access, Db, Session, is_inside},
};
use std::{future::Future, time::Duration};

static DONE: Sql = Sql::write(
    "UPDATE onward_inbox SET status = ?, version = version + 1, owner = NULL, next_at = NULL, done_at = {now}, \
     outcome = ?, note = ? WHERE id = ? AND version = ?",
);
static ATTENTION: Sql = Sql::write(
    "UPDATE onward_inbox SET status = 'needs_attention', version = version + 1, owner = NULL, next_at = NULL, \
     outcome = ?, note = ? WHERE id = ? AND version = ?",
);
static AGAIN: Sql = Sql::write(
    "UPDATE onward_inbox SET status = 'failed', version = version + 1, owner = NULL, next_at = {later}, \
     outcome = ?, note = ? WHERE id = ? AND version = ?",
);

/// What an entry is to become.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Mark {
    Done(Status),
    Attention,
    Again(Duration),
}

impl Mark {
    pub(crate) fn status(self) -> Status {
        match self {
            Self::Done(status) => status,
            Self::Attention => Status::NeedsAttention,
            Self::Again(_) => Status::Failed,
        }
    }
}

impl Claim {
    /// Marks the entry as applied in the transaction of the work: both are committed, or neither.
    ///
    /// `tx` is the connection in `apply_with`'s closure or from [`Won::parts`](crate::Won::parts), or a transaction of
    /// your own. Do it last, and let its error roll everything back: `claim.applied(tx).await?`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::ClaimLost`] if the claim has run out and somebody else has taken the entry over: the transaction
    /// must roll back, or the work could be done twice. [`ErrorKind::NotInTransaction`] outside of a transaction.
    /// [`ErrorKind::RestartTransaction`], [`ErrorKind::Database`].
    pub fn applied<S: Session>(&self, tx: &mut S) -> impl Future<Output = Result<(), Error>> + Send {
        let connection = tx.connection();
        async move {
            let failed = |error: Error| error.step("applied").key(&self.id);
            if !is_inside::<S>(connection).await {
                return Err(failed(Error::new(ErrorKind::NotInTransaction, TABLE)));
            }
            let mark = self.query::<S::Db>(Mark::Done(Status::Applied), "applied", None);
            let done = mark.run(connection).await.map_err(Fault::of::<S::Db>);
            let done =
                done.map_err(|fault| failed(fault.into_error(ErrorKind::RestartTransaction, TABLE)))?;
            if done.changed == 0 {
                return Err(self.lost());
            }
            self.mark_set();
            Ok(())
        }
    }

    /// Marks the entry as a duplicate: what it asks for had been done before. `db` is `&pool`, `&mut connection` or
    /// `&mut tx`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::ClaimLost`], [`ErrorKind::Busy`] (in a transaction [`ErrorKind::RestartTransaction`]),
    /// [`ErrorKind::CommitUnknown`] if the reply was lost: mark it again, [`ErrorKind::Database`].
    pub fn duplicate<'a, D: Access<'a>>(&self, db: D) -> impl Future<Output = Result<(), Error>> + Send {
        self.marked(db.access(), Mark::Done(Status::Duplicate), None)
    }

    /// Marks the entry as refused: the business says no, for good, and nobody has to look at it. The reason is kept
    /// with it. Call this, and what follows, after the rollback of the work, on `&pool`.
    ///
    /// # Errors
    ///
    /// As for [`duplicate`](Claim::duplicate).
    pub fn refused<'a, D: Access<'a>>(
        &self,
        db: D,
        why: &str,
    ) -> impl Future<Output = Result<(), Error>> + Send {
        self.marked(db.access(), Mark::Done(Status::Refused), Some(why.to_owned()))
    }

    /// Marks the entry as failed, to be tried again after the delay of the policy; after the last attempt it goes to a
    /// person. Says which of the two.
    ///
    /// # Errors
    ///
    /// As for [`duplicate`](Claim::duplicate).
    pub fn failed<'a, D: Access<'a>>(
        &self,
        db: D,
        why: &str,
    ) -> impl Future<Output = Result<Status, Error>> + Send {
        let mark = self.again();
        let marked = self.marked(db.access(), mark, Some(why.to_owned()));
        async move { marked.await.map(|()| mark.status()) }
    }

    /// Marks the entry as one that a person has to look at; it is not tried again before that.
    ///
    /// # Errors
    ///
    /// As for [`duplicate`](Claim::duplicate).
    pub fn needs_attention<'a, D: Access<'a>>(
        &self,
        db: D,
        why: &str,
    ) -> impl Future<Output = Result<(), Error>> + Send {
        self.marked(db.access(), Mark::Attention, Some(why.to_owned()))
    }

    /// Later, as long as the policy allows.
    pub(crate) fn again(&self) -> Mark {
        self.policy().delay_after(self.attempts).map_or(Mark::Attention, Mark::Again)
    }

    async fn marked<B: Backend>(
        &self,
        mut db: Db<'_, B>,
        mark: Mark,
        note: Option<String>,
    ) -> Result<(), Error> {
        let word = mark.status().as_str();
        if self.try_mark(&mut db, mark, word, note).await? { Ok(()) } else { Err(self.lost()) }
    }

    /// Whether the claim still held.
    pub(crate) async fn try_mark<B: Backend>(
        &self,
        db: &mut Db<'_, B>,
        mark: Mark,
        word: &str,
        note: Option<String>,
    ) -> Result<bool, Error> {
        let status = mark.status();
        let done = alone(db, TABLE, || self.query(mark, word, note.as_deref())).await;
        let held = done.map_err(|error| error.step(status.as_str()).key(&self.id))?.changed > 0;
        if held {
            observe::told(self, word, status.answer());
        }
        Ok(held)
    }

    fn query<B: Backend>(&self, mark: Mark, word: &str, note: Option<&str>) -> Query<B> {
        let query = match mark {
            Mark::Done(status) => Query::new(&DONE).text(status.as_str()),
            Mark::Attention => Query::new(&ATTENTION),
            Mark::Again(delay) => Query::new(&AGAIN).bind(&clock::millis(delay)),
        };
        let note = note.map(note::short);
        query.text(word).option(note.as_deref()).bind(&self.id).bind(&self.version)
    }

    fn lost(&self) -> Error {
        observe::told(self, "claim_lost", Answer::Escalate);
        Error::new(ErrorKind::ClaimLost, TABLE).key(&self.id)
    }
}
