//! What a journal costs: beside both statements by hand in a transaction, and beside the same lifecycle without one.

use crate::{
    contest::{CALLERS, Options, pool, table},
    rivals::Rivals,
    round::{Length, Outside, Rounds},
    turn::{Rival, Work},
};
use onward::BoxError;

pub async fn run<B: Rivals>(
    options: &Options<B>,
    length: Length,
    outside: Option<&dyn Outside>,
) -> Result<(), BoxError> {
    for callers in CALLERS {
        let pool = pool::<B>(options, callers, false).await?;
        table(&pool).await?;
        let rivals = [
            Rival::pooled("journal", Work::Apply, &pool).journalled(),
            Rival::pooled("hand", Work::HandJournal, &pool),
            Rival::pooled("apply", Work::Apply, &pool),
            Rival::held("held-journal", Work::Apply, &pool).journalled(),
            Rival::held("held-hand", Work::HandJournal, &pool),
            Rival::held("held", Work::Apply, &pool),
        ];
        let rounds = Rounds::of(&rivals, callers, length, outside).await?;
        for (ours, theirs) in [("journal", "hand"), ("journal", "apply")] {
            rounds.row(&format!("{ours}/{theirs}"), |round| rounds.ratio(round, ours, theirs))?;
        }
        for (ours, theirs) in [("held-journal", "held-hand"), ("held-journal", "held")] {
            rounds.row(&format!("{ours}/{theirs}"), |round| rounds.ratio(round, ours, theirs))?;
        }
        if outside.is_some() {
            let pgbench = |round| rounds.ratio(round, "pgbench-journal", "pgbench");
            rounds.row("pgbench-journal/pgbench", pgbench)?;
            let by_hand = |round| rounds.ratio(round, "pgbench-journal", "pgbench-hand");
            rounds.row("pgbench-journal/pgbench-hand", by_hand)?;
            // What part of what the server keeps of its speed with a journal we keep, too.
            for (ours, theirs) in [("journal", "apply"), ("held-journal", "held")] {
                rounds.row(&format!("{ours}-kept/pgbench-kept"), |round| {
                    rounds.ratio(round, ours, theirs) / pgbench(round)
                })?;
            }
        }
        pool.close().await;
    }
    Ok(())
}
