//! The SQL of a sweep: a page of keys, and one row under a lock; both only if they are old enough.

use crate::{
    clock,
    lifecycle::Description,
    statement::{Bind, Dialect, Statement},
    writer::Writer,
};

/// The statements for one column of times.
#[derive(Debug)]
pub(crate) struct Older {
    /// The first page of keys, and the next one.
    pub(crate) keys: [Statement; 2],
    /// One row, if it still is in the state and old enough.
    pub(crate) lock: Statement,
}

impl Older {
    pub(crate) fn new(d: &Description, dialect: Dialect, column: &str) -> Self {
        let select = || Writer::new(d, dialect, "SELECT ");
        Self {
            keys: [false, true].map(|next| {
                let keys = select().name(d.columns[0].column).push(" FROM ").name(d.table);
                keys.push(" WHERE ").status(Bind::Status).push(" AND ").older(column).page(next).end()
            }),
            lock: {
                let row = select().select().push(" WHERE ").place(Bind::Place).push(" AND ");
                row.status(Bind::Status).push(" AND ").older(column).locking().end()
            },
        }
    }
}

impl Writer<'_> {
    /// `column <= now and a (negative) number of milliseconds more`
    fn older(self, column: &str) -> Self {
        let later = clock::later(self.dialect);
        let (before, after) = later.split_once('?').unwrap_or((later, ""));
        if self.dialect == Dialect::Sqlite {
            // Times are texts there, and there is more than one way to write one.
            let older = self.push("julianday(").name(column).push(") <= julianday(").push(before);
            return older.bind(Bind::Age).push(after).push(")");
        }
        self.name(column).push(" <= ").push(before).bind(Bind::Age).push(after)
    }
}
