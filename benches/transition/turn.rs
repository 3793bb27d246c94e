//! One rival's turn: as many tasks as there are callers, each of which takes the next order until none is left.

use crate::{rivals::Rivals, todo::Todo};
use onward::BoxError;
use sqlx::{Pool, pool::PoolConnection};
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};
use tokio::task::JoinSet;

/// How an order is moved.
#[derive(Clone, Copy)]
pub enum Work {
    Hand,
    /// With a journal, if the order has one.
    Apply,
    Locking,
    /// The guarded statement and the entry in the journal, in a transaction.
    HandJournal,
}

pub struct Rival<B: Rivals> {
    pub name: &'static str,
    pub work: Work,
    pub pool: Pool<B>,
    /// Each caller keeps one connection for the whole turn.
    pub held: bool,
    /// Whether what it moves leaves entries in the journal.
    pub journalled: bool,
}

impl<B: Rivals> Rival<B> {
    pub fn pooled(name: &'static str, work: Work, pool: &Pool<B>) -> Self {
        let journalled = matches!(work, Work::HandJournal);
        Self { name, work, pool: pool.clone(), held: false, journalled }
    }

    pub fn held(name: &'static str, work: Work, pool: &Pool<B>) -> Self {
        Self { held: true, ..Self::pooled(name, work, pool) }
    }

    /// The same with the lifecycle that has a journal.
    pub fn journalled(self) -> Self {
        Self { journalled: true, ..self }
    }

    /// Moves these orders.
    pub async fn turn(&self, callers: usize, orders: Vec<(Todo, String)>) -> Result<Duration, BoxError> {
        let orders = Arc::new(Mutex::new(orders.into_iter()));
        let mut places = Vec::new();
        // Where there is but one connection, a single caller holds it.
        let callers = if self.held { callers.min(B::CONNECTIONS as usize) } else { callers };
        for _ in 0..callers {
            places.push(if self.held {
                Place::Held(self.pool.acquire().await?)
            } else {
                Place::Pool(self.pool.clone())
            });
        }
        let mut tasks = JoinSet::new();
        let since = Instant::now();
        for mut place in places {
            let (orders, work) = (Arc::clone(&orders), self.work);
            tasks.spawn(async move {
                loop {
                    let next = orders.lock().unwrap_or_else(PoisonError::into_inner).next();
                    // The place goes back only when the clock has stopped.
                    let Some((order, trade_no)) = next else { return Ok::<_, BoxError>(place) };
                    step(&mut place, work, order, trade_no).await?;
                }
            });
        }
        let mut places = Vec::new();
        while let Some(done) = tasks.join_next().await {
            places.push(done??);
        }
        Ok(since.elapsed())
    }
}

/// Where a caller runs its statements.
enum Place<B: Rivals> {
    Pool(Pool<B>),
    Held(PoolConnection<B>),
}

async fn step<B: Rivals>(
    place: &mut Place<B>,
    work: Work,
    order: Todo,
    trade_no: String,
) -> Result<(), BoxError> {
    match (work, order, place) {
        (Work::Apply, Todo::Plain(order), Place::Pool(pool)) => {
            order.pay(trade_no).apply(&*pool).await?.applied()?;
            Ok(())
        }
        (Work::Apply, Todo::Plain(order), Place::Held(connection)) => {
            order.pay(trade_no).apply(connection).await?.applied()?;
            Ok(())
        }
        (Work::Apply, Todo::Journalled(order), Place::Pool(pool)) => {
            order.pay(trade_no).apply(&*pool).await?.applied()?;
            Ok(())
        }
        (Work::Apply, Todo::Journalled(order), Place::Held(connection)) => {
            order.pay(trade_no).apply(connection).await?.applied()?;
            Ok(())
        }
        (_, order, place) => {
            let known = order.known(trade_no);
            let mut taken;
            let connection: &mut B::Connection = match place {
                Place::Held(held) => held,
                Place::Pool(pool) => {
                    taken = pool.acquire().await?;
                    &mut taken
                }
            };
            let rows = match work {
                Work::Locking => B::locking(connection, &known).await?,
                Work::HandJournal => B::hand_journal(connection, &known).await?,
                Work::Hand | Work::Apply => B::hand(connection, &known).await?,
            };
            if rows == 1 { Ok(()) } else { Err(format!("{rows} rows were moved instead of one").into()) }
        }
    }
}
