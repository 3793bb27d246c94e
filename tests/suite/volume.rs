//! How many rows `scripts/volume-cost` measures beside, and what of its rounds it tells.

use crate::db::{Db, Fixture};
use sqlx::Pool;
use std::env;

pub fn rows() -> u32 {
    env::var("ONWARD_VOLUME").map_or(1_000_000, |rows| rows.parse().unwrap())
}

pub fn rounds() -> usize {
    if rows() < 1_000_000 { 7 } else { 15 }
}

pub fn median(mut ratios: Vec<f64>) -> f64 {
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}

/// A new connection for each round, since its thread or process may have a good or a bad place on the machine.
pub async fn again<B: Db>(db: &Fixture<B>) -> Pool<B> {
    let options = db.pool.connect_options().as_ref().clone();
    sqlx::pool::PoolOptions::new().max_connections(1).connect_with(options).await.unwrap()
}
