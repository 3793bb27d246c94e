//! The database's clock in SQL: the time of every row that the crate itself keeps comes from there, in UTC.

use crate::statement::Dialect;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Now, in the form that sqlx's own types use.
pub(crate) fn now(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => "strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now')",
        // sqlx sets the session's time zone to UTC on both, so this is right with and without a time zone.
        Dialect::Postgres => "CURRENT_TIMESTAMP",
        Dialect::MySql => "UTC_TIMESTAMP(6)",
    }
}

/// Now and this many milliseconds more, or less: one placeholder, for a 64-bit integer within [`MILLIS`].
pub(crate) fn later(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => "strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now', printf('%+.3f seconds', ? / 1000.0))",
        Dialect::Postgres => "(CURRENT_TIMESTAMP + ? * INTERVAL '1 millisecond')",
        Dialect::MySql => "TIMESTAMPADD(MICROSECOND, ? * 1000, UTC_TIMESTAMP(6))",
    }
}

/// A century: further away than that every database has an end of its own, and SQLite's is a null.
const MILLIS: i64 = 3_155_760_000_000;

/// A time span for [`later`].
pub(crate) fn millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(MILLIS).min(MILLIS)
}

/// What [`micros`] reads.
pub(crate) fn time(micros: i64) -> SystemTime {
    let span = Duration::from_micros(micros.unsigned_abs());
    let time = if micros < 0 { UNIX_EPOCH.checked_sub(span) } else { UNIX_EPOCH.checked_add(span) };
    time.unwrap_or(UNIX_EPOCH)
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
