//! The tables that the crate itself brings.
//!
//! sqlx's own migrator is not used: it takes no lock on SQLite, and leaves one behind on a pooled connection when it is
//! dropped or fails. Each text here can run again, so that one that was cut off halfway, on MySQL where DDL commits by
//! itself, does no harm.

use crate::{
    backend::Backend,
    error::{Error, ErrorKind},
    fault::Fault,
    policy::restarts,
    query::{Query, Sql, required},
    session::Guarded,
    statement::Dialect,
    transaction::Transaction,
};
use sqlx::Pool;
use std::{collections::HashSet, future::Future};

/// One step towards the tables that the crate brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Migration {
    /// Its number; they run in this order.
    pub version: i64,
    /// What it is about.
    pub name: &'static str,
    /// Its statements. They can run again without harm.
    pub sql: &'static str,
}

macro_rules! migrations {
    ($folder:literal: $($version:literal $name:literal $file:literal),* $(,)?) => {
        &[$(Migration {
            version: $version,
            name: $name,
            sql: include_str!(concat!("../migrations/", $folder, "/", $file, ".sql")),
        }),*]
    };
}

macro_rules! all {
    ($folder:literal) => {
        migrations!(
            $folder: 1 "once" "0001_once", 2 "inbox" "0002_inbox", 3 "stock" "0003_stock", 4 "outbox" "0004_outbox",
            5 "token" "0005_token", 6 "claim" "0006_claim", 7 "lease" "0007_lease",
        )
    };
}

/// The tables that the crate brings, as text, for those who manage their schema themselves.
///
/// ```
/// let sql: String = onward::migrations::<onward::sqlx::Sqlite>().iter().map(|migration| migration.sql).collect();
/// assert!(sql.contains("onward_once") && sql.contains("onward_inbox"));
/// ```
pub fn migrations<B: Backend>() -> &'static [Migration] {
    match B::DIALECT {
        Dialect::Sqlite => all!("sqlite"),
        Dialect::Postgres => all!("postgres"),
        Dialect::MySql => all!("mysql"),
    }
}

const TABLE: &str = "_onward_migrations";

static CREATE: Sql = Sql::write(
    "CREATE TABLE IF NOT EXISTS _onward_migrations (version BIGINT PRIMARY KEY, name VARCHAR(64) NOT NULL)",
);
static APPLIED: Sql = Sql::read("SELECT version FROM _onward_migrations");
static RECORD: Sql = Sql::insert_once("INSERT INTO _onward_migrations (version, name) VALUES (?, ?)");
/// Until the transaction ends. Any number will do, as long as nobody else uses it.
static LOCK_TRANSACTION: Sql = Sql::read("SELECT pg_advisory_xact_lock(8029465714193307201)");
/// Locks of this kind belong to the server, so the name has that of the database in it.
static LOCK_SESSION: Sql =
    Sql::read("SELECT CAST(GET_LOCK(CONCAT('onward_migrate_', MD5(DATABASE())), 60) AS SIGNED)");
static UNLOCK_SESSION: Sql =
    Sql::read("SELECT CAST(RELEASE_LOCK(CONCAT('onward_migrate_', MD5(DATABASE()))) AS SIGNED)");

/// Creates the tables that the crate brings, as far as they are not there: `onward_once` for [`once`](crate::once),
/// `onward_inbox` and `onward_unverified` for the [`inbox`](crate::inbox), `onward_stock_ledger` for the
/// [`stock`](crate::stock), `onward_outbox` for the [`outbox`](crate::outbox), `onward_token` for
/// [tokens](crate::token), `onward_claim` for [claims](crate::idempotency), `onward_lease` for [leases](crate::lease).
///
/// What was done stands in `_onward_migrations`, apart from migrations of your own. It can run at every start, and from
/// several processes at once. [`migrations`] has the texts for those who run them by other means.
///
/// # Errors
///
/// [`ErrorKind::Database`], for instance without the right to create tables; [`ErrorKind::Busy`] if somebody else's
/// migration took too long; [`ErrorKind::CommitUnknown`] if the reply to the COMMIT was lost. It can always run again.
pub fn migrate<B: Backend>(pool: &Pool<B>) -> impl Future<Output = Result<(), Error>> + Send {
    async move {
        let mut restarts = restarts();
        loop {
            let fault = match run(pool).await {
                Ok(()) => return Ok(()),
                Err(fault) => fault,
            };
            match (fault, restarts.next()) {
                (Fault::Conflict(_), Some(delay)) => tokio::time::sleep(delay).await,
                (fault, _) => return Err(fault.into_error_of_write(TABLE).step("migrate")),
            }
        }
    }
}

async fn run<B: Backend>(pool: &Pool<B>) -> Result<(), Fault> {
    let mut connection = Guarded::<B>::acquire(pool).await.map_err(Fault::of_read::<B>)?;
    // Without a lock first: at most starts there is nothing to do. No table is no error here.
    let applied = Query::<B>::new(&APPLIED).run(&mut connection).await;
    if applied.is_ok_and(|done| missing::<B>(&done.rows).is_ok_and(|missing| missing.is_empty())) {
        connection.release();
        return Ok(());
    }
    if B::DIALECT == Dialect::MySql {
        // DDL ends every transaction, so the lock is the session's. It goes with the connection if anything fails.
        let got = Query::<B>::new(&LOCK_SESSION).run(&mut connection).await.map_err(Fault::of_read::<B>)?;
        let got = got.rows.first().map(|row| required::<B, i64>(row, 0, TABLE)).transpose();
        if got.map_err(Fault::Other)? != Some(1) {
            return Err(Fault::Other(Error::new(ErrorKind::Busy, TABLE)));
        }
        apply::<B>(&mut connection).await?;
        Query::<B>::new(&UNLOCK_SESSION).run(&mut connection).await.map_err(Fault::of_read::<B>)?;
        connection.release();
        return Ok(());
    }
    connection.release();
    let mut transaction = Transaction::begin(pool).await?;
    if B::DIALECT == Dialect::Postgres {
        Query::<B>::new(&LOCK_TRANSACTION).run(&mut transaction).await.map_err(Fault::of_read::<B>)?;
    }
    match apply::<B>(&mut transaction).await {
        Ok(()) => transaction.try_commit().await,
        Err(fault) => {
            transaction.rollback().await;
            Err(fault)
        }
    }
}

async fn apply<B: Backend>(connection: &mut B::Connection) -> Result<(), Fault> {
    Query::<B>::new(&CREATE).run(connection).await.map_err(Fault::of_read::<B>)?;
    let applied = Query::<B>::new(&APPLIED).run(connection).await.map_err(Fault::of_read::<B>)?;
    for migration in missing::<B>(&applied.rows).map_err(Fault::Other)? {
        B::command(connection, migration.sql).await.map_err(Fault::of_read::<B>)?;
        let record = Query::<B>::new(&RECORD).bind(&migration.version).text(migration.name);
        record.run(connection).await.map_err(Fault::of_read::<B>)?;
        tracing::info!(target: "onward", version = migration.version, name = migration.name, "migrated");
    }
    Ok(())
}

/// Those that are not recorded. One that this build does not know is the business of the newer one that does.
fn missing<B: Backend>(applied: &[B::Row]) -> Result<Vec<&'static Migration>, Error> {
    let applied: HashSet<i64> =
        applied.iter().map(|row| required::<B, i64>(row, 0, TABLE)).collect::<Result<_, _>>()?;
    Ok(migrations::<B>().iter().filter(|migration| !applied.contains(&migration.version)).collect())
}
