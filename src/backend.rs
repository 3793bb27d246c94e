//! The only place that names databases.

use crate::{error::BoxError, session::Session, statement::Dialect};
use sqlx::{
    ColumnIndex, Database, Decode, Encode, IntoArguments, Row as _, Type, ValueRef as _, error::DatabaseError,
};
use std::future::Future;

/// `Self` has a column type for `T`.
///
/// It holds by itself for every type that sqlx can encode and decode there. A [`Backend`] supports the usual types
/// without further words; generic code over a lifecycle with a column type of its own adds `B: Supports<Cents>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no column type for `{T}`",
    label = "a column of this type cannot be stored there",
    note = "it needs sqlx's `Type`, `Encode` and `Decode` for that database; is a feature (`uuid`, `chrono`, …) missing?"
)]
pub trait Supports<T>: Database {
    #[doc(hidden)]
    fn bind(arguments: &mut Self::Arguments, value: &T) -> Result<(), BoxError>;
    #[doc(hidden)]
    fn bind_option(arguments: &mut Self::Arguments, value: &Option<T>) -> Result<(), BoxError>;
    #[doc(hidden)]
    fn get(row: &Self::Row, column: usize) -> Result<Option<T>, sqlx::Error>;
}

// The database comes first, so that this can be a *supertrait* of `Backend`: supertraits are implied where only
// `B: Backend` is written, where-clauses are not.
#[diagnostic::do_not_recommend]
impl<DB: Database, T> Supports<T> for DB
where
    T: for<'q> Encode<'q, DB> + for<'r> Decode<'r, DB> + Type<DB>,
    Option<T>: for<'q> Encode<'q, DB> + Type<DB>,
    usize: ColumnIndex<DB::Row>,
{
    fn bind(arguments: &mut DB::Arguments, value: &T) -> Result<(), BoxError> {
        sqlx::Arguments::add(arguments, value)
    }

    fn bind_option(arguments: &mut DB::Arguments, value: &Option<T>) -> Result<(), BoxError> {
        sqlx::Arguments::add(arguments, value)
    }

    fn get(row: &DB::Row, column: usize) -> Result<Option<T>, sqlx::Error> {
        if row.try_get_raw(column)?.is_null() {
            return Ok(None);
        }
        row.try_get(column).map(Some)
    }
}

macro_rules! supports {
    ($(#[$cfg:meta])* $name:ident: $($t:ty),* $(,)?) => {
        $(#[$cfg])* #[doc(hidden)] pub trait $name: $(Supports<$t> +)* Database {}
        $(#[$cfg])* impl<DB: $(Supports<$t> +)* Database> $name for DB {}
    };
    ($(#[$cfg:meta])* $name:ident) => {
        $(#[$cfg])* #[doc(hidden)] pub trait $name {}
        $(#[$cfg])* impl<DB> $name for DB {}
    };
}
supports!(Standard: i16, i32, i64, f32, f64, bool, String, Vec<u8>);
supports!(#[cfg(feature = "uuid")] WithUuid: uuid::Uuid);
supports!(
    #[cfg(not(feature = "uuid"))]
    WithUuid
);
supports!(#[cfg(feature = "chrono")] WithChrono: chrono::DateTime<chrono::Utc>, chrono::NaiveDateTime, chrono::NaiveDate, chrono::NaiveTime);
supports!(
    #[cfg(not(feature = "chrono"))]
    WithChrono
);
supports!(#[cfg(feature = "time")] WithTime: time::OffsetDateTime, time::PrimitiveDateTime, time::Date, time::Time);
supports!(
    #[cfg(not(feature = "time"))]
    WithTime
);
supports!(#[cfg(feature = "json")] WithJson: serde_json::Value);
supports!(
    #[cfg(not(feature = "json"))]
    WithJson
);

mod sealed {
    pub trait Sealed {}
}

/// A database that lifecycles can live in: SQLite, PostgreSQL, MySQL and MariaDB, each behind its feature.
///
/// Generic code says `B: Backend` and nothing else. It implies [`Supports`] for `i16`, `i32`, `i64`, `f32`, `f64`,
/// `bool`, `String`, `Vec<u8>` and the types that the features `uuid`, `chrono`, `time` and `json` bring
/// (`rust_decimal::Decimal` is not among them, since SQLite has no column type for it).
pub trait Backend:
    sealed::Sealed
    + Database<Arguments: IntoArguments<Self>, Connection: Session<Db = Self>>
    + Standard
    + WithUuid
    + WithChrono
    + WithTime
    + WithJson
{
    #[doc(hidden)]
    const DIALECT: Dialect;
    /// Starts a transaction in which the first statement may write, with a savepoint that proves at its end that it
    /// is still the same one.
    #[doc(hidden)]
    const BEGIN: &'static str;
    /// Starts a transaction around a write and its entry in the journal.
    #[doc(hidden)]
    const BEGIN_PAIR: &'static str;
    /// Sent after the transaction, if anything must be set back.
    #[doc(hidden)]
    const AFTER: Option<&'static str>;
    /// Keeps anything from committing in a transaction of ours but its own COMMIT, where the engine can do so.
    #[doc(hidden)]
    type Fence: Clone + Default + std::fmt::Debug + Send + Sync;

    #[doc(hidden)]
    fn raise(
        fence: &Self::Fence,
        connection: &mut Self::Connection,
    ) -> impl Future<Output = Result<(), sqlx::Error>> + Send;

    #[doc(hidden)]
    fn lower(fence: &Self::Fence);

    /// An expected unique violation would kill a caller's transaction, unless a savepoint stands around it.
    #[doc(hidden)]
    const ABORTS_ON_ERROR: bool;

    #[doc(hidden)]
    fn execute(
        connection: &mut Self::Connection,
        sql: &'static str,
        arguments: Self::Arguments,
    ) -> impl Future<Output = Result<u64, sqlx::Error>> + Send;

    #[doc(hidden)]
    fn command(
        connection: &mut Self::Connection,
        sql: &'static str,
    ) -> impl Future<Output = Result<(), sqlx::Error>> + Send;

    /// A savepoint by the name that sqlx gives to this depth.
    #[doc(hidden)]
    fn savepoint(
        connection: &mut Self::Connection,
        depth: usize,
    ) -> impl Future<Output = Result<(), sqlx::Error>> + Send;

    #[doc(hidden)]
    fn fetch(
        connection: &mut Self::Connection,
        sql: &'static str,
        arguments: Self::Arguments,
    ) -> impl Future<Output = Result<Vec<Self::Row>, sqlx::Error>> + Send;

    /// A status as text, bound so that it fits text and enum columns alike.
    #[doc(hidden)]
    fn bind_text(arguments: &mut Self::Arguments, text: &'static str) -> Result<(), BoxError>;

    /// A status as text, whatever the type of its column.
    #[doc(hidden)]
    fn get_text(row: &Self::Row, column: usize) -> Result<Option<String>, sqlx::Error>;

    /// The engine undid something for concurrency's sake; the transaction as a whole can be tried again.
    #[doc(hidden)]
    fn is_conflict(error: &dyn DatabaseError) -> bool;

    /// Of conflicts, those that may be the node's fault: it has lost its cluster, or waited for something in vain. The
    /// next connection may lead to another one.
    #[doc(hidden)]
    fn is_away(_: &dyn DatabaseError) -> bool {
        false
    }

    /// The server was going down or cut the connection: what the statement did is not known.
    #[doc(hidden)]
    fn is_cut(error: &dyn DatabaseError) -> bool;

    /// A table that does not exist was named. It decides nothing, and only tells people what they may have forgotten.
    #[doc(hidden)]
    fn is_missing_table(error: &dyn DatabaseError) -> bool;

    /// Nothing but our own COMMIT can end a transaction of ours and keep what it did, and a connection given up in the
    /// middle of something can be put in order again.
    #[doc(hidden)]
    const EMBEDDED: bool;

    /// Who has written a row that is not committed yet has its lock, and nobody else can commit a write of it. Not on a
    /// MySQL cluster: its nodes compare at COMMIT.
    #[doc(hidden)]
    const LOCKS_EXCLUDE: bool;
}

/// What is the same on every database; the driver types are concrete only here.
#[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
macro_rules! driver {
    ($db:ty) => {
        async fn execute(
            connection: &mut Self::Connection,
            sql: &'static str,
            arguments: Self::Arguments,
        ) -> Result<u64, sqlx::Error> {
            let done = sqlx::query_with::<$db, _>(sql, arguments).execute(connection).await?;
            Ok(done.rows_affected())
        }

        async fn command(connection: &mut Self::Connection, sql: &'static str) -> Result<(), sqlx::Error> {
            sqlx::Executor::execute(connection, sqlx::raw_sql(sql)).await.map(drop)
        }

        async fn savepoint(connection: &mut Self::Connection, depth: usize) -> Result<(), sqlx::Error> {
            let sql = sqlx::AssertSqlSafe(format!("SAVEPOINT _sqlx_savepoint_{depth}"));
            sqlx::Executor::execute(connection, sqlx::raw_sql(sql)).await.map(drop)
        }

        // All rows rather than an optional one: on SQLite a first row can arrive although the statement fails later.
        async fn fetch(
            connection: &mut Self::Connection,
            sql: &'static str,
            arguments: Self::Arguments,
        ) -> Result<Vec<Self::Row>, sqlx::Error> {
            sqlx::query_with::<$db, _>(sql, arguments).fetch_all(connection).await
        }

        fn get_text(row: &Self::Row, column: usize) -> Result<Option<String>, sqlx::Error> {
            row.try_get_unchecked(column)
        }
    };
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use super::{Backend, BoxError, DatabaseError, Dialect, Session, sealed::Sealed};
    use sqlx::{Row as _, Sqlite, SqliteConnection};
    use std::sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    };

    /// After a rollback of the engine's own (`RAISE(ROLLBACK)`, a full disk) each further statement would commit by
    /// itself. A commit hook turns such commits into rollbacks.
    #[doc(hidden)]
    #[derive(Clone, Debug, Default)]
    pub struct CommitHook(Arc<AtomicBool>);

    impl Sealed for Sqlite {}
    impl Backend for Sqlite {
        type Fence = CommitHook;

        async fn raise(fence: &CommitHook, connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
            fence.0.store(true, Relaxed);
            let raised = Arc::clone(&fence.0);
            connection.lock_handle().await?.set_commit_hook(move || !raised.load(Relaxed));
            Ok(())
        }

        fn lower(fence: &CommitHook) {
            fence.0.store(false, Relaxed);
        }

        const DIALECT: Dialect = Dialect::Sqlite;
        // A deferred transaction that reads and then writes fails at once, whatever the busy timeout.
        const BEGIN: &'static str = "BEGIN IMMEDIATE; SAVEPOINT onward_tx";
        const BEGIN_PAIR: &'static str = "BEGIN IMMEDIATE";
        const AFTER: Option<&'static str> = None;
        const ABORTS_ON_ERROR: bool = false;
        // Statements run to their end on a thread of their own, in order, so a rollback behind them is reliable; and
        // the connection may be the only one to a database in memory.
        const EMBEDDED: bool = true;
        const LOCKS_EXCLUDE: bool = true;

        driver!(Sqlite);

        fn bind_text(arguments: &mut Self::Arguments, text: &'static str) -> Result<(), BoxError> {
            sqlx::Arguments::add(arguments, text)
        }

        fn is_conflict(error: &dyn DatabaseError) -> bool {
            // Result codes (sqlite.org/rescode.html): 5 SQLITE_BUSY, 6 SQLITE_LOCKED; extended ones keep the low byte.
            let code = error.code().and_then(|code| code.parse::<u32>().ok());
            code.is_some_and(|code| matches!(code & 0xff, 5 | 6))
        }

        fn is_cut(_: &dyn DatabaseError) -> bool {
            false
        }

        fn is_missing_table(error: &dyn DatabaseError) -> bool {
            // Its code, 1, says no more than that the statement is wrong.
            error.message().starts_with("no such table")
        }
    }

    impl Session for SqliteConnection {
        type Db = Sqlite;

        fn connection(&mut self) -> &mut SqliteConnection {
            self
        }
    }
}

#[cfg(feature = "postgres")]
mod postgres {
    use super::{Backend, BoxError, DatabaseError, Dialect, Session, sealed::Sealed};
    use sqlx::{
        Encode, PgConnection, Postgres, Row as _, Type,
        encode::IsNull,
        postgres::{PgArgumentBuffer, PgTypeInfo, types::Oid},
    };

    impl Sealed for Postgres {}
    impl Backend for Postgres {
        type Fence = ();

        async fn raise((): &(), _: &mut Self::Connection) -> Result<(), sqlx::Error> {
            Ok(())
        }

        fn lower((): &()) {}

        const DIALECT: Dialect = Dialect::Postgres;
        const BEGIN: &'static str = "BEGIN; SAVEPOINT onward_tx";
        const BEGIN_PAIR: &'static str = "BEGIN";
        const AFTER: Option<&'static str> = None;
        const ABORTS_ON_ERROR: bool = true;
        const EMBEDDED: bool = false;
        const LOCKS_EXCLUDE: bool = true;

        driver!(Postgres);

        fn bind_text(arguments: &mut Self::Arguments, text: &'static str) -> Result<(), BoxError> {
            sqlx::Arguments::add(arguments, Unknown(text))
        }

        fn is_conflict(error: &dyn DatabaseError) -> bool {
            // postgresql.org/docs/current/errcodes-appendix.html: serialization_failure, deadlock_detected,
            // lock_not_available.
            matches!(error.code().as_deref(), Some("40001" | "40P01" | "55P03"))
        }

        fn is_cut(error: &dyn DatabaseError) -> bool {
            // Class 08 connection exceptions; 57P01 admin_shutdown to 57P03; 40003 statement_completion_unknown.
            let code = error.code().unwrap_or_default();
            code.starts_with("08") || code.starts_with("57P") || code == "40003"
        }

        fn is_missing_table(error: &dyn DatabaseError) -> bool {
            error.code().as_deref() == Some("42P01")
        }
    }

    /// A text whose type the server infers (type `unknown`, OID 705), so that it fits text and enum columns alike.
    struct Unknown(&'static str);

    impl Type<Postgres> for Unknown {
        fn type_info() -> PgTypeInfo {
            PgTypeInfo::with_oid(Oid(705))
        }
    }

    impl Encode<'_, Postgres> for Unknown {
        fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxError> {
            buffer.extend_from_slice(self.0.as_bytes());
            Ok(IsNull::No)
        }
    }

    impl Session for PgConnection {
        type Db = Postgres;

        fn connection(&mut self) -> &mut PgConnection {
            self
        }
    }
}

#[cfg(feature = "mysql")]
mod mysql {
    use super::{Backend, BoxError, DatabaseError, Dialect, Session, sealed::Sealed};
    use sqlx::{MySql, MySqlConnection, Row as _, mysql::MySqlDatabaseError};

    impl Sealed for MySql {}
    impl Backend for MySql {
        type Fence = ();

        async fn raise((): &(), _: &mut Self::Connection) -> Result<(), sqlx::Error> {
            Ok(())
        }

        fn lower((): &()) {}

        const DIALECT: Dialect = Dialect::MySql;
        // With autocommit off, what follows an unnoticed rollback stays uncommitted, so that it can be rolled back too.
        const BEGIN: &'static str = "SET autocommit = 0; START TRANSACTION; SAVEPOINT onward_tx";
        const BEGIN_PAIR: &'static str = "START TRANSACTION";
        const AFTER: Option<&'static str> = Some("SET autocommit = 1");
        const ABORTS_ON_ERROR: bool = false;
        const EMBEDDED: bool = false;
        const LOCKS_EXCLUDE: bool = false;

        driver!(MySql);

        fn bind_text(arguments: &mut Self::Arguments, text: &'static str) -> Result<(), BoxError> {
            sqlx::Arguments::add(arguments, text)
        }

        fn is_conflict(error: &dyn DatabaseError) -> bool {
            // mariadb.com/kb/en/mariadb-error-code-reference: 1020 record changed (snapshot isolation), 1047 node not
            // ready (Galera), 1205 lock wait timeout, 1213 deadlock. By number: 1205 shares its SQLSTATE with
            // everything else. docs.pingcap.com/tidb/stable/error-codes: 8002, 8005, 8022, 9007 write conflicts.
            matches!(number(error), Some(1020 | 1047 | 1205 | 1213 | 8002 | 8005 | 8022 | 9007))
        }

        fn is_away(error: &dyn DatabaseError) -> bool {
            // With `wsrep_sync_wait` a Galera node that has lost the majority answers 1205, without it 1047.
            matches!(number(error), Some(1047 | 1205))
        }

        fn is_cut(error: &dyn DatabaseError) -> bool {
            // 1053 server shutdown, 1152/1184 aborted connection, 1180 error during COMMIT: a Galera node that has lost
            // the majority says so of what the others may have committed. 1317 query interrupted, 1927 connection
            // killed; 2006/2013 are what proxies answer for a server that is gone.
            matches!(number(error), Some(1053 | 1152 | 1180 | 1184 | 1317 | 1927 | 2006 | 2013))
        }

        fn is_missing_table(error: &dyn DatabaseError) -> bool {
            number(error) == Some(1146)
        }
    }

    fn number(error: &dyn DatabaseError) -> Option<u16> {
        error.try_downcast_ref::<MySqlDatabaseError>().map(MySqlDatabaseError::number)
    }

    impl Session for MySqlConnection {
        type Db = MySql;

        fn connection(&mut self) -> &mut MySqlConnection {
            self
        }
    }
}
