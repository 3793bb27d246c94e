//! Attempts beside the same by hand and beside a locked read, on a pool and on held connections.

use crate::{
    orders::tables,
    rivals::Rivals,
    round::{Length, Outside, Rounds},
    turn::{Rival, Work},
};
use onward::BoxError;
use sqlx::{Connection, Pool, pool::PoolOptions};
use std::time::Duration;

pub type Options<B> = <<B as sqlx::Database>::Connection as Connection>::Options;

pub const CALLERS: [usize; 2] = [1, 16];

/// A pool with this many connections, none of which is tested before it is lent.
pub async fn pool<B: Rivals>(
    options: &Options<B>,
    connections: usize,
    test: bool,
) -> Result<Pool<B>, BoxError> {
    let pool = PoolOptions::<B>::new()
        .max_connections(u32::try_from(connections)?.min(B::CONNECTIONS))
        .acquire_timeout(Duration::from_mins(1))
        .test_before_acquire(test)
        .connect_with(options.clone())
        .await?;
    Ok(pool)
}

pub async fn table<B: Rivals>(pool: &Pool<B>) -> Result<(), BoxError> {
    B::script(pool, tables::<B>()?).await
}

pub async fn run<B: Rivals>(
    options: &Options<B>,
    length: Length,
    outside: Option<&dyn Outside>,
) -> Result<(), BoxError> {
    for callers in CALLERS {
        let pool = pool::<B>(options, callers, false).await?;
        table(&pool).await?;
        let rivals = [
            Rival::pooled("hand", Work::Hand, &pool),
            Rival::pooled("again", Work::Hand, &pool),
            Rival::pooled("apply", Work::Apply, &pool),
            Rival::pooled("locking", Work::Locking, &pool),
            Rival::held("held-hand", Work::Hand, &pool),
            Rival::held("held", Work::Apply, &pool),
            Rival::held("held-locking", Work::Locking, &pool),
        ];
        let rounds = Rounds::of(&rivals, callers, length, outside).await?;
        let row = |ours: &str, theirs: &str| {
            // The same again shows the noise; pgbench has no other rival than itself.
            let name = match (ours, theirs) {
                ("again", theirs) => format!("{theirs}/{theirs}"),
                ("pgbench", _) => "pgbench/locking".into(),
                _ => format!("{ours}/{theirs}"),
            };
            rounds.row(&name, |round| rounds.ratio(round, ours, theirs))
        };
        row("again", "hand")?;
        row("apply", "hand")?;
        row("apply", "locking")?;
        row("held", "held-hand")?;
        row("held", "held-locking")?;
        if outside.is_some() {
            row("pgbench", "pgbench-locking")?;
            row("apply", "pgbench")?;
            row("held", "pgbench")?;
            // What part of pgbench's gain over the locked read is ours, too.
            for (ours, theirs) in [("apply", "locking"), ("held", "held-locking")] {
                let gain = |round| rounds.ratio(round, ours, theirs);
                rounds.row(&format!("{ours}-gain/pgbench-gain"), |round| {
                    gain(round) / rounds.ratio(round, "pgbench", "pgbench-locking")
                })?;
            }
        }
        pool.close().await;
    }
    Ok(())
}
