//! What only one engine does, or each in its own way: isolation, deadlocks, time-outs, error codes.

#[cfg(any(feature = "postgres", feature = "mysql"))]
mod concurrency;
#[cfg(feature = "mysql")]
mod mariadb;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;

#[cfg(any(feature = "postgres", feature = "sqlite"))]
use crate::{
    db::{Db, Fixture},
    lifecycles::{Order, Pending, noon},
};

/// An update that a trigger has eaten.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
async fn no_effect<B: Db>(order: Order<Pending>, other: Order<Pending>, db: &Fixture<B>) {
    let error = order.pay("T-1".into(), noon()).apply(&db.pool).await.unwrap_err();
    assert_eq!((error.kind(), error.row_key()), (onward::ErrorKind::NoEffect, Some("1")));
    let error = other.amend(|row| row.amount_cents = 1).apply(&db.pool).await.unwrap_err();
    assert_eq!(error.kind(), onward::ErrorKind::NoEffect);
}
