//! What the tests ask of a broker.

use crate::servers::Recipe;
use onward::outbox::Publish;
use sqlx::SqlitePool;
use std::{future::Future, path::Path};

/// A message as the broker kept it.
#[derive(Clone, Debug)]
pub struct Kept {
    pub id: String,
    pub key: String,
    pub payload: String,
}

pub trait Broker: Send + Sync + 'static {
    const NAME: &'static str;
    /// Whether it drops by itself what comes again soon.
    const DROPS_REPEATS: bool;
    type Publisher: Publish + 'static;

    fn recipe(folder: &Path, port: u16) -> Result<Recipe, String>;
    fn publisher(url: &str) -> impl Future<Output = Self::Publisher> + Send;
    /// Creates what keeps messages for the receiver, and for [`log`](Broker::log).
    fn prepare(url: &str) -> impl Future<Output = ()> + Send;
    /// The example's receiver, again and again, until this is dropped.
    fn receive(url: &str, points: &SqlitePool) -> impl Future<Output = ()> + Send;
    /// Whether the receiver has work left of what it was given.
    fn is_idle(points: &SqlitePool) -> impl Future<Output = bool> + Send;
    /// All that it ever kept, in its order.
    fn log(url: &str) -> impl Future<Output = Vec<Kept>> + Send;
}
