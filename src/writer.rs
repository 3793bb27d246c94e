//! SQL text in the making, and the order of the values that it binds.

use crate::{
    clock,
    lifecycle::Description,
    statement::{Bind, Dialect, Statement, quoted, selected},
};

pub(crate) struct Writer<'d> {
    pub(crate) d: &'d Description,
    pub(crate) dialect: Dialect,
    pub(crate) sql: String,
    binds: Vec<Bind>,
}

impl<'d> Writer<'d> {
    pub(crate) fn new(d: &'d Description, dialect: Dialect, text: &str) -> Self {
        Self { d, dialect, sql: text.into(), binds: Vec::new() }
    }

    pub(crate) fn end(self) -> Statement {
        Statement { sql: self.sql, binds: self.binds }
    }

    pub(crate) fn push(mut self, text: &str) -> Self {
        self.sql.push_str(text);
        self
    }

    /// Text around what is written.
    pub(crate) fn wrap(mut self, before: &str, after: &str) -> Self {
        self.sql = format!("{before}{}{after}", self.sql);
        self
    }

    pub(crate) fn name(self, name: &str) -> Self {
        let quoted = quoted(self.dialect, name);
        self.push(&quoted)
    }

    pub(crate) fn bind(mut self, bind: Bind) -> Self {
        self.binds.push(bind);
        match self.dialect {
            Dialect::Postgres => {
                let number = self.binds.len();
                self.push(&format!("${number}"))
            }
            Dialect::Sqlite | Dialect::MySql => self.push("?"),
        }
    }

    pub(crate) fn equals(self, name: &str, bind: Bind) -> Self {
        self.name(name).push(" = ").bind(bind)
    }

    /// `SELECT` is written: the columns and the table.
    pub(crate) fn select(mut self) -> Self {
        for (i, column) in selected(self.d).enumerate() {
            self = self.push(if i == 0 { "" } else { ", " }).name(column);
        }
        let table = self.d.table;
        self.push(" FROM ").name(table)
    }

    /// `key = ? [AND guard = ?]`
    pub(crate) fn place(mut self, bind: impl Fn(usize) -> Bind) -> Self {
        for (part, column) in self.d.place().enumerate() {
            let name = self.d.columns[column].column;
            self = self.push(if part == 0 { "" } else { " AND " }).equals(name, bind(part));
        }
        self
    }

    /// The same, bound from a row that is at hand.
    pub(crate) fn here(self) -> Self {
        let columns: Vec<usize> = self.d.place().collect();
        self.place(|part| Bind::Column(columns[part]))
    }

    pub(crate) fn status(self, bind: Bind) -> Self {
        let status = self.d.status;
        self.equals(status, bind)
    }

    /// `key = ? AND status = ? AND version = ?`: the guard of every write.
    pub(crate) fn expected(self) -> Self {
        let version = self.d.version;
        self.here().push(" AND ").status(Bind::Expected).push(" AND ").equals(version, Bind::Version)
    }

    /// Some other row that has these values.
    pub(crate) fn others(mut self, values: impl Iterator<Item = (&'static str, Bind)>) -> Self {
        for (column, bind) in values {
            self = self.equals(column, bind).push(" AND ");
        }
        for column in self.d.place().skip(1) {
            let guard = self.d.columns[column].column;
            self = self.equals(guard, Bind::Column(column)).push(" AND ");
        }
        let key = self.d.columns[0].column;
        let others = self.name(key).push(" <> ").bind(Bind::Column(0)).push(" LIMIT 1");
        match others.dialect {
            // Inside a caller's transaction only a locking read shows what is committed now.
            Dialect::MySql => others.push(" LOCK IN SHARE MODE"),
            Dialect::Sqlite | Dialect::Postgres => others,
        }
    }

    pub(crate) fn page(mut self, next: bool) -> Self {
        let key = self.d.columns[0].column;
        for (part, column) in self.d.place().enumerate().skip(1) {
            let guard = self.d.columns[column].column;
            self = self.push(" AND ").equals(guard, Bind::Place(part));
        }
        if next {
            self = self.push(" AND ").name(key).push(" > ").bind(Bind::Place(0));
        }
        self.push(" ORDER BY ").name(key).push(" LIMIT ").bind(Bind::Limit)
    }

    pub(crate) fn locking(self) -> Self {
        match self.dialect {
            // A write transaction locks the whole file; there is no lock of a row.
            Dialect::Sqlite => self,
            Dialect::Postgres | Dialect::MySql => self.push(" FOR UPDATE"),
        }
    }

    pub(crate) fn lock_file(self) -> Self {
        let d = self.d;
        self.name(d.table).push(" SET ").name(d.version).push(" = ").name(d.version).push(" WHERE 0")
    }

    pub(crate) fn now(self) -> Self {
        let now = clock::now(self.dialect);
        self.push(now)
    }

    /// `version = version + 1 [, updated_at = …]`
    pub(crate) fn bump(self) -> Self {
        let d = self.d;
        let bumped = self.name(d.version).push(" = ").name(d.version).push(" + 1");
        match d.updated_at {
            Some(column) => bumped.push(", ").name(column).push(" = ").now(),
            None => bumped,
        }
    }

    pub(crate) fn update(self, to: usize) -> Self {
        let d = self.d;
        let mut update = self.name(d.table).push(" SET ").status(Bind::Status).push(", ").bump();
        for (own, fact) in d.states[to].own.iter().enumerate() {
            update = update.push(", ").equals(d.facts[*fact].column, Bind::New(own));
        }
        update.push(" WHERE ").expected()
    }

    pub(crate) fn amend(self) -> Self {
        let d = self.d;
        let mut amend = self.name(d.table).push(" SET ").bump();
        for (i, column) in d.columns.iter().enumerate().skip(1).filter(|(_, c)| !c.guard) {
            amend = amend.push(", ").equals(column.column, Bind::Column(i));
        }
        amend.push(" WHERE ").expected()
    }

    pub(crate) fn insert(self) -> Self {
        let d = self.d;
        let mut names = Vec::new();
        let mut values = Vec::new();
        for (i, column) in d.columns.iter().enumerate() {
            names.push(column.column);
            values.push(Some(Bind::Column(i)));
        }
        names.extend([d.status, d.version]);
        values.extend([Some(Bind::Status), Some(Bind::FirstVersion)]);
        for (own, fact) in d.states[0].own.iter().enumerate() {
            names.push(d.facts[*fact].column);
            values.push(Some(Bind::New(own)));
        }
        if let Some(column) = d.updated_at {
            names.push(column);
            values.push(None);
        }
        let mut insert = self.name(d.table).push(" (");
        for (i, name) in names.into_iter().enumerate() {
            insert = insert.push(if i == 0 { "" } else { ", " }).name(name);
        }
        insert = insert.push(") VALUES (");
        for (i, value) in values.into_iter().enumerate() {
            insert = insert.push(if i == 0 { "" } else { ", " });
            insert = match value {
                Some(bind) => insert.bind(bind),
                None => insert.now(),
            };
        }
        insert = insert.push(")");
        match insert.dialect {
            // No conflict target: whatever index refuses the row, reading decides what that means, and a caller's
            // PostgreSQL transaction survives it.
            Dialect::Sqlite | Dialect::Postgres => insert.push(" ON CONFLICT DO NOTHING"),
            // `INSERT IGNORE` would also turn bad values into others.
            Dialect::MySql => insert,
        }
    }
}
