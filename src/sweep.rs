//! Transitions by age: whatever has been in a state for too long moves on.
//!
//! ```
//! use chrono::{DateTime, Utc};
//! use onward::{BoxError, sqlx, sweep::Sweep};
//! use std::time::Duration;
//!
//! onward::lifecycle! {
//!     pub struct Order in "orders";
//!     pub struct OrderRow { id: i64, created_at: DateTime<Utc> }
//!     pub enum AnyOrder: OrderStatus { Pending, Paid { trade_no: String }, Cancelled }
//!     transitions {
//!         pay:    Pending -> Paid by trade_no;
//!         cancel: Pending -> Cancelled;
//!     }
//! }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), BoxError> {
//! # let db = sqlx::sqlite::SqlitePoolOptions::new().max_connections(1).connect("sqlite::memory:").await?;
//! # let table = "CREATE TABLE orders (id INTEGER PRIMARY KEY, created_at TEXT, status TEXT, version INTEGER, trade_no TEXT)";
//! # sqlx::raw_sql(table).execute(&db).await?;
//! # for (id, age) in [(1, 3_600), (2, 60)] {
//! #     let row = OrderRow { id, created_at: Utc::now() - Duration::from_secs(age) };
//! #     let _ = Order::create(row).apply(&db).await?.applied()?;
//! # }
//!
//! // Unpaid for half an hour: cancelled.
//! let unpaid = Sweep::<Pending>::older_than(Duration::from_mins(30)).since("created_at");
//! let swept = unpaid.run(&db, |order| order.cancel()).await?;
//! assert_eq!((swept.applied, swept.passed), (1, 0));
//! # Ok(())
//! # }
//! ```
//!
//! Keys are read page by page, without locks. Then each row has a short transaction of its own: it is locked, its state
//! and its age are **checked again**, by the database's clock, and the step is one guarded attempt like any other. So a
//! payment at the same moment either comes first, and the row is passed over, or finds the row cancelled and is told so
//! ([`Clash::Aside`](crate::Clash::Aside)). Several sweeps at once do no harm.
//!
//! An index on the status and the key, or on the status and the time, keeps a sweep from reading the whole table. It runs
//! once; a timer of yours runs it again.

mod older;
mod round;
mod swept;

pub(crate) use older::Older;
pub use swept::Swept;

use crate::{
    attempt::Attempt,
    backend::Backend,
    error::{BoxError, Error},
    lifecycle::{Lifecycle, State},
    plan::PlanOn,
    row::Stored,
};
use round::{Round, Turn};
use sqlx::Pool;
use std::{fmt, future::Future, pin::Pin, time::Duration};

/// Moves every row on that has been in the state `S` for longer than this; see the [module](self) for an example.
#[must_use = "nothing happens until `run` or `run_with`"]
pub struct Sweep<'s, S: State> {
    age: Duration,
    since: Option<&'s str>,
    guards: Option<<S::Any as Lifecycle>::Guards>,
    page: u32,
    stop: Option<Pin<Box<dyn Future<Output = ()> + Send + 's>>>,
    progress: Option<Box<dyn FnMut(Swept) + Send + 's>>,
    failure: Option<Box<dyn FnMut(Error) + Send + 's>>,
}

impl<'s, S: State> Sweep<'s, S> {
    /// Rows in this state that are older, by their declared `updated_at`: the last write was so long ago.
    pub fn older_than(age: Duration) -> Self {
        Self { age, since: None, guards: None, page: 100, stop: None, progress: None, failure: None }
    }

    /// The age is that of this column or fact, such as `created_at` or `paid_at`: a time that the database can compare
    /// with its own, so no integer. A row without one is left alone.
    pub fn since(mut self, column: &'s str) -> Self {
        self.since = Some(column);
        self
    }

    /// The values of the guard columns, as a tuple in the order of their declaration: `.within((tenant_id,))`. A
    /// lifecycle with guards needs them.
    pub fn within(mut self, guards: <S::Any as Lifecycle>::Guards) -> Self {
        self.guards = Some(guards);
        self
    }

    /// How many keys are read at a time: 100.
    pub fn page(mut self, rows: u32) -> Self {
        self.page = rows.max(1);
        self
    }

    /// Stops once this is done, after the row at hand.
    pub fn until(mut self, stop: impl Future<Output = ()> + Send + 's) -> Self {
        self.stop = Some(Box::pin(stop));
        self
    }

    /// Hears after each row how far it is.
    pub fn progress(mut self, progress: impl FnMut(Swept) + Send + 's) -> Self {
        self.progress = Some(Box::new(progress));
        self
    }

    /// Hears why a row failed; [`Error::row_key`] says which.
    pub fn failure(mut self, failure: impl FnMut(Error) + Send + 's) -> Self {
        self.failure = Some(Box::new(failure));
        self
    }

    /// Tries the step on each of them, once, and says what became of them.
    ///
    /// A row whose step fails stays as it is and holds up no other: it is counted, told as a `tracing` event, and comes
    /// again with the next sweep. `step` may run again for a row after an engine conflict.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotDeclared`](crate::ErrorKind::NotDeclared) for an unknown column, without `updated_at` and
    /// [`since`](Sweep::since), or without the guards that the lifecycle has.
    /// [`ErrorKind::Database`](crate::ErrorKind::Database) and [`ErrorKind::Busy`](crate::ErrorKind::Busy) when the keys
    /// cannot be read or the database does not answer any more, or an SQLite file stays locked; what was moved by then
    /// stays so. [`ErrorKind::Unreadable`](crate::ErrorKind::Unreadable) where no key of a whole page can be read.
    pub fn run<B, P>(
        self,
        pool: &Pool<B>,
        mut step: impl FnMut(S::Handle) -> Attempt<P> + Send,
    ) -> impl Future<Output = Result<Swept, Error>> + Send
    where
        B: Backend,
        S::Any: Stored<B>,
        P: PlanOn<B, Any = S::Any>,
    {
        async move {
            let mut round = Round::<B, S>::new(self, pool)?;
            while let Some(key) = round.next().await? {
                loop {
                    let done = match round.win(&key, &mut step).await {
                        Ok(Turn::Won(won)) => won.commit().await.map(|_| Some(true)),
                        Ok(Turn::Passed) => Ok(None),
                        Ok(Turn::Lost) => Ok(Some(false)),
                        Err(error) => Err(error),
                    };
                    if round.settled(&key, done).await? {
                        break;
                    }
                }
            }
            Ok(round.swept())
        }
    }

    /// The same with more work in the transaction of each step, as with [`Attempt::apply_with`]: both are committed, or
    /// neither. What an unpaid order has reserved goes back in it, see [`stock`](crate::stock#reserve-then-confirm-or-release).
    /// The work may run again after an engine conflict.
    ///
    /// # Errors
    ///
    /// As for [`run`](Sweep::run). Work that fails undoes its own row alone.
    pub async fn run_with<B, P, W, E>(
        self,
        pool: &Pool<B>,
        mut step: impl FnMut(S::Handle) -> Attempt<P> + Send,
        mut work: W,
    ) -> Result<Swept, Error>
    where
        B: Backend,
        S::Any: Stored<B>,
        P: PlanOn<B, Any = S::Any>,
        W: AsyncFnMut(&mut B::Connection, &P::Won) -> Result<(), E>,
        E: Into<BoxError>,
    {
        let mut round = Round::<B, S>::new(self, pool)?;
        while let Some(key) = round.next().await? {
            loop {
                let done = match round.win(&key, &mut step).await {
                    Ok(Turn::Won(mut won)) => {
                        let (connection, order) = won.parts();
                        match work(connection, order).await {
                            Ok(()) => won.commit().await.map(|_| Some(true)),
                            Err(error) => Err(Round::<B, S>::fault(won.undo(error.into()).await)),
                        }
                    }
                    Ok(Turn::Passed) => Ok(None),
                    Ok(Turn::Lost) => Ok(Some(false)),
                    Err(error) => Err(error),
                };
                if round.settled(&key, done).await? {
                    break;
                }
            }
        }
        Ok(round.swept())
    }
}

impl<S: State> fmt::Debug for Sweep<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sweep")
            .field("age", &self.age)
            .field("since", &self.since)
            .field("page", &self.page)
            .finish_non_exhaustive()
    }
}
