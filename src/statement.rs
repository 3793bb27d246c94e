//! Description and dialect become SQL text and the order in which values are bound. Pure; no database is needed.

use crate::{
    journal::{Field, JournalStatements},
    lifecycle::Description,
    sweep::Older,
    writer::Writer,
};
use std::sync::OnceLock;

/// Which SQL is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[doc(hidden)]
pub enum Dialect {
    Sqlite,
    Postgres,
    MySql,
}

/// A text and what is bound to its placeholders, in order.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Statement {
    pub(crate) sql: String,
    pub(crate) binds: Vec<Bind>,
}

/// What is bound to a placeholder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bind {
    /// The status to be written or, in a listing, looked for.
    Status,
    /// The version that a new row has.
    FirstVersion,
    /// A new fact, as a place among the target's own.
    New(usize),
    /// A column of the row.
    Column(usize),
    /// A part of the row's place when there is no row at hand: 0 is the key, guards follow.
    Place(usize),
    /// The status that the row is expected to have.
    Expected,
    /// The version that the row is expected to have.
    Version,
    /// How many rows at the most.
    Limit,
    /// How old a row must be: milliseconds, less than none.
    Age,
    /// What the journal's entry says.
    Logged(Field),
}

/// Every statement of one lifecycle on one database.
#[doc(hidden)]
#[derive(Debug)]
pub struct Statements {
    /// The row at a place.
    pub(crate) find: Statement,
    /// The same with a lock that also shows what is committed now inside an older snapshot.
    pub(crate) lock: Statement,
    /// On SQLite: makes a transaction a writing one without touching a row.
    pub(crate) lock_file: String,
    /// The first page of a state, and the next one.
    pub(crate) list: [Statement; 2],
    pub(crate) insert: Statement,
    pub(crate) amend: Statement,
    /// The guarded update into each state.
    pub(crate) update: Vec<Statement>,
    /// Another row that has the same cause, for each transition that has a cause of its own.
    pub(crate) cause: Vec<Option<Statement>>,
    /// Another row that has the same value in a column declared unique.
    pub(crate) unique_column: Vec<(usize, Statement)>,
    /// Likewise for the own facts of each state.
    pub(crate) unique_fact: Vec<Vec<(usize, Statement)>>,
    pub(crate) journal: Option<JournalStatements>,
    /// For sweeps by each column, by each fact and by `updated_at`; made when they are first needed.
    older: Vec<OnceLock<Older>>,
}

/// The statements of one lifecycle, made when they are first needed and kept.
#[doc(hidden)]
#[derive(Debug)]
pub struct StatementCache([OnceLock<Statements>; 3]);

impl StatementCache {
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Self([const { OnceLock::new() }; 3])
    }

    pub fn get(&'static self, description: &Description, dialect: Dialect) -> &'static Statements {
        self.0[dialect as usize].get_or_init(|| Statements::new(description, dialect))
    }
}

impl Statements {
    pub(crate) fn new(d: &Description, dialect: Dialect) -> Self {
        let sql = |text: &str| Writer::new(d, dialect, text);
        let states = d.states.iter();
        Self {
            find: sql("SELECT ").select().push(" WHERE ").place(Bind::Place).end(),
            lock: sql("SELECT ").select().push(" WHERE ").place(Bind::Place).locking().end(),
            lock_file: sql("UPDATE ").lock_file().sql,
            list: [false, true].map(|next| {
                let page = sql("SELECT ").select().push(" WHERE ").status(Bind::Status);
                page.page(next).end()
            }),
            insert: sql("INSERT INTO ").insert().logged().end(),
            amend: sql("UPDATE ").amend().logged().end(),
            update: (0..d.states.len()).map(|to| sql("UPDATE ").update(to).logged().end()).collect(),
            cause: (0..d.transitions.len())
                .map(|t| {
                    let by = d.transitions[t].by;
                    (!by.is_empty() && !d.transitions[t].shared).then(|| {
                        let facts =
                            d.cause(t).zip(by).map(|(fact, own)| (d.facts[fact].column, Bind::New(*own)));
                        sql("SELECT ").select().push(" WHERE ").others(facts).end()
                    })
                })
                .collect(),
            unique_column: d
                .columns
                .iter()
                .enumerate()
                .filter(|(_, c)| c.unique)
                .map(|(i, c)| {
                    let column = std::iter::once((c.column, Bind::Column(i)));
                    (i, sql("SELECT ").select().push(" WHERE ").others(column).end())
                })
                .collect(),
            unique_fact: states
                .map(|state| {
                    let own = state.own.iter().enumerate();
                    own.filter(|(_, fact)| d.facts[**fact].unique)
                        .map(|(own, fact)| {
                            let fact = std::iter::once((d.facts[*fact].column, Bind::New(own)));
                            (own, sql("SELECT ").select().push(" WHERE ").others(fact).end())
                        })
                        .collect()
                })
                .collect(),
            journal: JournalStatements::new(d, dialect),
            older: (0..=d.columns.len() + d.facts.len()).map(|_| OnceLock::new()).collect(),
        }
    }

    /// For sweeps by the column of this name, or of the field of this name.
    pub(crate) fn older(&self, d: &Description, dialect: Dialect, name: &str) -> Option<&Older> {
        let columns = d.columns.iter().map(|column| (column.field, column.column));
        let facts = d.facts.iter().map(|fact| (fact.field, fact.column));
        let mut all = columns.chain(facts).chain(d.updated_at.map(|column| (column, column))).enumerate();
        let (place, (_, column)) = all.find(|(_, (field, column))| name == *field || name == *column)?;
        Some(self.older.get(place)?.get_or_init(|| Older::new(d, dialect, column)))
    }
}

/// Every column that is read, in order: the row's, status, version, facts.
pub(crate) fn selected(d: &Description) -> impl Iterator<Item = &'static str> + '_ {
    let columns = d.columns.iter().map(|c| c.column);
    columns.chain([d.status, d.version]).chain(d.facts.iter().map(|f| f.column))
}

/// A name in the quotes of its database; a table's schema is quoted on its own.
///
/// SQLite takes backticks too, and only then is a misspelt column an error there: in double quotes it would be a text
/// that matches nothing, which reads as a lost race.
pub(crate) fn quoted(dialect: Dialect, name: &str) -> String {
    let quote = if dialect == Dialect::Postgres { '"' } else { '`' };
    let part = |part: &str| format!("{quote}{}{quote}", part.replace(quote, &format!("{quote}{quote}")));
    name.split('.').map(part).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lifecycle::{Column, Fact, StateInfo, StatusType, TransitionInfo};

    const ORDER: Description = {
        const fn column(name: &'static str, unique: bool, guard: bool) -> Column {
            Column { field: name, column: name, rust_type: "i64", unique, guard }
        }
        const fn fact(name: &'static str, unique: bool) -> Fact {
            Fact { field: name, column: name, rust_type: "String", optional: false, unique }
        }
        const fn state(name: &'static str, own: &'static [usize], known: &'static [usize]) -> StateInfo {
            StateInfo { name, text: name, code: None, own, known }
        }
        const fn step(
            name: &'static str,
            from: &'static [usize],
            to: usize,
            by: &'static [usize],
        ) -> TransitionInfo {
            TransitionInfo { name, from, to, by, shared: false }
        }
        Description {
            name: "Order",
            table: "shop.orders",
            columns: &[column("id", false, false), column("tenant", false, true), column("no", true, false)],
            status: "state",
            status_type: StatusType::Text,
            version: "v",
            updated_at: Some("changed"),
            facts: &[fact("channel", false), fact("trade", true), fact("parcel", false)],
            states: &[
                state("new", &[], &[]),
                state("paid", &[0, 1], &[0, 1]),
                state("sent", &[2], &[0, 1, 2]),
            ],
            transitions: &[step("pay", &[0], 1, &[0, 1]), step("send", &[1], 2, &[])],
            journal: None,
        }
    };

    #[test]
    fn an_update_is_guarded_by_key_guards_status_and_version() {
        let postgres = Statements::new(&ORDER, Dialect::Postgres);
        assert_eq!(
            postgres.update[1].sql,
            r#"UPDATE "shop"."orders" SET "state" = $1, "v" = "v" + 1, "changed" = CURRENT_TIMESTAMP, "channel" = $2, "trade" = $3 WHERE "id" = $4 AND "tenant" = $5 AND "state" = $6 AND "v" = $7"#
        );
        let order = [
            Bind::Status,
            Bind::New(0),
            Bind::New(1),
            Bind::Column(0),
            Bind::Column(1),
            Bind::Expected,
            Bind::Version,
        ];
        assert_eq!(postgres.update[1].binds, order);
        let mysql = Statements::new(&ORDER, Dialect::MySql);
        assert_eq!(
            mysql.update[2].sql,
            "UPDATE `shop`.`orders` SET `state` = ?, `v` = `v` + 1, `changed` = UTC_TIMESTAMP(6), `parcel` = ? WHERE `id` = ? AND `tenant` = ? AND `state` = ? AND `v` = ?"
        );
    }

    #[test]
    fn an_amendment_leaves_key_and_guards_alone() {
        let sqlite = Statements::new(&ORDER, Dialect::Sqlite);
        assert!(
            sqlite.amend.sql.contains("+00:00', 'now'), `no` = ? WHERE `id` = ? AND `tenant` = ?"),
            "{}",
            sqlite.amend.sql
        );
        assert!(!sqlite.amend.sql.contains("SET `tenant`") && !sqlite.amend.sql.contains(", `tenant` ="));
    }

    #[test]
    fn a_new_row_never_replaces_one() {
        let text = |dialect| Statements::new(&ORDER, dialect).insert.sql;
        assert!(text(Dialect::Sqlite).ends_with("ON CONFLICT DO NOTHING"));
        assert!(text(Dialect::Postgres).ends_with("ON CONFLICT DO NOTHING"));
        assert!(!text(Dialect::MySql).contains("IGNORE"));
    }

    #[test]
    fn lookups_of_other_rows() {
        let postgres = Statements::new(&ORDER, Dialect::Postgres);
        let cause = postgres.cause[0].as_ref().map(|s| s.sql.as_str()).unwrap_or_default();
        let expected = r#"WHERE "channel" = $1 AND "trade" = $2 AND "tenant" = $3 AND "id" <> $4 LIMIT 1"#;
        assert!(cause.ends_with(expected), "{cause}");
        assert!(postgres.cause[1].is_none());
        assert_eq!(postgres.unique_column.len(), 1);
        assert_eq!(postgres.unique_fact[1][0].0, 1);
        let pages = &postgres.list;
        assert!(pages[0].sql.ends_with(r#"WHERE "state" = $1 AND "tenant" = $2 ORDER BY "id" LIMIT $3"#));
        assert!(pages[1].sql.ends_with(r#"AND "tenant" = $2 AND "id" > $3 ORDER BY "id" LIMIT $4"#));
    }

    #[test]
    fn quotes_in_names_do_not_end_them() {
        assert_eq!(quoted(Dialect::Postgres, r#"a"b.c"#), r#""a""b"."c""#);
        assert_eq!(quoted(Dialect::Sqlite, "a`b"), "`a``b`");
    }
}
