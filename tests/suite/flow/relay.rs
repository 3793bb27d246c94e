//! From the outbox to the broker, at least once; from the broker to the consumer, whose work is done once.

use super::{
    Say,
    broker::{Broker, Sent},
    outbox,
};
use crate::db::Db;
use onward::{
    BoxError, Error, Once, once,
    outbox::{Delivery, Status},
};
use sqlx::Pool;

/// Relays one event, if one is due.
pub async fn relayed<B: Db>(
    pool: &Pool<B>,
    broker: &Broker,
    step: impl Say,
) -> Result<Option<Status>, Error> {
    let publish = |delivery: Delivery| {
        step("relay: claimed");
        let taken = broker.take(&delivery);
        step("relay: published");
        async { taken }
    };
    let status = outbox().relay_next(pool, &publish).await;
    if matches!(status, Ok(Some(_))) {
        step("relay: marked");
    }
    status
}

/// A mail about an event, unless one was written before.
pub async fn consumed<B: Db>(pool: &Pool<B>, sent: &Sent, step: impl Say) -> Result<Once, BoxError> {
    step("consumer: received");
    let mut tx = onward::begin(pool).await?;
    let first = once(&mut tx, "mails", &sent.event_id).await?;
    step("consumer: known");
    if first == Once::First {
        let Sent { event_id, key, version, .. } = sent;
        B::run(&mut tx, &format!("INSERT INTO mails VALUES ('{event_id}', {key}, {version})")).await?;
        step("consumer: written");
    }
    tx.commit().await?;
    step("consumer: done");
    Ok(first)
}
