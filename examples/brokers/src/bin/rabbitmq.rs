//! `cargo run --bin rabbitmq [amqp://guest:guest@127.0.0.1:5672/%2f?heartbeat=10]`: three orders, paid, told to RabbitMQ,
//! received into an inbox, worked on.

use brokers::{
    rabbitmq::{RabbitMq, receive, subscribe, work},
    shop::Shop,
};
use onward::{BoxError, inbox::Inbox, outbox::Outbox};
use std::{env, future::pending};

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let url = env::args().nth(1).unwrap_or("amqp://127.0.0.1:5672/%2f?heartbeat=10".into());
    let (outbox, inbox) = (Outbox::new("shop"), Inbox::new("orders"));
    let shop = Shop::open().await?;
    let db = &shop.db;
    subscribe(&url).await?; // before anything is published: what no queue takes counts as failed
    shop.pay(&outbox, 3).await?;

    // Each of these is a task of a service, ended by its `stop`.
    let relay = outbox.relay(db, pending(), RabbitMq::new(&url));
    let receiver = receive(&url, &inbox, db);
    let worker = inbox.work(db, pending(), |claim| work(db, claim));
    tokio::select! {
        () = relay => {}
        () = worker => {}
        ended = receiver => ended?,
        credited = shop.credited(3) => credited?,
    }
    println!("check: ok");
    Ok(())
}
