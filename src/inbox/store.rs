//! A verified message is stored before anything is decided.

use crate::{
    error::Error,
    hex::hex,
    inbox::{
        Inbox,
        entry::{Entry, TABLE, select},
        message::Message,
        observe,
    },
    outcome::Answer,
    query::{KEY, Query, SOURCE, Sql, alone, fits},
    session::Own,
};
use std::future::Future;

static STORE: Sql = Sql::insert_once(
    "INSERT INTO onward_inbox (source, message_id, variant, business_key, headers, body, digest, received_at, status, \
     version, attempts, next_at) VALUES (?, ?, ?, ?, ?, ?, ?, {now}, 'received', 0, 0, {now})",
);
static STORED: Sql = Sql::read(select!("WHERE source = ? AND message_id = ? AND variant = ?"));

/// What storing a message found.
#[derive(Debug, Clone)]
#[must_use = "a repeat tells what became of the first"]
pub enum Stored {
    /// It was not known. If it is `changed`, its id was, with another payload.
    New(Entry),
    /// The same payload is known under this id; the entry tells what became of it.
    Repeat(Entry),
}

impl Stored {
    /// The entry, new or known.
    pub fn entry(&self) -> &Entry {
        match self {
            Self::New(entry) | Self::Repeat(entry) => entry,
        }
    }

    /// What to answer if nothing more is done now: what became of it so far.
    pub fn answer(&self) -> Answer {
        self.entry().status.answer()
    }
}

impl Inbox {
    /// Stores a **verified** message, or finds the one that is there.
    ///
    /// Only this takes the unique (source, message id): what nobody could verify goes to
    /// [`set_aside`](Inbox::set_aside), so that it cannot take the place of a real one. Another payload under a known
    /// id is an entry of its own, flagged `changed`.
    ///
    /// It is one INSERT of its own, committed at once: `db` is `&pool` or `&mut connection`, and no transaction.
    ///
    /// # Errors
    ///
    /// [`InTransaction`](crate::ErrorKind::InTransaction) for a connection that is inside one, [`TooLong`](crate::ErrorKind::TooLong) for a source of more
    /// than 64 bytes or an id or key of more than 512, [`Busy`](crate::ErrorKind::Busy), [`Database`](crate::ErrorKind::Database),
    /// [`CommitUnknown`](crate::ErrorKind::CommitUnknown) if the reply was lost. After an error answer a failure, so that the
    /// message comes again.
    pub fn store<'a, D: Own<'a>>(
        &self,
        db: D,
        message_id: &str,
        message: &Message,
    ) -> impl Future<Output = Result<Stored, Error>> + Send {
        let mut db = db.access();
        async move {
            let failed = |error: Error| error.step("store").key(&message_id);
            fits(&self.source, SOURCE, "source", TABLE)
                .and_then(|()| fits(message_id, KEY, "message id", TABLE))
                .and_then(|()| fits(message.business_key().unwrap_or_default(), KEY, "business key", TABLE))
                .map_err(failed)?;
            db.outside(TABLE).await.map_err(failed)?;
            let digest = message.sha256();
            let mut variant = String::new();
            loop {
                let store = || {
                    Query::new(&STORE)
                        .text(&self.source)
                        .text(message_id)
                        .bind(&variant)
                        .option(message.business_key())
                        .bind(&message.headers_text())
                        .bind(&message.body().to_vec())
                        .bind(&digest)
                };
                let stored = || Query::new(&STORED).text(&self.source).text(message_id).bind(&variant);
                let new = alone(&mut db, TABLE, store).await.map_err(failed)?.changed > 0;
                let found = alone(&mut db, TABLE, stored).await.map_err(failed)?;
                // A repeat may have been purged between the two.
                let Some(row) = found.rows.first() else { continue };
                let entry = Entry::decode::<D::Db>(row).map_err(failed)?;
                if variant.is_empty() && entry.digest != digest {
                    variant = hex(&digest);
                    continue;
                }
                return Ok(if new {
                    let (word, answer) = if entry.changed {
                        ("changed", Answer::Escalate)
                    } else {
                        ("received", Answer::Settled)
                    };
                    observe::told(&entry, word, answer);
                    Stored::New(entry)
                } else {
                    observe::told(&entry, "repeat", Answer::Settled);
                    Stored::Repeat(entry)
                });
            }
        }
    }
}
