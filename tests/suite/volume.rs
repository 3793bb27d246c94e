//! How many rows `scripts/volume-cost` measures beside, and what of its rounds it tells.

use crate::db::{Db, Fixture};
use sqlx::Pool;
use std::env;

/// Makes of `measured` a measurement of each database, which takes a [`Fixture`] of one connection.
macro_rules! measured_on_each_database {
    () => {
        measured_on_each_database!("sqlite" sqlite sqlx::Sqlite);
        measured_on_each_database!("postgres" postgres sqlx::Postgres);
        measured_on_each_database!("mysql" mariadb sqlx::MySql);
    };
    ($feature:literal $name:ident $database:ty) => {
        #[cfg(feature = $feature)]
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        #[ignore = "a measurement"]
        async fn $name() {
            measured(<$database as crate::db::Db>::fresh(1).await).await;
        }
    };
}

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
