//! The journal's table, as text for whoever looks after the schema.

use super::sql::{AT, COLUMNS, KEY};
use crate::{
    backend::Backend,
    error::{Error, ErrorKind},
    journal::Field,
    lifecycle::{Column, Description},
    statement::{Dialect, quoted},
};
use std::fmt::Write;

impl Description {
    /// The SQL that creates the journal's table on a database, for a migration of yours: statements without arguments.
    ///
    /// Its unique indexes are the last word on "one entry a version", "one request, one step" and "one payment, one
    /// order". Nothing may be written to it but by onward.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/journalled.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), onward::BoxError> {
    /// # let (db, _order) = example().await?;
    /// use onward::{Lifecycle, sqlx};
    ///
    /// let sql = AnyOrder::DESCRIPTION.journal_table::<sqlx::Sqlite>()?;
    /// # let sql = sql.replace("order_journal", "another");
    /// sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&db).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotDeclared`] if no journal was declared, or if the key or a guard has a type whose column type is
    /// not known here: then take the text of another lifecycle and put in the type of the table's own column.
    pub fn journal_table<B: Backend>(&self) -> Result<String, Error> {
        let dialect = B::DIALECT;
        let partial = has_partial_indexes(dialect);
        let Some(journal) = self.journal else {
            return Err(Error::new(ErrorKind::NotDeclared, self.table).note("there is no journal"));
        };
        let name = |name: &str| quoted(dialect, name);
        let mut place = Vec::new();
        let mut sql = format!("CREATE TABLE {} (\n", name(journal));
        for (part, column) in self.place().map(|column| &self.columns[column]).enumerate() {
            let own = name(if part == 0 { KEY } else { column.column });
            let _ = writeln!(sql, "    {own} {} NOT NULL,", self.column_type(dialect, column)?);
            place.push(own);
        }
        for (column, field) in COLUMNS {
            let _ = writeln!(sql, "    {} {},", name(column), field_type(dialect, field));
        }
        let _ = writeln!(sql, "    {} {} NOT NULL,", name(AT), time_type(dialect));
        let (place, guards) = (place.join(", "), place[1..].iter().map(|guard| format!("{guard}, ")));
        let guards: String = guards.collect();
        let _ = writeln!(sql, "    PRIMARY KEY ({place}, {}),", name("version"));
        let optional = [
            (name("request_id"), format!("({guards}{})", name("request_id"))),
            (name("sole_cause"), format!("({guards}{}, {})", name("transition"), name("sole_cause"))),
        ];
        let _ = write!(sql, "    UNIQUE ({})", name("attempt_id"));
        if partial {
            sql.push_str("\n);\n");
            for (given, columns) in optional {
                let _ = writeln!(
                    sql,
                    "CREATE UNIQUE INDEX ON {} {columns} WHERE {given} IS NOT NULL;",
                    name(journal)
                );
            }
            return Ok(sql);
        }
        for (_, columns) in optional {
            let _ = write!(sql, ",\n    UNIQUE {columns}");
        }
        sql.push_str(match dialect {
            Dialect::MySql => "\n) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;\n",
            Dialect::Sqlite | Dialect::Postgres => "\n);\n",
        });
        Ok(sql)
    }

    fn column_type(&self, dialect: Dialect, column: &Column) -> Result<&'static str, Error> {
        let last = column.rust_type.rsplit("::").next().unwrap_or_default().trim();
        let types = match last {
            "i8" | "i16" | "u8" => ["INTEGER", "SMALLINT", "SMALLINT"],
            "i32" | "u16" => ["INTEGER", "INTEGER", "INT"],
            "i64" | "u32" => ["INTEGER", "BIGINT", "BIGINT"],
            "u64" => ["INTEGER", "BIGINT", "BIGINT UNSIGNED"],
            "String" => ["TEXT", "TEXT", "VARCHAR(255)"],
            "Uuid" => ["BLOB", "UUID", "BINARY(16)"],
            _ => {
                let note = format!("no column type is known for `{}: {}`", column.field, column.rust_type);
                return Err(Error::new(ErrorKind::NotDeclared, self.table).note(note));
            }
        };
        Ok(types[dialect as usize])
    }
}

/// Whether an index leaves out the entries that have no value there, which then cost no write: on `PostgreSQL` 7 % of
/// what a journalled step writes ahead. MySQL has no such index, and on SQLite it would need a name.
fn has_partial_indexes(dialect: Dialect) -> bool {
    match dialect {
        Dialect::Postgres => true,
        Dialect::Sqlite | Dialect::MySql => false,
    }
}

fn field_type(dialect: Dialect, field: Field) -> &'static str {
    match (field, dialect) {
        (Field::Version, _) => "BIGINT NOT NULL",
        (Field::Transition | Field::To, Dialect::MySql) => "VARCHAR(64) NOT NULL",
        (Field::From, Dialect::MySql) => "VARCHAR(64)",
        (Field::Attempt, Dialect::MySql) => "CHAR(32) NOT NULL",
        (Field::Transition | Field::To | Field::Attempt, _) => "TEXT NOT NULL",
        // Bytes: every collation takes 'a ' for 'a', or differs between MySQL and MariaDB.
        (Field::Cause | Field::SoleCause | Field::Actor | Field::Request, Dialect::MySql) => "VARBINARY(512)",
        (Field::From | Field::Cause | Field::SoleCause | Field::Actor | Field::Request, _) => "TEXT",
    }
}

fn time_type(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => "TEXT",
        Dialect::Postgres => "TIMESTAMPTZ",
        Dialect::MySql => "DATETIME(6)",
    }
}
