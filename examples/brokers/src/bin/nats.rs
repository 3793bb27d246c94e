//! `cargo run --bin nats [nats://127.0.0.1:4222]`: three orders, paid, told to a stream of NATS, received and worked on.

use brokers::{
    nats::{Nats, receive, stream},
    shop::Shop,
};
use onward::{BoxError, outbox::Outbox};
use std::{env, future::pending};

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let url = env::args().nth(1).unwrap_or("nats://127.0.0.1:4222".into());
    let outbox = Outbox::new("shop");
    let shop = Shop::open().await?;
    let db = &shop.db;
    stream(&url).await?; // before anything is published: what no stream takes counts as failed
    shop.pay(&outbox, 3).await?;

    // Each of these is a task of a service, ended by its `stop`.
    let relay = outbox.relay(db, pending(), Nats::new(&url).await?);
    let receiver = receive(&url, db);
    tokio::select! {
        () = relay => {}
        ended = receiver => ended?,
        credited = shop.credited(3) => credited?,
    }
    println!("check: ok");
    Ok(())
}
