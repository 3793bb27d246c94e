//! The journal's SQL.

use super::Field;
use crate::{
    clock,
    lifecycle::Description,
    statement::{Bind, Dialect, Statement},
    writer::Writer,
};

/// The columns of an entry behind its key and guards, and what is written to them.
pub(super) const COLUMNS: [(&str, Field); 9] = [
    ("version", Field::Version),
    ("transition", Field::Transition),
    ("from_state", Field::From),
    ("to_state", Field::To),
    ("cause", Field::Cause),
    ("sole_cause", Field::SoleCause),
    ("actor", Field::Actor),
    ("request_id", Field::Request),
    ("attempt_id", Field::Attempt),
];

/// The column of the row's key, and that of the time.
pub(super) const KEY: &str = "row_key";
pub(super) const AT: &str = "at";

/// Every statement about one lifecycle's journal on one database.
#[derive(Debug)]
pub(crate) struct JournalStatements {
    /// The entry of a write, where the write does not bring it along.
    pub(crate) entry: Option<Statement>,
    /// Raises the version and nothing else, so that what was sent on the old one can take effect no more.
    pub(crate) fence: Statement,
    /// What the journal knows about an attempt, and the same with a lock that shows what is committed now.
    pub(crate) evidence: [Statement; 2],
    /// The entries of one row.
    pub(crate) history: Statement,
}

impl JournalStatements {
    pub(crate) fn new(d: &Description, dialect: Dialect) -> Option<Self> {
        let journal = d.journal?;
        let sql = |text: &str| Writer::new(d, dialect, text);
        Some(Self {
            entry: (!in_one_statement(dialect)).then(|| sql("").entry(journal, "VALUES (", ")").end()),
            fence: sql("UPDATE ").fence().logged().end(),
            evidence: [false, true].map(|locked| sql("").evidence(journal, locked).end()),
            history: sql("SELECT ").history(journal).end(),
        })
    }
}

/// Whether a write and its entry can be one statement.
fn in_one_statement(dialect: Dialect) -> bool {
    match dialect {
        Dialect::Postgres => true,
        Dialect::Sqlite | Dialect::MySql => false,
    }
}

impl Writer<'_> {
    /// A write is written: with its entry, where both can be one statement.
    pub(crate) fn logged(self) -> Self {
        match self.d.journal {
            Some(journal) if in_one_statement(self.dialect) => {
                self.wrap("WITH moved AS (", " RETURNING 1) ").entry(journal, "SELECT ", " FROM moved")
            }
            _ => self,
        }
    }

    /// The places of key and guards, with their columns in the journal.
    fn journalled_place(&self) -> Vec<(usize, &'static str)> {
        let place = self.d.place().enumerate();
        place
            .map(|(part, column)| (column, if part == 0 { KEY } else { self.d.columns[column].column }))
            .collect()
    }

    fn entry(mut self, journal: &str, values: &str, end: &str) -> Self {
        let place = self.journalled_place();
        self = self.push("INSERT INTO ").name(journal).push(" (");
        for (_, column) in &place {
            self = self.name(column).push(", ");
        }
        for (column, _) in COLUMNS {
            self = self.name(column).push(", ");
        }
        self = self.name(AT).push(") ").push(values);
        for (column, _) in place {
            self = self.bind(Bind::Column(column)).push(", ");
        }
        for (_, field) in COLUMNS {
            self = self.bind(Bind::Logged(field)).push(", ");
        }
        self.now().push(end)
    }

    fn fence(self) -> Self {
        let d = self.d;
        self.name(d.table).push(" SET ").bump().push(" WHERE ").expected()
    }

    fn guarded(mut self, from: usize) -> Self {
        for (column, name) in self.journalled_place().into_iter().skip(from) {
            self = self.push(" AND ").equals(name, Bind::Column(column));
        }
        self
    }

    /// Five questions in one, each answered by an index of its own: this attempt; this request; the step into the
    /// target; this cause; the version that the row would have.
    fn evidence(mut self, journal: &str, locked: bool) -> Self {
        let locks = locked && self.dialect == Dialect::MySql;
        let logged = Bind::Logged;
        // Inside a caller's transaction no reply is ever lost; and to look for an id that is not there would lock a
        // gap on MySQL, in which others insert theirs.
        let first = usize::from(locked);
        for question in first..5 {
            self = self.push(if question == first { "" } else { " UNION ALL " });
            self = self.push(if locks { "(" } else { "" });
            self = self.push("SELECT ").name(KEY);
            for (column, _) in COLUMNS {
                self = self.push(", ").name(column);
            }
            self = self.push(" FROM ").name(journal).push(" WHERE ");
            self = match question {
                0 => self.equals("attempt_id", logged(Field::Attempt)),
                1 => self.equals("request_id", logged(Field::Request)).guarded(1),
                2 => {
                    let step = self.equals(KEY, Bind::Column(0)).guarded(1).push(" AND ");
                    let entered = step.equals("to_state", logged(Field::To)).push(" AND ").name("from_state");
                    entered.push(" <> ").name("to_state")
                }
                3 => {
                    let step = self.equals("transition", logged(Field::Transition)).push(" AND ");
                    step.equals("sole_cause", logged(Field::SoleCause)).guarded(1)
                }
                _ => {
                    let row = self.equals(KEY, Bind::Column(0)).guarded(1).push(" AND ");
                    row.equals("version", logged(Field::Version))
                }
            };
            self = self.push(if locks { " LOCK IN SHARE MODE)" } else { "" });
        }
        self
    }

    fn history(mut self, journal: &str) -> Self {
        self = self.name(KEY);
        for (column, _) in COLUMNS {
            self = self.push(", ").name(column);
        }
        let at = crate::statement::quoted(self.dialect, AT);
        let micros = clock::micros(self.dialect, &at);
        self = self.push(", ").push(&micros).push(" FROM ").name(journal).push(" WHERE ");
        for (part, (_, name)) in self.journalled_place().into_iter().enumerate() {
            self = self.push(if part == 0 { "" } else { " AND " }).equals(name, Bind::Place(part));
        }
        self.push(" ORDER BY ").name("version")
    }
}
