//! A nats-server of one's own, with JetStream in its folder.

use crate::{
    broker::{Broker, Kept},
    servers::{Recipe, program_folders, quoted},
    shop::SOON,
};
use async_nats::jetstream::{
    self,
    consumer::{AckPolicy, pull},
};
use brokers::nats::{Nats, receive, stream};
use futures_util::StreamExt as _;
use sqlx::SqlitePool;
use std::{
    io::{self, Read as _},
    net::TcpStream,
    path::Path,
    time::Duration,
};

fn recipe(folder: &Path, port: u16) -> Result<Recipe, String> {
    let program =
        program_folders().map(|folder| folder.join("nats-server")).find(|file| file.is_file()).ok_or(
            "nats-server was not found: run `scripts/broker-test`, which installs it on Debian as root \
         (`apt-get install nats-server`)",
        )?;
    let (program, store) = (quoted(program), quoted(folder.join("store")));
    Ok(Recipe {
        name: "nats-server",
        install: "true".to_owned(),
        serve: format!("exec $owner {program} -a 127.0.0.1 -p {port} -js -sd {store}"),
        tidy: "true",
        clean: "INT",
        quick: "KILL",
        log: "server.log",
        login: "nats://",
        admits,
    })
}

fn admits(stream: &mut TcpStream) -> io::Result<bool> {
    let mut answer = [0; 4];
    stream.read_exact(&mut answer)?;
    Ok(answer == *b"INFO")
}

pub struct JetStream;

impl Broker for JetStream {
    const NAME: &'static str = "nats";
    const DROPS_REPEATS: bool = true;
    type Publisher = Nats;

    fn recipe(folder: &Path, port: u16) -> Result<Recipe, String> {
        recipe(folder, port)
    }

    async fn publisher(url: &str) -> Nats {
        Nats::new(url).await.unwrap()
    }

    async fn prepare(url: &str) {
        stream(url).await.unwrap();
    }

    async fn receive(url: &str, points: &SqlitePool) {
        loop {
            let _ = receive(url, points).await;
            tokio::time::sleep(SOON).await;
        }
    }

    async fn is_idle(_: &SqlitePool) -> bool {
        true
    }

    async fn log(url: &str) -> Vec<Kept> {
        let mut stream = stream(url).await.unwrap();
        let all = pull::Config { ack_policy: AckPolicy::None, ..Default::default() };
        let (count, consumer) =
            (stream.info().await.unwrap().state.messages, stream.create_consumer(all).await.unwrap());
        let messages = consumer.messages().await.unwrap().take(usize::try_from(count).unwrap());
        let kept = messages.map(|message| {
            let message = message.unwrap();
            let headers = message.headers.as_ref().unwrap();
            let header = |name: &str| headers.get(name).unwrap().to_string();
            let payload = String::from_utf8(message.payload.to_vec()).unwrap();
            Kept { id: header("Nats-Msg-Id"), key: header("Key"), payload }
        });
        kept.collect().await
    }
}

/// The same with a stream that forgets ids at once, as any does after a while, so that repeats reach the receiver.
pub struct Forgetful;

impl Broker for Forgetful {
    const NAME: &'static str = "forgetful";
    const DROPS_REPEATS: bool = false;
    type Publisher = Nats;

    fn recipe(folder: &Path, port: u16) -> Result<Recipe, String> {
        recipe(folder, port)
    }

    async fn publisher(url: &str) -> Nats {
        JetStream::publisher(url).await
    }

    async fn prepare(url: &str) {
        let mut config = stream(url).await.unwrap().cached_info().config.clone();
        config.duplicate_window = Duration::from_millis(100);
        jetstream::new(async_nats::connect(url).await.unwrap()).update_stream(config).await.unwrap();
    }

    async fn receive(url: &str, points: &SqlitePool) {
        JetStream::receive(url, points).await;
    }

    async fn is_idle(points: &SqlitePool) -> bool {
        JetStream::is_idle(points).await
    }

    async fn log(url: &str) -> Vec<Kept> {
        JetStream::log(url).await
    }
}
