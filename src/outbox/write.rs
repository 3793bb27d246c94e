//! An event is written in the transaction of what it tells about.

use crate::{
    error::{Error, ErrorKind},
    fault::Fault,
    journal::fresh_identity,
    outbox::{Outbox, entry::TABLE, event::Event},
    query::{KEY, Query, SOURCE, Sql, fits},
    session::{Session, is_inside},
};
use std::future::Future;

static WRITE: Sql = Sql::write(
    "INSERT INTO onward_outbox (outbox, event_key, event_id, topic, row_version, headers, payload, written_at, status, \
     version, attempts, next_at, followers) VALUES (?, ?, ?, ?, ?, ?, ?, {now}, 'pending', 0, 0, {now}, 0)",
);

impl Outbox {
    /// Writes an event in the caller's transaction, and gives the id that it will have wherever it is sent. Committed,
    /// it is sent; rolled back, also to a savepoint, it never is.
    ///
    /// `tx` is the connection in `apply_with`'s closure or from [`Won::parts`](crate::Won::parts), or a transaction of
    /// your own. Write **after the row is won**: what holds its lock writes the events of its key in the order of the
    /// commits; see the [module](crate::outbox#what-order-means).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotInTransaction`] outside of a transaction. [`ErrorKind::TooLong`] for a topic or key of more than
    /// 512 bytes, or an outbox's name of more than 64. [`ErrorKind::RestartTransaction`] when the engine gave the
    /// transaction up. [`ErrorKind::Database`].
    pub fn write<'t, S: Session>(
        &self,
        tx: &'t mut S,
        event: Event,
    ) -> impl Future<Output = Result<String, Error>> + Send + use<'t, S> {
        let name = self.name.clone();
        async move {
            let failed = |error: Error| error.step("write");
            fits(&name, SOURCE, "name", TABLE)
                .and_then(|()| fits(event.topic(), KEY, "topic", TABLE))
                .and_then(|()| fits(event.key(), KEY, "key", TABLE))
                .map_err(failed)?;
            let connection = tx.connection();
            if !is_inside::<S>(connection).await {
                return Err(failed(Error::new(ErrorKind::NotInTransaction, TABLE)));
            }
            let id = fresh_identity().map_err(|error| failed(error.table_or(TABLE)))?;
            let write = Query::<S::Db>::new(&WRITE)
                .bind(&name)
                .text(event.key())
                .text(&id)
                .text(event.topic())
                .maybe(event.row_version().as_ref())
                .bind(&event.headers_text())
                .bind(&event.payload().to_vec());
            let written = write.run(connection).await.map_err(Fault::of::<S::Db>);
            written.map_err(|fault| failed(fault.into_error(ErrorKind::RestartTransaction, TABLE)))?;
            tracing::debug!(target: "onward", outbox = name, topic = event.topic(), event_id = id, outcome = "written");
            Ok(id)
        }
    }
}
