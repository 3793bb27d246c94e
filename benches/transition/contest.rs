//! Rivals take turns, round by round; the rows are medians of the rounds' ratios.

use crate::{
    orders::{Known, Order, Pending, TABLE, handles, paid, prepare},
    rivals::Rivals,
};
use onward::BoxError;
use sqlx::{Connection, Pool, pool::PoolOptions};
use std::{
    collections::hash_map::RandomState,
    future::Future,
    hash::BuildHasher,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};
use tokio::task::JoinSet;

/// How long it takes.
#[derive(Clone, Copy)]
pub struct Length {
    /// No round starts later than this, for one database and number of callers.
    limit: Duration,
    /// How long the hand-written rival runs in one round, about.
    turn: Duration,
}

impl Length {
    pub const FULL: Self = Self { limit: Duration::from_secs(25), turn: Duration::from_millis(200) };
    pub const SHORT: Self = Self { limit: Duration::from_secs(6), turn: Duration::from_millis(100) };
}

/// A median of fewer says nothing.
const FEWEST_ROUNDS: usize = 3;

/// How often the rivals take turns within a round.
const PARTS: usize = 10;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Rival {
    Hand,
    /// The same again, which shows the noise.
    HandAgain,
    Apply,
    Locking,
    /// A program other than this one, with the guarded statement or with the locking transaction.
    Outside {
        locking: bool,
    },
}

/// A program other than this one that moves orders 1 to `count` and says how many in a second.
pub trait Outside: Sync {
    fn run(&self, locking: bool, callers: usize, count: usize) -> Result<f64, BoxError>;
}

type Options<B> = <<B as sqlx::Database>::Connection as Connection>::Options;

pub async fn run<B: Rivals>(
    options: &Options<B>,
    length: Length,
    outside: Option<&dyn Outside>,
) -> Result<(), BoxError> {
    for callers in [1, 16] {
        // No rival waits for a `ping` before its statement.
        let pool = PoolOptions::<B>::new()
            .max_connections(u32::try_from(callers)?.min(B::CONNECTIONS))
            .acquire_timeout(Duration::from_mins(1))
            .test_before_acquire(false)
            .connect_with(options.clone())
            .await?;
        B::script(&pool, format!("DROP TABLE IF EXISTS orders; {TABLE}")).await?;
        contest(&pool, callers, length, outside).await?;
        pool.close().await;
    }
    Ok(())
}

async fn contest<B: Rivals>(
    pool: &Pool<B>,
    callers: usize,
    length: Length,
    outside: Option<&dyn Outside>,
) -> Result<(), BoxError> {
    // Opens every connection and fills the caches of statements.
    let warm = round(pool, callers, 20 * callers, 1, None).await?;
    let fastest = warm.iter().fold(0.0, |fastest: f64, (_, speed)| fastest.max(*speed));
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let each = (((fastest * length.turn.as_secs_f64()) as usize) / callers).clamp(10, 1000);
    let count = each * callers;

    let since = Instant::now();
    let mut rounds = Vec::new();
    while rounds.len() < FEWEST_ROUNDS || since.elapsed() < length.limit {
        rounds.push(round(pool, callers, count, PARTS, outside).await?);
    }

    let of = |round: &[(Rival, f64)], rival| {
        round.iter().find(|(it, _)| *it == rival).map_or(f64::NAN, |(_, speed)| *speed)
    };
    let row = |name: &str, ours: Rival, theirs: Rival| {
        let ratio = median(rounds.iter().map(|round| of(round, ours) / of(round, theirs)).collect());
        println!("{} callers={callers} {name} ratio={ratio:.3}", B::ENGINE);
        ratio
    };
    let speed = |rival: Rival| median(rounds.iter().map(|round| of(round, rival)).collect());
    println!(
        "# {} callers={callers}: {} rounds of {count} attempts; by hand {:.0}/s, apply {:.0}/s, locking {:.0}/s",
        B::ENGINE,
        rounds.len(),
        speed(Rival::Hand),
        speed(Rival::Apply),
        speed(Rival::Locking),
    );
    row("hand/hand", Rival::HandAgain, Rival::Hand);
    row("apply/hand", Rival::Apply, Rival::Hand);
    let ours = row("apply/locking", Rival::Apply, Rival::Locking);
    if outside.is_some() {
        let (guarded, locking) = (Rival::Outside { locking: false }, Rival::Outside { locking: true });
        let theirs = row("pgbench/locking", guarded, locking);
        row("apply/pgbench", Rival::Apply, guarded);
        println!(
            "# {} callers={callers}: apply/locking is {:.3} of what pgbench shows",
            B::ENGINE,
            ours / theirs
        );
    }
    Ok(())
}

/// Every rival moves this many orders, in parts between which they take turns in random order, so that what else goes
/// on in the machine meets all of them alike: how many each moved in a second.
async fn round<B: Rivals>(
    pool: &Pool<B>,
    callers: usize,
    count: usize,
    parts: usize,
    outside: Option<&dyn Outside>,
) -> Result<Vec<(Rival, f64)>, BoxError> {
    let mut rivals =
        [Rival::Hand, Rival::Apply, Rival::HandAgain, Rival::Locking].map(|it| (it, Duration::ZERO));
    let all = count * rivals.len();
    prepare(pool, all).await?;
    let mut handles = handles(pool).await?.into_iter();
    let part = count.div_ceil(parts);
    for start in (0..count).step_by(part) {
        rivals.sort_by_cached_key(|_| RandomState::new().hash_one(()));
        for (rival, time) in &mut rivals {
            let orders = handles.by_ref().take(part.min(count - start)).collect();
            *time += turn(pool, *rival, callers, orders).await?;
        }
    }
    all_paid(pool, all).await?;
    #[allow(clippy::cast_precision_loss)]
    let mut speeds = Vec::from(rivals.map(|(rival, time)| (rival, count as f64 / time.as_secs_f64())));
    if let Some(outside) = outside {
        for locking in [false, true] {
            prepare(pool, count).await?;
            speeds.push((Rival::Outside { locking }, outside.run(locking, callers, count)?));
            all_paid(pool, count).await?;
        }
    }
    Ok(speeds)
}

async fn all_paid<B: Rivals>(pool: &Pool<B>, count: usize) -> Result<(), BoxError> {
    match paid(pool).await? {
        paid if paid == count => Ok(()),
        paid => Err(format!("{paid} of {count} orders were paid").into()),
    }
}

/// Lets one rival move these orders.
async fn turn<B: Rivals>(
    pool: &Pool<B>,
    rival: Rival,
    callers: usize,
    orders: Vec<(Order<Pending>, String)>,
) -> Result<Duration, BoxError> {
    let known = |(order, trade_no): (Order<Pending>, String)| Known::new(&order, trade_no);
    match rival {
        Rival::Hand | Rival::HandAgain => {
            race(pool, callers, orders.into_iter().map(known).collect(), |pool, order| async move {
                moved(B::hand(&pool, &order).await?)
            })
            .await
        }
        Rival::Locking => {
            race(pool, callers, orders.into_iter().map(known).collect(), |pool, order| async move {
                moved(B::locking(&pool, &order).await?)
            })
            .await
        }
        Rival::Apply => {
            race(pool, callers, orders, |pool, (order, trade_no)| async move {
                order.pay(trade_no).apply(&pool).await?.applied()?;
                Ok(())
            })
            .await
        }
        Rival::Outside { .. } => Err("it has no turn inside this program".into()),
    }
}

fn moved(rows: u64) -> Result<(), BoxError> {
    if rows == 1 { Ok(()) } else { Err(format!("{rows} rows were moved instead of one").into()) }
}

/// As many tasks as there are callers, each of which takes the next order until none is left.
async fn race<B, T, R>(
    pool: &Pool<B>,
    callers: usize,
    orders: Vec<T>,
    step: fn(Pool<B>, T) -> R,
) -> Result<Duration, BoxError>
where
    B: Rivals,
    T: Send + 'static,
    R: Future<Output = Result<(), BoxError>> + Send + 'static,
{
    let orders = Arc::new(Mutex::new(orders.into_iter()));
    let mut tasks = JoinSet::new();
    let since = Instant::now();
    for _ in 0..callers {
        let (orders, pool) = (Arc::clone(&orders), pool.clone());
        tasks.spawn(async move {
            loop {
                let next = orders.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some(order) = next else { return Ok::<_, BoxError>(()) };
                step(pool.clone(), order).await?;
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    Ok(since.elapsed())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { f64::midpoint(values[middle - 1], values[middle]) }
}
