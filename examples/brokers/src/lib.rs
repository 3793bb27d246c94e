//! The outbox of `onward` with real message brokers: one module each, to be copied and changed.
//!
//! Each has a publisher, for `outbox.relay(&db, stop, publisher)`, and a receiver that does its work once however often a
//! message comes: RabbitMQ's by an `Inbox`, the one for NATS by `once`.

pub mod nats;
pub mod rabbitmq;
pub mod shop;
