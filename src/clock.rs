//! The database's clock in SQL: the time of every row that the crate itself keeps comes from there, in UTC.

use crate::statement::Dialect;

/// Now, in the form that sqlx's own types use.
pub(crate) fn now(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => "strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now')",
        // sqlx sets the session's time zone to UTC on both, so this is right with and without a time zone.
        Dialect::Postgres => "CURRENT_TIMESTAMP",
        Dialect::MySql => "UTC_TIMESTAMP(6)",
    }
}

/// A column of such a time as microseconds since 1970, a 64-bit integer.
pub(crate) fn micros(dialect: Dialect, column: &str) -> String {
    match dialect {
        // Milliseconds are what SQLite's clock has.
        Dialect::Sqlite => {
            format!("CAST(ROUND((julianday({column}) - 2440587.5) * 86400000) AS INTEGER) * 1000")
        }
        Dialect::Postgres => format!("CAST(EXTRACT(EPOCH FROM {column}) * 1000000 AS BIGINT)"),
        Dialect::MySql => format!("TIMESTAMPDIFF(MICROSECOND, '1970-01-01', {column})"),
    }
}
