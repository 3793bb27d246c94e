//! What settings of the pool are worth: the same attempts on pools that differ in one thing.

use crate::{
    contest::{CALLERS, Options, pool, table},
    rivals::Rivals,
    round::{Length, Rounds},
    turn::{Rival, Work},
};
use onward::BoxError;

pub async fn run<B: Rivals>(options: &Options<B>, length: Length) -> Result<(), BoxError> {
    for callers in CALLERS {
        let default = pool::<B>(options, callers, true).await?;
        let untested = pool::<B>(options, callers, false).await?;
        // While one connection is tested after its use, the caller goes on with another.
        let spare = pool::<B>(options, callers * 2, false).await?;
        table(&default).await?;
        let mut rivals = vec![
            Rival::pooled("default", Work::Apply, &default),
            Rival::pooled("untested", Work::Apply, &untested),
            Rival::held("held", Work::Apply, &untested),
        ];
        if B::CONNECTIONS > 1 {
            rivals.push(Rival::pooled("spare", Work::Apply, &spare));
        }
        let rounds = Rounds::of(&rivals, callers, length, None).await?;
        for rival in &rivals[1..] {
            let name = format!("{}/default", rival.name);
            rounds.row(&name, |round| rounds.ratio(round, rival.name, "default"))?;
        }
        for pool in [default, untested, spare] {
            pool.close().await;
        }
    }
    Ok(())
}
