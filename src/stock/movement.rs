//! All lines of a call, or none.

use crate::{
    backend::Backend,
    error::{Error, ErrorKind},
    fault::Fault,
    query::{KEY, fits},
    session::{Session, is_inside},
    stock::{
        declaration::Stock,
        entry::{Entry, Found, Sums},
        error::StockError,
        kind::Kind,
        line::Line,
        operation::Operation,
        stop::Stop,
    },
};
use sqlx::Database;
use std::collections::HashSet;

/// What became of the lines of a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Moved {
    /// Lines that were moved now.
    pub moved: usize,
    /// Lines that the same operation had moved before.
    pub repeated: usize,
    /// Lines whose release came before their reserve: in either call, nothing was moved.
    pub void: usize,
}

/// What became of one line's entry.
enum Entered {
    Now,
    Before,
    Void,
}

/// A call on its way.
pub(super) struct Movement {
    stock: &'static Stock,
    kind: Kind,
    operation: Operation,
    /// By their articles: stock rows are locked in this order everywhere.
    lines: Vec<Line>,
}

impl Movement {
    pub(super) fn new(stock: &'static Stock, kind: Kind, operation: &Operation, lines: &[Line]) -> Self {
        let mut lines = lines.to_vec();
        lines.sort_by(|a, b| (&a.article, &a.name).cmp(&(&b.article, &b.name)));
        Self { stock, kind, operation: operation.clone(), lines }
    }

    pub(super) async fn run<S: Session>(
        self,
        connection: &mut <S::Db as Database>::Connection,
    ) -> Result<Moved, StockError> {
        self.check()?;
        if !is_inside::<S>(connection).await {
            return Err(self.failed(Error::new(ErrorKind::NotInTransaction, self.stock.table)));
        }
        self.inside::<S::Db>(connection).await
    }

    async fn inside<B: Backend>(self, connection: &mut B::Connection) -> Result<Moved, StockError> {
        // A single line that is refused leaves but its entry, which is deleted: no round trips for a savepoint.
        let savepoint = self.lines.len() > 1 || self.kind.is_owed();
        if savepoint {
            let set = B::command(connection, "SAVEPOINT onward_stock").await;
            set.map_err(|error| self.fault(Fault::of::<B>(error)))?;
        }
        let moved = match self.all::<B>(connection, savepoint).await {
            Ok(moved) => moved,
            Err(stop) => {
                let undoes = savepoint && stop.leaves_something::<B>();
                let undone = if undoes { self.end::<B>(connection, UNDO).await } else { Ok(()) };
                return Err(match stop {
                    Stop::Refused(error) => undone.map_or_else(|lost| lost, |()| error),
                    Stop::Fault(fault) => self.fault(fault),
                });
            }
        };
        if savepoint {
            self.end::<B>(connection, "RELEASE SAVEPOINT onward_stock").await?;
        }
        let (source, key, step) = (&self.operation.source, &self.operation.order, self.kind.as_str());
        let Moved { moved: lines, repeated, void } = moved;
        tracing::debug!(target: "onward", source, key, step, lines, repeated, void, "stock");
        Ok(moved)
    }

    /// What can be seen without the database.
    fn check(&self) -> Result<(), StockError> {
        let mut names = HashSet::new();
        let fit = |name: &str, limit, what| fits(name, limit, what, self.stock.ledger);
        let fitting = || {
            fit(self.stock.table, TABLE, "name of the stock's table")?;
            fit(&self.operation.source, TABLE, "source of the order")?;
            fit(&self.operation.order, KEY, "key of the order")?;
            fit(&self.operation.name, KEY, "name of the operation")?;
            self.lines.iter().try_for_each(|line| {
                fit(&line.name, KEY, "name of a line")?;
                fit(&line.article.to_string(), KEY, "article")
            })
        };
        fitting().map_err(|error| self.failed(error))?;
        for line in &self.lines {
            let (article, quantity) = (line.article.clone(), line.quantity);
            if quantity <= 0 {
                return Err(StockError::Quantity { article, quantity });
            }
            if !names.insert(&line.name) {
                return Err(StockError::SameLine { line: line.name.clone() });
            }
        }
        Ok(())
    }

    /// First the entries, whose unique key knows repeats, then the stock's rows: those are what others wait for, so
    /// they are held for a shorter time. On MySQL the sums of an order lock the gaps beside its entries, so no entry may
    /// come after them.
    async fn all<B: Backend>(&self, connection: &mut B::Connection, savepoint: bool) -> Result<Moved, Stop> {
        let (mut all, mut entered) = (Moved::default(), Vec::with_capacity(self.lines.len()));
        for line in &self.lines {
            let entry = Entry { stock: self.stock, operation: &self.operation, line };
            match self.enter::<B>(connection, &entry).await? {
                Entered::Now => entered.push(entry),
                Entered::Before => all.repeated += 1,
                Entered::Void => all.void += 1,
            }
        }
        for entry in &entered {
            let Err(stop) = self.effect::<B>(connection, entry).await else {
                all.moved += 1;
                continue;
            };
            if !savepoint && stop.leaves_something::<B>() {
                // Outside of a transaction the entry may be another's by now.
                let lives = match &stop {
                    Stop::Fault(Fault::Conflict(_)) => B::command(connection, PROBE).await.is_ok(),
                    Stop::Refused(_) | Stop::Fault(_) => true,
                };
                let deleted = if lives { entry.delete::<B>(connection, self.kind).await } else { Ok(()) };
                if let Stop::Refused(_) = stop {
                    deleted?;
                }
            }
            return Err(stop);
        }
        Ok(all)
    }

    async fn enter<B: Backend>(
        &self,
        connection: &mut B::Connection,
        entry: &Entry<'_>,
    ) -> Result<Entered, Stop> {
        let (kind, wanted) = (self.kind, entry.line.quantity);
        if kind == Kind::Release && self.operation.named {
            let mut reserve = entry.find::<B>(connection, Kind::Reserve).await?;
            if reserve.is_none() {
                // It takes the place of the reserve, so that of two at once only one can be first.
                if entry.insert::<B>(connection, Kind::Reserve, 0).await? {
                    entry.insert::<B>(connection, kind, 0).await?;
                    return Ok(Entered::Void);
                }
                reserve = entry.find::<B>(connection, Kind::Reserve).await?;
            }
            if let Some(Found { quantity: held, .. }) = reserve
                && 0 < held
                && held < wanted
            {
                return Err(StockError::NotHeld { line: entry.line.name.clone(), wanted, held }.into());
            }
        }
        if entry.insert::<B>(connection, kind, wanted).await? {
            return Ok(Entered::Now);
        }
        self.before::<B>(connection, entry).await
    }

    /// The stock's row, behind its entry.
    async fn effect<B: Backend>(
        &self,
        connection: &mut B::Connection,
        entry: &Entry<'_>,
    ) -> Result<(), Stop> {
        if !entry.moves::<B>(connection, self.kind).await? {
            self.explain::<B>(connection, entry).await?;
            // By what the row says, which is locked since, it can have effect: what kept it from that has gone.
            if !entry.moves::<B>(connection, self.kind).await? {
                let error = Error::new(ErrorKind::NoEffect, self.stock.table);
                let note = "does the table say less than the ledger, or does a trigger suppress it?";
                return Err(Stop::Fault(Fault::Other(error.note(note))));
            }
        }
        if self.kind.is_owed() {
            // The lock on the stock's row keeps others on the same line away until the end.
            self.owed(entry, &entry.sums::<B>(connection).await?)?;
        }
        Ok(())
    }

    /// The place is taken: by the same, by a tombstone, or by something else.
    async fn before<B: Backend>(
        &self,
        connection: &mut B::Connection,
        entry: &Entry<'_>,
    ) -> Result<Entered, Stop> {
        let Some(found) = entry.find::<B>(connection, self.kind).await? else {
            let error = Error::new(ErrorKind::RestartTransaction, self.stock.ledger);
            return Err(Stop::Fault(Fault::Broken(error.note("an entry went away meanwhile"))));
        };
        let Line { article, quantity, name } = entry.line;
        if found.quantity == 0 {
            Ok(Entered::Void)
        } else if (found.quantity, &found.article) == (*quantity, &article.to_string()) {
            Ok(Entered::Before)
        } else {
            let (article, before) = (found.article, found.quantity);
            Err(StockError::Changed { line: name.clone(), article, before }.into())
        }
    }

    /// Why the guarded statement had no effect, unless it could have one now.
    async fn explain<B: Backend>(
        &self,
        connection: &mut B::Connection,
        entry: &Entry<'_>,
    ) -> Result<(), Stop> {
        let (article, wanted) = (entry.line.article.clone(), entry.line.quantity);
        let texts = entry.texts::<B>();
        let Some(available) = entry.count::<B>(connection, &texts.available).await? else {
            return Err(StockError::UnknownArticle { article }.into());
        };
        let full = |there: i64| there.checked_add(wanted).is_none();
        match self.kind {
            Kind::Deduct | Kind::Reserve if available < wanted => {
                return Err(StockError::Shortage { article, wanted, available }.into());
            }
            Kind::Reserve => {
                let reserved = entry.count::<B>(connection, &texts.reserved).await?;
                if reserved.is_some_and(full) {
                    return Err(StockError::Overflow { article }.into());
                }
            }
            Kind::Deduct => {}
            Kind::Confirm | Kind::Release | Kind::Restore => {
                self.owed(entry, &entry.sums::<B>(connection).await?)?;
                if self.kind != Kind::Confirm && full(available) {
                    return Err(StockError::Overflow { article }.into());
                }
            }
        }
        Ok(())
    }

    /// Whether the order had as many by its own earlier movements; this one is in the sums.
    fn owed(&self, entry: &Entry<'_>, sums: &Sums) -> Result<(), StockError> {
        let (line, wanted) = (entry.line.name.clone(), entry.line.quantity);
        let before = |sum: i128| i64::try_from(sum + i128::from(wanted)).unwrap_or_default();
        if self.kind == Kind::Restore && sums.taken < 0 {
            return Err(StockError::NotTaken { line, wanted, taken: before(sums.taken) });
        }
        if self.kind != Kind::Restore && sums.held < 0 {
            return Err(StockError::NotHeld { line, wanted, held: before(sums.held) });
        }
        Ok(())
    }

    /// Ends the savepoint. If it is not there any more, the engine has rolled back the whole transaction without a word:
    /// a node of a cluster does so when another node's write comes first.
    async fn end<B: Backend>(
        &self,
        connection: &mut B::Connection,
        sql: &'static str,
    ) -> Result<(), StockError> {
        let ended = B::command(connection, sql).await.map_err(Fault::of::<B>);
        ended.map_err(|fault| match fault {
            Fault::Other(error) => {
                let lost = Error::new(ErrorKind::RestartTransaction, self.stock.table);
                self.failed(lost.source_of(error).note("it had been rolled back"))
            }
            fault => self.fault(fault),
        })
    }

    fn fault(&self, fault: Fault) -> StockError {
        self.failed(fault.into_error(ErrorKind::RestartTransaction, self.stock.table))
    }

    fn failed(&self, error: Error) -> StockError {
        StockError::Fault(error.step(self.kind.as_str()).key(&self.operation.order))
    }
}

/// Fails outside of a transaction.
const PROBE: &str = "SAVEPOINT onward_stock; RELEASE SAVEPOINT onward_stock";

const UNDO: &str = "ROLLBACK TO SAVEPOINT onward_stock; RELEASE SAVEPOINT onward_stock";

/// The longest name of a table, in bytes.
const TABLE: usize = 192;
