//! Orders that nobody has paid in time: cancelled, and their reservation released in the same transaction.

use super::{Pending, STOCK, Say, event, tea};
use crate::db::Db;
use onward::{
    BoxError, Error,
    stock::Operation,
    sweep::{Sweep, Swept},
};
use sqlx::Pool;
use std::{sync::Mutex, time::Duration};

/// One sweep, and why rows failed.
pub async fn swept<B: Db>(pool: &Pool<B>, step: impl Say) -> (Result<Swept, Error>, Vec<Error>) {
    let failures = Mutex::new(Vec::new());
    let (due, within) = (step.clone(), step.clone());
    let swept = Sweep::<Pending>::older_than(Duration::ZERO)
        .since("held_until")
        .page(3)
        .progress(|_| step("sweep: done"))
        .failure(|error| failures.lock().unwrap().push(error))
        .run_with(
            pool,
            |order| {
                due("sweep: due");
                order.cancel()
            },
            async move |tx, order| {
                within("sweep: cancelled");
                STOCK.release(tx, &Operation::of(order), &tea()).await?;
                within("sweep: released");
                event::<B>(tx, "cancelled", order.id, order.version()).await?;
                within("sweep: event");
                Ok::<_, BoxError>(())
            },
        )
        .await;
    (swept, failures.into_inner().unwrap())
}
