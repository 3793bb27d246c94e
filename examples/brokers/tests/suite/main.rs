//! The outbox with real brokers that are stopped, killed, halted and cut off: `scripts/broker-test`.
#![allow(missing_docs, unreachable_pub, clippy::pedantic)]

/// Servers and databases, as in the crate's own tests.
#[allow(dead_code, unexpected_cfgs, unused_macros)]
#[path = "../../../../tests/suite"]
mod shared {
    pub mod db;
    pub mod servers;
}
use shared::{db, servers};

/// Makes a test of each function, for every broker and every database of the outbox; a function takes a [`shop::Shop`].
macro_rules! with_every_broker {
    ($($test:ident),* $(,)?) => {
        mod rabbitmq { with_every_broker!(@ crate::rabbitmq::Rabbit; $($test)*); }
        mod nats { with_every_broker!(@ crate::nats::JetStream; $($test)*); }
        mod forgetful { with_every_broker!(@ crate::nats::Forgetful; $($test)*); }
    };
    (@ $broker:ty; $($test:ident)*) => {
        mod sqlite { with_every_broker!(@ $broker, sqlx::Sqlite; $($test)*); }
        #[cfg(feature = "postgres")]
        mod postgres { with_every_broker!(@ $broker, sqlx::Postgres; $($test)*); }
    };
    (@ $broker:ty, $db:ty; $($test:ident)*) => { $(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $test() {
            super::super::$test(crate::shop::Shop::<$broker, $db>::open(stringify!($test)).await).await;
        }
    )* };
}

mod away;
mod broker;
mod examples;
mod interrupted;
mod nats;
mod nowhere;
mod proxy;
mod rabbitmq;
mod relays;
mod shop;
mod silence;
mod speed;
