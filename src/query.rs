//! Statements on the tables that the crate itself brings: written once, for every database.

use crate::{
    backend::{Backend, Supports},
    boundary::settled_depth,
    clock,
    error::{BoxError, Error, ErrorKind},
    fault::Fault,
    policy::restarts,
    session::Db,
    statement::Dialect,
};
use std::{future::Future, sync::OnceLock};

/// A text, made for each database when it is first needed and kept.
///
/// Values stand as `?`. `{now}` is the database's clock, `{later}` the same and a number of milliseconds more, which is
/// a value; `{micros:column}` reads such a time. `{behind:column}` orders by a column that stands in an index behind what
/// is looked for.
#[derive(Debug)]
pub(crate) struct Sql {
    text: &'static str,
    kind: Kind,
    made: [OnceLock<String>; 3],
}

/// What a statement is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Write,
    /// A unique index may refuse the row: then nothing is written, and that is no error.
    InsertOnce,
}

impl Sql {
    pub(crate) const fn read(text: &'static str) -> Self {
        Self::new(text, Kind::Read)
    }

    pub(crate) const fn write(text: &'static str) -> Self {
        Self::new(text, Kind::Write)
    }

    pub(crate) const fn insert_once(text: &'static str) -> Self {
        Self::new(text, Kind::InsertOnce)
    }

    const fn new(text: &'static str, kind: Kind) -> Self {
        Self { text, kind, made: [const { OnceLock::new() }; 3] }
    }

    fn get(&'static self, dialect: Dialect) -> &'static str {
        self.made[dialect as usize].get_or_init(|| made(self.text, self.kind, dialect))
    }
}

/// The text for a database.
pub(crate) fn made(text: &str, kind: Kind, dialect: Dialect) -> String {
    let mut text = written(text, dialect);
    // MySQL has no such ending, and `INSERT IGNORE` would also turn bad values into others.
    if kind == Kind::InsertOnce && dialect != Dialect::MySql {
        text.push_str(" ON CONFLICT DO NOTHING");
    }
    text
}

fn written(text: &str, dialect: Dialect) -> String {
    let text = text.replace("{now}", clock::now(dialect)).replace("{later}", clock::later(dialect));
    let text = each(text, "{micros:", |column| clock::micros(dialect, column));
    // PostgreSQL would rather go through the primary key, in the hope of a match soon; the index has the sum.
    let behind = if dialect == Dialect::Postgres { " + 0" } else { "" };
    let text = each(text, "{behind:", |column| format!("{column}{behind}"));
    if dialect != Dialect::Postgres {
        return text;
    }
    let mut parts = text.split('?');
    let mut numbered = parts.next().unwrap_or_default().to_owned();
    for (i, part) in parts.enumerate() {
        numbered.push('$');
        numbered.push_str(&(i + 1).to_string());
        numbered.push_str(part);
    }
    numbered
}

/// Replaces what stands between this and the next brace.
fn each(mut text: String, start: &str, with: impl Fn(&str) -> String) -> String {
    while let Some((before, rest)) = text.split_once(start)
        && let Some((name, after)) = rest.split_once('}')
    {
        text = format!("{before}{}{after}", with(name));
    }
    text
}

/// A text with its values.
pub(crate) struct Query<B: Backend> {
    text: &'static str,
    kind: Kind,
    arguments: Result<B::Arguments, BoxError>,
}

/// What a statement did.
pub(crate) struct Done<B: Backend> {
    pub(crate) changed: u64,
    pub(crate) rows: Vec<B::Row>,
}

impl<B: Backend> Query<B> {
    pub(crate) fn new(sql: &'static Sql) -> Self {
        Self::of(sql.get(B::DIALECT), sql.kind)
    }

    /// Of a text that is made for this database and kept elsewhere.
    pub(crate) fn of(text: &'static str, kind: Kind) -> Self {
        Self { text, kind, arguments: Ok(B::Arguments::default()) }
    }

    /// The next value.
    pub(crate) fn bind<T>(self, value: &T) -> Self
    where
        B: Supports<T>,
    {
        self.with(|arguments| <B as Supports<T>>::bind(arguments, value))
    }

    pub(crate) fn text(self, value: &str) -> Self {
        self.bind(&value.to_owned())
    }

    /// The next value, which may be null.
    pub(crate) fn maybe<T: Clone>(self, value: Option<&T>) -> Self
    where
        B: Supports<T>,
    {
        self.with(|arguments| <B as Supports<T>>::bind_option(arguments, &value.cloned()))
    }

    /// Likewise a text.
    pub(crate) fn option(self, value: Option<&str>) -> Self {
        self.maybe(value.map(str::to_owned).as_ref())
    }

    fn with(mut self, bind: impl FnOnce(&mut B::Arguments) -> Result<(), BoxError>) -> Self {
        self.arguments = self.arguments.and_then(|mut arguments| bind(&mut arguments).map(|()| arguments));
        self
    }

    /// Runs it here.
    pub(crate) async fn run(self, connection: &mut B::Connection) -> Result<Done<B>, sqlx::Error> {
        let arguments = self.arguments.map_err(sqlx::Error::Encode)?;
        let text = self.text;
        let changed = match self.kind {
            Kind::Read => {
                let rows = B::fetch(connection, text, arguments).await?;
                return Ok(Done { changed: 0, rows });
            }
            Kind::Write => B::execute(connection, text, arguments).await?,
            Kind::InsertOnce => match B::execute(connection, text, arguments).await {
                Err(sqlx::Error::Database(error)) if error.is_unique_violation() => 0,
                changed => changed?,
            },
        };
        Ok(Done { changed, rows: Vec::new() })
    }
}

/// Runs a statement that stands alone, again after engine conflicts, except in a transaction of the caller's.
pub(crate) async fn alone<B: Backend>(
    db: &mut Db<'_, B>,
    table: &'static str,
    query: impl Fn() -> Query<B> + Send,
) -> Result<Done<B>, Error> {
    let mut restarts = restarts();
    loop {
        let lease = db.acquire().await;
        let mut lease = lease.map_err(|error| Error::new(ErrorKind::Database, table).source(error))?;
        let theirs = !lease.is_pooled() && settled_depth::<B>(lease.connection()).await > 0;
        let query = query();
        let reads = query.kind == Kind::Read;
        let fault = match query.run(lease.connection()).await {
            Ok(done) => {
                lease.release();
                return Ok(done);
            }
            Err(error) => Fault::of::<B>(error),
        };
        lease.release_after(&fault);
        match (fault, restarts.next()) {
            (Fault::Conflict(_), Some(delay)) if !theirs => tokio::time::sleep(delay).await,
            (fault, _) if theirs => return Err(fault.into_error(ErrorKind::RestartTransaction, table)),
            (fault, _) if reads => return Err(fault.into_error(ErrorKind::Busy, table)),
            (fault, _) => return Err(fault.into_error_of_write(table)),
        }
    }
}

/// Tries again what got no reply, where a second try finds what the first one did. Another error of a later try says nothing
/// about the first.
pub(crate) async fn settled<T, F>(work: impl Fn() -> F) -> Result<T, Error>
where
    F: Future<Output = Result<T, Error>>,
{
    let mut restarts = restarts();
    let mut unanswered = None;
    loop {
        let error = match work().await {
            Ok(done) => return Ok(done),
            Err(error) => error,
        };
        let is_open = error.kind() == ErrorKind::CommitUnknown;
        let first = unanswered.take().unwrap_or(error);
        match restarts.next().filter(|_| is_open) {
            Some(delay) => tokio::time::sleep(delay).await,
            None => return Err(first),
        }
        unanswered = Some(first);
    }
}

/// A column of ours that must have a value.
pub(crate) fn required<B, T>(row: &B::Row, column: usize, table: &'static str) -> Result<T, Error>
where
    B: Backend + Supports<T>,
{
    optional::<B, T>(row, column, table)?.ok_or_else(|| unreadable(column, table))
}

/// One that may be null.
pub(crate) fn optional<B, T>(row: &B::Row, column: usize, table: &'static str) -> Result<Option<T>, Error>
where
    B: Backend + Supports<T>,
{
    <B as Supports<T>>::get(row, column).map_err(|error| unreadable(column, table).source(error))
}

/// Likewise a text, which may be stored as bytes.
pub(crate) fn text<B: Backend>(
    row: &B::Row,
    column: usize,
    table: &'static str,
) -> Result<Option<String>, Error> {
    B::get_text(row, column).map_err(|error| unreadable(column, table).source(error))
}

fn unreadable(column: usize, table: &'static str) -> Error {
    Error::new(ErrorKind::Unreadable, table).note(format!("column {column} of those that were read"))
}

/// Refuses a name that does not fit its column: cut off, two of them could become one.
pub(crate) fn fits(name: &str, limit: usize, what: &'static str, table: &'static str) -> Result<(), Error> {
    if name.len() <= limit {
        return Ok(());
    }
    let note = format!("the {what} has {} bytes, {limit} are the limit", name.len());
    Err(Error::new(ErrorKind::TooLong, table).note(note))
}

/// The longest source, and the longest message id or business key, in bytes.
pub(crate) const SOURCE: usize = 64;
pub(crate) const KEY: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_written_once_for_every_database() {
        static SQL: Sql =
            Sql::insert_once("INSERT INTO t (a, due, b) SELECT ?, {later}, {micros:at} FROM u WHERE c = ?");
        let (sqlite, postgres, mysql) =
            (SQL.get(Dialect::Sqlite), SQL.get(Dialect::Postgres), SQL.get(Dialect::MySql));
        assert!(
            postgres.contains("SELECT $1, (CURRENT_TIMESTAMP + $2 * INTERVAL '1 millisecond')"),
            "{postgres}"
        );
        assert!(postgres.ends_with("c = $3 ON CONFLICT DO NOTHING"), "{postgres}");
        assert!(
            sqlite.ends_with("c = ? ON CONFLICT DO NOTHING") && sqlite.contains("julianday(at)"),
            "{sqlite}"
        );
        assert!(mysql.ends_with("WHERE c = ?"), "{mysql}");
        let ordered = |dialect| written("ORDER BY {behind:u.id}, {behind:v}", dialect);
        assert_eq!(ordered(Dialect::Postgres), "ORDER BY u.id + 0, v + 0");
        assert_eq!(ordered(Dialect::MySql), "ORDER BY u.id, v");
    }
}
