//! Where statements run: a pool, a connection or a transaction.
//!
//! Arguments are turned into [`Db`] before a future is made, so that no trait with a lifetime sits inside one: that is
//! what keeps every call usable in `tokio::spawn` and in handlers.

use crate::{
    backend::Backend,
    boundary::{close, depth, settled_depth},
    error::{Error, ErrorKind},
    fault::Fault,
};
use sqlx::{Database, Pool, Transaction, pool::PoolConnection};
use std::ops::{Deref, DerefMut};

/// A connection that somebody else looks after: a transaction, a pooled or a plain connection.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a transaction or connection",
    label = "expected `&mut tx` (a `sqlx::Transaction`, an `onward::Transaction`, a connection)"
)]
pub trait Session: Send {
    /// The database that it belongs to.
    type Db: Backend;

    /// It is a transaction by its type, and nothing on its way can have ended it.
    #[doc(hidden)]
    const BEGUN: bool = false;

    /// The connection, for statements of one's own.
    fn connection(&mut self) -> &mut <Self::Db as Database>::Connection;
}

impl<B: Backend> Session for Transaction<'_, B> {
    type Db = B;
    const BEGUN: bool = true;

    fn connection(&mut self) -> &mut B::Connection {
        self
    }
}

impl<B: Backend> Session for PoolConnection<B> {
    type Db = B;

    fn connection(&mut self) -> &mut B::Connection {
        self
    }
}

/// Whether this connection of a session is inside a transaction. A plain one may have been left by a dropped one whose
/// rollback is on its way, which costs a round trip to know on SQLite.
pub(crate) async fn is_inside<S: Session>(connection: &mut <S::Db as Database>::Connection) -> bool {
    let open = if S::BEGUN { depth::<S::Db>(connection) } else { settled_depth::<S::Db>(connection).await };
    open > 0
}

/// Where a read runs: `&pool`, `&mut connection` or `&mut tx`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is nothing to read through",
    label = "expected `&pool`, `&mut connection` or `&mut tx`"
)]
pub trait Access<'a>: Send {
    /// The database that it belongs to.
    type Db: Backend;

    #[doc(hidden)]
    fn access(self) -> Db<'a, Self::Db>;
}

impl<'a, B: Backend> Access<'a> for &'a Pool<B> {
    type Db = B;

    fn access(self) -> Db<'a, B> {
        Db::Pool(self)
    }
}

impl<'a, S: Session> Access<'a> for &'a mut S {
    type Db = S::Db;

    fn access(self) -> Db<'a, S::Db> {
        Db::Connection(self.connection())
    }
}

/// Where an attempt, or a step of the inbox, runs on its own: `&pool` or `&mut connection`, but no transaction.
#[diagnostic::on_unimplemented(
    message = "this runs on its own, not on `{Self}`",
    label = "expected `&pool` or `&mut connection`",
    note = "an attempt inside a transaction of yours is `apply_in(&mut tx)`: it is never tried again there",
    note = "the inbox stores and claims outside of transactions, so that no rollback undoes it"
)]
pub trait Own<'a>: Access<'a> {}

impl<'a, B: Backend> Own<'a> for &'a Pool<B> {}
impl<'a, B: Backend> Own<'a> for &'a mut PoolConnection<B> {}
#[cfg(feature = "sqlite")]
impl<'a> Own<'a> for &'a mut sqlx::SqliteConnection {}
#[cfg(feature = "postgres")]
impl<'a> Own<'a> for &'a mut sqlx::PgConnection {}
#[cfg(feature = "mysql")]
impl<'a> Own<'a> for &'a mut sqlx::MySqlConnection {}

#[doc(hidden)]
#[derive(Debug)]
pub enum Db<'a, B: Backend> {
    Pool(&'a Pool<B>),
    Connection(&'a mut B::Connection),
}

impl<B: Backend> Db<'_, B> {
    pub(crate) async fn acquire(&mut self) -> Result<Lease<'_, B>, sqlx::Error> {
        Ok(match self {
            Self::Pool(pool) => Lease::Guarded(Guarded::acquire(pool).await?),
            Self::Connection(connection) => Lease::Borrowed(&mut **connection),
        })
    }

    /// Refuses a connection that is inside a transaction.
    pub(crate) async fn outside(&mut self, table: &'static str) -> Result<(), Error> {
        if let Self::Connection(connection) = self
            && settled_depth::<B>(connection).await > 0
        {
            let note = "store and claim outside of it: its rollback would undo them";
            return Err(Error::new(ErrorKind::InTransaction, table).note(note));
        }
        Ok(())
    }

    /// The same after a connection has failed: others that lie idle in the pool may have died with it, and are passed
    /// over.
    pub(crate) async fn acquire_answering(&mut self) -> Result<Lease<'_, B>, sqlx::Error> {
        if let Self::Pool(pool) = self {
            while pool.num_idle() > 0 {
                let mut guarded = Guarded::acquire(pool).await?;
                if sqlx::Connection::ping(&mut *guarded).await.is_ok() {
                    return Ok(Lease::Guarded(guarded));
                }
            }
        }
        self.acquire().await
    }

    pub(crate) async fn fetch(
        mut self,
        sql: &'static str,
        arguments: B::Arguments,
    ) -> Result<Vec<B::Row>, Fault> {
        let mut lease = self.acquire().await.map_err(Fault::of_read::<B>)?;
        let rows = B::fetch(lease.connection(), sql, arguments).await.map_err(Fault::of_read::<B>);
        match &rows {
            Ok(_) => lease.release(),
            Err(fault) => lease.release_after(fault),
        }
        rows
    }
}

/// A connection for the time of one try.
pub(crate) enum Lease<'a, B: Backend> {
    Guarded(Guarded<B>),
    Borrowed(&'a mut B::Connection),
}

impl<B: Backend> Lease<'_, B> {
    pub(crate) fn connection(&mut self) -> &mut B::Connection {
        match self {
            Self::Guarded(guarded) => guarded,
            Self::Borrowed(connection) => connection,
        }
    }

    /// What keeps a transaction on it from committing too early.
    pub(crate) fn fence(&mut self) -> B::Fence {
        match self {
            Self::Guarded(guarded) => guarded.fence(),
            Self::Borrowed(_) => B::Fence::default(),
        }
    }

    pub(crate) fn is_pooled(&self) -> bool {
        matches!(self, Self::Guarded(_))
    }

    pub(crate) fn into_guarded(self) -> Option<Guarded<B>> {
        match self {
            Self::Guarded(guarded) => Some(guarded),
            Self::Borrowed(_) => None,
        }
    }

    /// Gives the connection back; one that is dropped instead does not return to its pool.
    pub(crate) fn release(self) {
        if let Self::Guarded(guarded) = self {
            guarded.release();
        }
    }

    /// Likewise after a fault, unless the connection did not answer, or leads to a node that cannot.
    pub(crate) fn release_after(self, fault: &Fault) {
        if !fault.broke_the_connection::<B>() {
            self.release();
        }
    }
}

/// A pooled connection that goes back to its pool only when it is released.
///
/// A future can be dropped at any await. On PostgreSQL and MySQL that can leave a connection in the middle of the
/// protocol or inside a transaction, and the pool would hand it out again: a later write on it "succeeds" and is lost.
/// So a connection that was not released is closed instead. On SQLite, where it may be the only one to a database in
/// memory, it is put in order by a task of its own and then goes back.
#[derive(Debug)]
pub(crate) struct Guarded<B: Backend> {
    connection: Option<PoolConnection<B>>,
    /// Made for the first transaction of ours; a statement that stands alone needs none.
    fence: Option<B::Fence>,
}

impl<B: Backend> Guarded<B> {
    pub(crate) async fn acquire(pool: &Pool<B>) -> Result<Self, sqlx::Error> {
        Ok(Self { connection: Some(pool.acquire().await?), fence: None })
    }

    pub(crate) fn fence(&mut self) -> B::Fence {
        self.fence.get_or_insert_default().clone()
    }

    pub(crate) fn release(mut self) {
        drop(self.connection.take());
    }
}

#[allow(clippy::expect_used)] // It is empty only between `release` or `drop` and the end.
impl<B: Backend> Deref for Guarded<B> {
    type Target = B::Connection;

    fn deref(&self) -> &B::Connection {
        self.connection.as_ref().expect("held until released")
    }
}

#[allow(clippy::expect_used)]
impl<B: Backend> DerefMut for Guarded<B> {
    fn deref_mut(&mut self) -> &mut B::Connection {
        self.connection.as_mut().expect("held until released")
    }
}

impl<B: Backend> Drop for Guarded<B> {
    fn drop(&mut self) {
        let Some(mut connection) = self.connection.take() else {
            return;
        };
        let fence = self.fence();
        match tokio::runtime::Handle::try_current() {
            // The fence stays up until what was on its way has come to its end and is rolled back.
            Ok(runtime) if B::EMBEDDED => drop(runtime.spawn(async move {
                if close::<B>(&mut connection, &fence).await.is_err() {
                    drop(connection.detach());
                }
            })),
            _ => drop(connection.detach()),
        }
    }
}
