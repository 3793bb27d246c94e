//! Which table the stock is in, and what can be done with it.

use crate::{
    backend::Backend,
    migration::migrations,
    session::Session,
    statement::{Dialect, quoted},
    stock::{
        error::StockError,
        kind::Kind,
        line::Line,
        movement::{Moved, Movement},
        operation::Operation,
        texts::Texts,
    },
};
use std::{future::Future, sync::OnceLock};

/// A table of articles, by its names: declared once, as a `static`.
///
/// ```
/// use onward::stock::Stock;
///
/// static STOCK: Stock = Stock::new("shop.goods").article("sku").available("on hand").reserved("held");
/// ```
///
/// `article` is its key, a text or an integer; `available` and `reserved` are integers of 64 bits that are not null
/// (`BIGINT`). `reserved` is needed only by [`reserve`](Stock::reserve), [`confirm`](Stock::confirm) and
/// [`release`](Stock::release). Names are quoted; a point parts the schema from the table.
#[derive(Debug)]
pub struct Stock {
    pub(super) table: &'static str,
    pub(super) article: &'static str,
    pub(super) available: &'static str,
    pub(super) reserved: &'static str,
    pub(super) ledger: &'static str,
    texts: [OnceLock<Texts>; 3],
}

/// The ledger that [`migrate`](crate::migrate) creates.
const LEDGER: &str = "onward_stock_ledger";

impl Stock {
    /// This table, with the columns `article`, `available` and `reserved`.
    pub const fn new(table: &'static str) -> Self {
        Self {
            table,
            article: "article",
            available: "available",
            reserved: "reserved",
            ledger: LEDGER,
            texts: [const { OnceLock::new() }; 3],
        }
    }

    /// The column of the article.
    pub const fn article(mut self, column: &'static str) -> Self {
        self.article = column;
        self
    }

    /// The column of what can be had.
    pub const fn available(mut self, column: &'static str) -> Self {
        self.available = column;
        self
    }

    /// The column of what is reserved, which is not in `available` any more.
    pub const fn reserved(mut self, column: &'static str) -> Self {
        self.reserved = column;
        self
    }

    /// A ledger of another name; [`ledger_table`](Stock::ledger_table) has its SQL. By default `onward_stock_ledger`,
    /// where several stock tables have their entries side by side.
    pub const fn ledger(mut self, table: &'static str) -> Self {
        self.ledger = table;
        self
    }

    /// The SQL that creates the ledger, for a migration of your own; it does nothing where the table is there already.
    pub fn ledger_table<B: Backend>(&self) -> String {
        let sql = migrations::<B>().iter().filter(|migration| migration.name == "stock");
        sql.map(|migration| migration.sql.replace(LEDGER, &quoted(B::DIALECT, self.ledger))).collect()
    }

    pub(super) fn texts(&'static self, dialect: Dialect) -> &'static Texts {
        self.texts[dialect as usize].get_or_init(|| Texts::new(self, dialect))
    }

    /// Takes these lines out of stock, all of them or none.
    ///
    /// `tx` is the connection in `apply_with`'s closure or from [`Won::parts`](crate::Won::parts), or a transaction of
    /// your own. A line that this operation has taken before is left alone.
    ///
    /// # Errors
    ///
    /// [`StockError::Shortage`] if there are not as many, [`StockError::UnknownArticle`], [`StockError::Quantity`] for
    /// zero and less, [`StockError::SameLine`], [`StockError::Changed`] for a repeat with another article or quantity:
    /// none of the lines was moved, and the transaction lives on.
    ///
    /// [`StockError::Fault`] with the kind [`NotInTransaction`](crate::ErrorKind::NotInTransaction),
    /// [`RestartTransaction`](crate::ErrorKind::RestartTransaction) when the engine gave the transaction up,
    /// [`TooLong`](crate::ErrorKind::TooLong) for names, [`Database`](crate::ErrorKind::Database): roll back.
    pub fn deduct<'t, S: Session>(
        &'static self,
        tx: &'t mut S,
        operation: &Operation,
        lines: &[Line],
    ) -> impl Future<Output = Result<Moved, StockError>> + Send + use<'t, S> {
        Movement::new(self, Kind::Deduct, operation, lines).run::<S>(tx.connection())
    }

    /// Sets these lines aside, all of them or none: they are not available any more, and wait to be
    /// [confirmed](Stock::confirm) or [released](Stock::release).
    ///
    /// A line whose release came first, under the same name, is left alone and counted in
    /// [`Moved::void`]: its order must not go on as if it had been reserved.
    ///
    /// # Errors
    ///
    /// As for [`deduct`](Stock::deduct).
    pub fn reserve<'t, S: Session>(
        &'static self,
        tx: &'t mut S,
        operation: &Operation,
        lines: &[Line],
    ) -> impl Future<Output = Result<Moved, StockError>> + Send + use<'t, S> {
        Movement::new(self, Kind::Reserve, operation, lines).run::<S>(tx.connection())
    }

    /// Takes what the order has reserved, in one operation or in several.
    ///
    /// # Errors
    ///
    /// [`StockError::NotHeld`] for more than the order still has reserved on the line; else as for
    /// [`deduct`](Stock::deduct).
    pub fn confirm<'t, S: Session>(
        &'static self,
        tx: &'t mut S,
        operation: &Operation,
        lines: &[Line],
    ) -> impl Future<Output = Result<Moved, StockError>> + Send + use<'t, S> {
        Movement::new(self, Kind::Confirm, operation, lines).run::<S>(tx.connection())
    }

    /// Gives back what the order has reserved.
    ///
    /// Where messages overtake each other, a release can come before its reserve. **A name given to a release is that of
    /// its reserve**; if that has not come, the release leaves a tombstone ([`Moved::void`]), and when it comes it does
    /// nothing. Without a name, the release is an operation of its own, on whatever the order has reserved.
    ///
    /// # Errors
    ///
    /// [`StockError::NotHeld`] for more than the order still has reserved on the line; [`StockError::Overflow`]; else as
    /// for [`deduct`](Stock::deduct).
    pub fn release<'t, S: Session>(
        &'static self,
        tx: &'t mut S,
        operation: &Operation,
        lines: &[Line],
    ) -> impl Future<Output = Result<Moved, StockError>> + Send + use<'t, S> {
        Movement::new(self, Kind::Release, operation, lines).run::<S>(tx.connection())
    }

    /// Puts back what the order has taken: never more than that, over all operations.
    ///
    /// # Errors
    ///
    /// [`StockError::NotTaken`] for more than the order has taken of the article on the line and not put back yet;
    /// [`StockError::Overflow`]; else as for [`deduct`](Stock::deduct).
    pub fn restore<'t, S: Session>(
        &'static self,
        tx: &'t mut S,
        operation: &Operation,
        lines: &[Line],
    ) -> impl Future<Output = Result<Moved, StockError>> + Send + use<'t, S> {
        Movement::new(self, Kind::Restore, operation, lines).run::<S>(tx.connection())
    }
}
