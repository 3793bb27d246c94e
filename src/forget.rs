//! Rows that are too old go in batches.

use crate::{
    backend::Backend,
    clock,
    error::Error,
    query::{Query, Sql, alone},
    session::Db,
};
use std::time::Duration;

/// Deletes what is older, and says how many rows that were. The first statement deletes about as many of the oldest as
/// one statement should, and takes the source twice and the age; the second deletes what is left, and takes both once.
pub(crate) async fn forget<B: Backend>(
    db: &mut Db<'_, B>,
    table: &'static str,
    [oldest, old]: [&'static Sql; 2],
    source: &str,
    older_than: Duration,
) -> Result<u64, Error> {
    let age = -clock::millis(older_than);
    let mut forgotten = 0;
    loop {
        let batch = || Query::new(oldest).text(source).text(source).bind(&age);
        match alone(db, table, batch).await?.changed {
            0 => break,
            some => forgotten += some,
        }
    }
    let rest = alone(db, table, || Query::new(old).text(source).bind(&age)).await?;
    Ok(forgotten + rest.changed)
}
