//! Rivals take turns, round by round; a row is the median of the rounds' ratios.

use crate::{
    orders::{entries, paid, prepare},
    rivals::Rivals,
    todo::pending,
    turn::Rival,
};
use onward::BoxError;
use sqlx::Pool;
use std::{
    collections::hash_map::RandomState,
    hash::BuildHasher,
    time::{Duration, Instant},
};

/// How long it takes.
#[derive(Clone, Copy)]
pub struct Length {
    /// No round starts later than this, for one database and number of callers.
    limit: Duration,
    /// How long the first rival runs in one round, about.
    turn: Duration,
    /// How often the rivals take turns within a round.
    parts: usize,
    /// How much longer the program outside runs, since it starts anew for each of its turns.
    outside: usize,
}

impl Length {
    pub const FULL: Self =
        Self { limit: Duration::from_secs(30), turn: Duration::from_millis(200), parts: 10, outside: 4 };
    pub const SHORT: Self =
        Self { limit: Duration::from_secs(3), turn: Duration::from_millis(60), parts: 5, outside: 2 };

    pub fn is_short(self) -> bool {
        self.limit == Self::SHORT.limit
    }
}

/// A median of fewer says nothing.
const FEWEST: usize = 3;

/// A program other than this one that moves orders 1 to `count` and says how many in a second.
pub trait Outside: Sync {
    /// The names of what it can run, and whether that leaves entries in the journal.
    fn names(&self) -> &'static [(&'static str, bool)];
    fn run(&self, name: &str, callers: usize, count: usize) -> Result<f64, BoxError>;
}

/// What each rival did in a second, in each round.
pub struct Rounds {
    heading: String,
    rounds: Vec<Vec<(&'static str, f64)>>,
}

impl Rounds {
    pub async fn of<B: Rivals>(
        rivals: &[Rival<B>],
        callers: usize,
        length: Length,
        outside: Option<&dyn Outside>,
    ) -> Result<Self, BoxError> {
        let heading = format!("{} callers={callers}", B::ENGINE);
        // Opens every connection and fills the caches of statements.
        let warm = round(rivals, callers, 20 * callers, 1, None).await?;
        let first = warm.first().map_or(0.0, |(_, speed)| *speed);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let each =
            (((first * length.turn.as_secs_f64()) as usize) / callers).clamp(10.max(50 / callers), 1000);
        let count = each * callers;

        let since = Instant::now();
        let mut rounds = Vec::new();
        while rounds.len() < FEWEST || since.elapsed() < length.limit {
            let outside = outside.map(|it| (it, count * length.outside));
            rounds.push(round(rivals, callers, count, length.parts, outside).await?);
        }
        let all = Self { heading, rounds };
        let speeds = rivals.iter().map(|rival| {
            let speeds = (0..all.rounds.len()).map(|round| all.speed(round, rival.name)).collect();
            format!("{} {:.0}/s", rival.name, quantile(speeds, 2))
        });
        let speeds: Vec<_> = speeds.collect();
        println!("# {}: rounds of {count} attempts; {}", all.heading, speeds.join(", "));
        Ok(all)
    }

    fn speed(&self, round: usize, name: &str) -> f64 {
        let mut rivals = self.rounds[round].iter();
        rivals.find(|(rival, _)| *rival == name).map_or(f64::NAN, |(_, speed)| *speed)
    }

    pub fn ratio(&self, round: usize, ours: &str, theirs: &str) -> f64 {
        self.speed(round, ours) / self.speed(round, theirs)
    }

    /// A row: the median of what each round says, and the quartiles.
    pub fn row(&self, name: &str, ratio: impl Fn(usize) -> f64) -> Result<(), BoxError> {
        let ratios: Vec<f64> = (0..self.rounds.len()).map(ratio).collect();
        if ratios.iter().any(|ratio| !ratio.is_finite()) {
            return Err(format!("{} {name}: there is no such ratio", self.heading).into());
        }
        let at = |quarter| quantile(ratios.clone(), quarter);
        println!(
            "{} {name} ratio={:.3} quartiles={:.3}..{:.3} rounds={}",
            self.heading,
            at(2),
            at(1),
            at(3),
            ratios.len()
        );
        Ok(())
    }
}

/// Every rival moves this many orders, in parts between which they take turns in random order, so that what else goes
/// on in the machine meets all of them alike: how many each moved in a second.
async fn round<B: Rivals>(
    rivals: &[Rival<B>],
    callers: usize,
    count: usize,
    parts: usize,
    outside: Option<(&dyn Outside, usize)>,
) -> Result<Vec<(&'static str, f64)>, BoxError> {
    let Some(Rival { pool, .. }) = rivals.first() else { return Ok(Vec::new()) };
    let mut times = vec![Duration::ZERO; rivals.len()];
    let all = count * rivals.len();
    prepare(pool, all).await?;
    // Both forms advance together, so that a key is moved once.
    let mut todo = [Vec::new().into_iter(), Vec::new().into_iter()];
    for journalled in [false, true] {
        if rivals.iter().any(|rival| rival.journalled == journalled) {
            todo[usize::from(journalled)] = pending(pool, journalled).await?.into_iter();
        }
    }
    let part = count.div_ceil(parts);
    for start in (0..count).step_by(part) {
        for turn in shuffled(0..rivals.len()) {
            let part = part.min(count - start);
            let [plain, journalled] = todo.each_mut().map(|all| all.by_ref().take(part).collect());
            let orders = if rivals[turn].journalled { journalled } else { plain };
            times[turn] += rivals[turn].turn(callers, orders).await?;
        }
    }
    let journalled = rivals.iter().filter(|rival| rival.journalled).count();
    all_paid(pool, all, count * journalled).await?;
    #[allow(clippy::cast_precision_loss)]
    let speed = |time: Duration| count as f64 / time.as_secs_f64();
    let mut speeds: Vec<_> =
        rivals.iter().zip(times).map(|(rival, time)| (rival.name, speed(time))).collect();
    if let Some((outside, count)) = outside {
        for (name, journalled) in shuffled(outside.names().iter().copied()) {
            prepare(pool, count).await?;
            speeds.push((name, outside.run(name, callers, count)?));
            all_paid(pool, count, if journalled { count } else { 0 }).await?;
        }
    }
    Ok(speeds)
}

fn shuffled<T>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut all: Vec<T> = all.into_iter().collect();
    all.sort_by_cached_key(|_| RandomState::new().hash_one(()));
    all
}

async fn all_paid<B: Rivals>(pool: &Pool<B>, count: usize, journalled: usize) -> Result<(), BoxError> {
    match (paid(pool).await?, entries(pool).await?) {
        (paid, entries) if paid == count && entries == journalled => Ok(()),
        (paid, entries) => {
            let text = format!("{paid} of {count} orders were paid, with {entries} of {journalled} entries");
            Err(text.into())
        }
    }
}

/// The value below which so many quarters of all are.
fn quantile(mut values: Vec<f64>, quarters: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    let last = (values.len() - 1) * quarters;
    let (low, rest) = (last / 4, last % 4);
    let high = (low + usize::from(rest > 0)).min(values.len() - 1);
    #[allow(clippy::cast_precision_loss)]
    let share = rest as f64 / 4.0;
    values[low] + (values[high] - values[low]) * share
}
