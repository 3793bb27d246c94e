//! Clocks and time zones that differ: nothing is done twice, whoever believes that time is over.

#[cfg(feature = "mysql")]
mod clocks;
mod zones;

use crate::db::Db;
use sqlx::{Pool, pool::PoolOptions};
use std::{
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
    time::Duration,
};

/// Sessions that are set so each time one is used, in turn.
async fn sessions<B: Db>(url: &str, connections: u32, set: &'static [&'static str]) -> Pool<B> {
    let next = AtomicUsize::new(0);
    let options = PoolOptions::new().max_connections(connections).acquire_timeout(Duration::from_secs(60));
    let options = options.before_acquire(move |session, _| {
        let set = set[next.fetch_add(1, SeqCst) % set.len()];
        Box::pin(async move { B::run(session, set).await.map(|_| true) })
    });
    let options = options
        .after_connect(move |session, _| Box::pin(async move { B::run(session, set[0]).await.map(drop) }));
    let pool = options.connect(url).await.unwrap();
    // All of them: one that is new is not among those in turn.
    let mut all = Vec::new();
    for _ in 0..connections {
        all.push(pool.acquire().await.unwrap());
    }
    drop(all);
    while pool.num_idle() < connections as usize {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    pool
}
