//! The deduplication step for anybody's own transaction.

use crate::{
    error::{Error, ErrorKind},
    fault::Fault,
    forget::forget,
    query::{KEY, Query, SOURCE, Sql, fits},
    session::{Own, Session, is_inside},
};
use std::{future::Future, time::Duration};

const TABLE: &str = "onward_once";

static FIRST: Sql =
    Sql::insert_once("INSERT INTO onward_once (source, business_key, first_at) VALUES (?, ?, {now})");

/// As many of the oldest as one statement should delete, and some more of the same moment.
static OLDEST: Sql = Sql::write(
    "DELETE FROM onward_once WHERE source = ? AND first_at <= (SELECT x.at FROM (SELECT first_at AS at \
     FROM onward_once WHERE source = ? AND first_at < {later} ORDER BY first_at LIMIT 1 OFFSET 999) AS x)",
);
static OLD: Sql = Sql::write("DELETE FROM onward_once WHERE source = ? AND first_at < {later}");

/// Whether something is done for the first time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use = "the work belongs to the first time alone"]
pub enum Once {
    /// The first time, if the transaction commits: do the work in it.
    First,
    /// It was done before.
    Repeat,
}

/// Takes the key of a piece of work in the caller's transaction: [`Once::First`] for one transaction that commits,
/// [`Once::Repeat`] for all later ones.
///
/// The key is that of the **business fact** (the order whose points are credited), not of its delivery. The work goes
/// into the same transaction: a rollback frees the key. While another transaction holds the same key uncommitted, this
/// waits, and then answers by what became of that one. Names are compared byte by byte.
///
/// The table comes with [`migrate`](crate::migrate). It goes with a lifecycle or without one; when which, and what else
/// there is, stands in [`docs/once.md`](crate::_documentation::once).
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/order.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), onward::BoxError> {
/// # let (db, order) = example().await?;
/// use onward::{Once, once, sqlx};
/// onward::migrate(&db).await?;
///
/// for _ in 0..2 {
///     let mut tx = onward::begin(&db).await?;
///     if once(&mut tx, "order-bonus", "order-1").await? == Once::First {
///         sqlx::query("UPDATE stock SET available = available + 10").execute(&mut *tx).await?;
///     }
///     tx.commit().await?;
/// }
/// let points: i64 = sqlx::query_scalar("SELECT available FROM stock").fetch_one(&db).await?;
/// assert_eq!(points, 15);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`ErrorKind::NotInTransaction`] outside of a transaction, where it would mean nothing.
/// [`ErrorKind::RestartTransaction`] when the engine gave the transaction up: a deadlock, or, above READ COMMITTED, a
/// key that was taken after its snapshot. [`ErrorKind::TooLong`] for a source of more than 64 bytes or a key of more
/// than 512. [`ErrorKind::Database`].
pub fn once<'t, S: Session>(
    tx: &'t mut S,
    source: &str,
    business_key: &str,
) -> impl Future<Output = Result<Once, Error>> + Send + use<'t, S> {
    let (source, key) = (source.to_owned(), business_key.to_owned());
    async move {
        let failed = |error: Error| error.step("once").key(&key);
        fits(&source, SOURCE, "source", TABLE)
            .and_then(|()| fits(&key, KEY, "key", TABLE))
            .map_err(failed)?;
        let connection = tx.connection();
        if !is_inside::<S>(connection).await {
            return Err(failed(Error::new(ErrorKind::NotInTransaction, TABLE)));
        }
        let done = Query::<S::Db>::new(&FIRST).bind(&source).bind(&key).run(connection).await;
        let done = done.map_err(Fault::of::<S::Db>);
        let done = done.map_err(|fault| failed(fault.into_error(ErrorKind::RestartTransaction, TABLE)))?;
        Ok(if done.changed > 0 { Once::First } else { Once::Repeat })
    }
}

/// Forgets what was first done longer ago than this, in batches, and says how many keys that were.
///
/// **A key that is forgotten can be taken again.** Do this only where repeats can no longer come: a message that is
/// sent again after a year, or a batch that is run again, would be done twice.
///
/// # Errors
///
/// [`ErrorKind::Busy`] when engine conflicts used up the restarts, [`ErrorKind::CommitUnknown`] if a reply was lost,
/// [`ErrorKind::Database`]. What was forgotten by then stays so.
pub fn forget_once<'a, D: Own<'a>>(
    db: D,
    source: &str,
    older_than: Duration,
) -> impl Future<Output = Result<u64, Error>> + Send + use<'a, D> {
    let (mut db, source) = (db.access(), source.to_owned());
    async move {
        let forgotten = forget(&mut db, TABLE, [&OLDEST, &OLD], &source, older_than).await;
        forgotten.map_err(|error| error.step("forget_once"))
    }
}
