//! Writing under a lease: its row is locked and its number compared, in the transaction of the work.

use super::{CancellationToken, Lease, TABLE};
use crate::{
    attempt::Attempt,
    backend::Backend,
    error::{Error, ErrorKind},
    fault::Fault,
    outcome::Clash,
    query::{Query, Sql},
    session::{Session, is_inside},
};
use std::future::Future;

/// A change in every case: on a cluster only a write collides with that of another node.
static HOLD: Sql =
    Sql::write("UPDATE onward_lease SET fence = ?, held = held + 1 WHERE name = ? AND fence <= ?");
/// Where the numbers come from another database.
static SEEN: Sql = Sql::insert_once(
    "INSERT INTO onward_lease (name, fence, held, owner, expires_at) VALUES (?, ?, 1, NULL, {now})",
);

/// A lease by its name, and the number of a holder.
#[derive(Debug, Clone)]
pub(crate) struct Fence {
    pub(super) name: String,
    pub(super) number: i64,
    pub(super) lost: CancellationToken,
}

impl Fence {
    /// Locks the lease until the transaction ends; `false` if a greater number was seen. Then it is lost, whatever its store
    /// says: a number may have been drawn by somebody whose turn in Redis was over by then.
    pub(crate) async fn hold<B: Backend>(&self, connection: &mut B::Connection) -> Result<bool, sqlx::Error> {
        let hold = || Query::<B>::new(&HOLD).bind(&self.number).text(&self.name).bind(&self.number);
        if hold().run(connection).await?.changed > 0 {
            return Ok(true);
        }
        let seen = Query::<B>::new(&SEEN).text(&self.name).bind(&self.number);
        // If there is a row all the same, it may have come only now.
        if seen.run(connection).await?.changed > 0 || hold().run(connection).await?.changed > 0 {
            return Ok(true);
        }
        self.lost.cancel();
        Ok(false)
    }
}

impl Lease {
    /// Holds the lease until the transaction ends: nobody can take it over before. Call it first, and check the state
    /// again after it.
    ///
    /// It locks the lease's row and compares the number. On a cluster, where locks are a node's own, whoever takes the lease
    /// over on another node and this transaction collide, and the one that commits last is to be restarted. So it is with a
    /// renewal through another node.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/order.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), onward::BoxError> {
    /// # let (db, order) = example().await?;
    /// # onward::migrate(&db).await?;
    /// use onward::{lease::Leases, sqlx};
    ///
    /// let Some(lease) = Leases::new(&db).acquire("count the stock").await? else { return Ok(()) };
    /// let mut tx = onward::begin(&db).await?;
    /// lease.hold_in(&mut tx).await?;
    /// sqlx::query("UPDATE stock SET available = 9").execute(&mut *tx).await?;
    /// tx.commit().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Conflict(Clash::Fenced)`](ErrorKind::Conflict) if somebody else has taken it over: roll back.
    /// [`NotInTransaction`](ErrorKind::NotInTransaction) outside of a transaction, [`RestartTransaction`](ErrorKind::RestartTransaction)
    /// when the engine gave it up, [`Database`](ErrorKind::Database).
    pub fn hold_in<'t, S: Session>(
        &self,
        tx: &'t mut S,
    ) -> impl Future<Output = Result<(), Error>> + Send + use<'t, S> {
        let fence = self.fence.clone();
        async move {
            let failed = |error: Error| error.step("hold").key(&fence.name);
            let connection = tx.connection();
            if !is_inside::<S>(connection).await {
                return Err(failed(Error::new(ErrorKind::NotInTransaction, TABLE)));
            }
            let held = fence.hold::<S::Db>(connection).await.map_err(Fault::of::<S::Db>);
            if held.map_err(|fault| failed(fault.into_error(ErrorKind::RestartTransaction, TABLE)))? {
                return Ok(());
            }
            Err(failed(Error::new(ErrorKind::Conflict(Clash::Fenced), TABLE)))
        }
    }
}

impl<P> Attempt<P> {
    /// Under this lease: in the transaction of the write, before it, the lease is [held](Lease::hold_in).
    ///
    /// If somebody else has taken the lease over, nothing is written, and an attempt that could have gone on otherwise is
    /// the conflict [`Clash::Fenced`]; for a row that was to be created and is not there it is an error of that kind, since
    /// there is no row to show. A lease is lost for good, so no policy tries again.
    ///
    /// `apply` then needs a transaction of its own, where else one statement suffices.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/order.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), onward::BoxError> {
    /// # let (db, order) = example().await?;
    /// # onward::migrate(&db).await?;
    /// use onward::{Answer, lease::Leases, sqlx};
    /// let leases = Leases::new(&db);
    ///
    /// let Some(late) = leases.acquire("charge").await? else { return Ok(()) };
    /// // Its process is stopped for longer than the lease lasts, and somebody else takes it over.
    /// sqlx::query("UPDATE onward_lease SET expires_at = '2000-01-01'").execute(&db).await?;
    /// let Some(next) = leases.acquire("charge").await? else { return Ok(()) };
    ///
    /// let outcome = order.pay("T-1".into()).fenced(&late).apply(&db).await?;
    /// assert_eq!((outcome.as_str(), outcome.answer()), ("fenced", Answer::Later));
    /// let Some(order) = AnyOrder::find(&db, 1).await? else { return Ok(()) };
    /// let outcome = order.pay("T-2".into()).fenced(&next).apply(&db).await?;
    /// assert_eq!(outcome.as_str(), "applied");
    /// # Ok(())
    /// # }
    /// ```
    pub fn fenced(mut self, lease: &Lease) -> Self {
        self.stamp.lease = Some(Box::new(lease.fence.clone()));
        self
    }
}
