//! A RabbitMQ of one's own: user `guest`, an Erlang name service of its own.

use crate::{
    broker::{Broker, Kept},
    servers::{Recipe, free_port, program_folders, quoted},
    shop::SOON,
};
use brokers::rabbitmq::{RabbitMq, receive, subscribe, work};
use lapin::{
    options::{BasicGetOptions, QueueBindOptions, QueueDeclareOptions},
    types::{AMQPValue, FieldTable},
};
use onward::{Policy, inbox::Inbox};
use sqlx::SqlitePool;
use std::{
    io::{self, Read as _, Write as _},
    net::TcpStream,
    path::{Path, PathBuf},
    time::Duration,
};

/// A queue of whatever was published, which nobody takes anything from until the end.
const LOG: &str = "log";

fn recipe(folder: &Path, port: u16) -> Result<Recipe, String> {
    let (program, epmd) = programs().ok_or(
        "RabbitMQ was not found: run `scripts/broker-test`, which installs it on Debian as root \
         (`apt-get install rabbitmq-server`)",
    )?;
    let (names, nodes) = (free_port()?, free_port()?);
    let [program, epmd] = [program, epmd].map(quoted);
    let home = quoted(folder);
    Ok(Recipe {
        name: "RabbitMQ",
        install: "mkdir data log && chmod 777 data log".to_owned(),
        // The name service is ours, since the one that Erlang would start outlives it. `ALLOW_INPUT` makes the server
        // the process that is waited for, instead of a shell before it.
        serve: format!(
            "export HOME={home} ERL_EPMD_PORT={names} RABBITMQ_MNESIA_BASE={home}/data RABBITMQ_LOG_BASE={home}/log \
             RABBITMQ_LOGS=- RABBITMQ_NODENAME=onward@localhost RABBITMQ_NODE_IP_ADDRESS=127.0.0.1 \
             RABBITMQ_NODE_PORT={port} RABBITMQ_DIST_PORT={nodes} RABBITMQ_ALLOW_INPUT=1 \
             RABBITMQ_ENABLED_PLUGINS_FILE={home}/plugins RABBITMQ_CONFIG_FILE={home}/none \
             RABBITMQ_CONF_ENV_FILE={home}/none RABBITMQ_PID_FILE={home}/pid RABBITMQ_FEATURE_FLAGS_FILE={home}/flags \
             RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS='-noinput +sbwt none -kernel inet_dist_use_interface {{127,0,0,1}}'\n\
             if [ ! -s epmd.pid ] || ! alive \"$(cat epmd.pid)\"; then\n\
             $owner {epmd} -port {names} -address 127.0.0.1 & echo $! >epmd.pid\n\
             fi\n\
             exec $owner {program}"
        ),
        tidy: "[ ! -s epmd.pid ] || ! alive \"$(cat epmd.pid)\" || kill \"$(cat epmd.pid)\"",
        clean: "TERM",
        quick: "KILL",
        log: "server.log",
        login: "amqp://guest:guest@",
        admits,
    })
}

/// The server, past the wrapper that Debian puts before it and that wants to be root, and the name service.
fn programs() -> Option<(PathBuf, PathBuf)> {
    let server = ["/usr/lib/rabbitmq/bin", "/opt/rabbitmq/sbin", "/opt/homebrew/sbin"].map(PathBuf::from);
    let server = server.into_iter().chain(program_folders()).map(|folder| folder.join("rabbitmq-server"));
    let epmd = program_folders().map(|folder| folder.join("epmd"));
    Some((server.into_iter().find(|file| file.is_file())?, epmd.into_iter().find(|file| file.is_file())?))
}

/// It says how it starts a connection once the node is up.
fn admits(stream: &mut TcpStream) -> io::Result<bool> {
    stream.write_all(b"AMQP\0\0\x09\x01")?;
    let mut answer = [0];
    stream.read_exact(&mut answer)?;
    Ok(answer == [1])
}

pub struct Rabbit;

impl Broker for Rabbit {
    const NAME: &'static str = "rabbitmq";
    const DROPS_REPEATS: bool = false;
    type Publisher = RabbitMq;

    fn recipe(folder: &Path, port: u16) -> Result<Recipe, String> {
        recipe(folder, port)
    }

    async fn publisher(url: &str) -> RabbitMq {
        RabbitMq::new(url)
    }

    async fn prepare(url: &str) {
        let channel = subscribe(url).await.unwrap();
        let durable = QueueDeclareOptions { durable: true, ..Default::default() };
        channel.queue_declare(LOG.into(), durable, FieldTable::default()).await.unwrap();
        let bind = QueueBindOptions::default();
        channel
            .queue_bind(LOG.into(), "orders".into(), "#".into(), bind, FieldTable::default())
            .await
            .unwrap();
        // It keeps queues and bindings, unlike messages, in memory for two seconds before it writes them, and a test
        // may kill it sooner.
        tokio::time::sleep(Duration::from_secs(3)).await;
    }

    async fn receive(url: &str, points: &SqlitePool) {
        let inbox = inbox();
        let worker = inbox.work(points, std::future::pending(), |claim| work(points, claim));
        let receiver = async {
            loop {
                let _ = receive(url, &inbox, points).await;
                tokio::time::sleep(SOON).await;
            }
        };
        tokio::join!(worker, receiver);
    }

    async fn is_idle(points: &SqlitePool) -> bool {
        let open = "SELECT COUNT(*) FROM onward_inbox WHERE status <> 'applied'";
        sqlx::query_scalar::<_, i64>(open).fetch_one(points).await.unwrap() == 0
    }

    async fn log(url: &str) -> Vec<Kept> {
        let channel = subscribe(url).await.unwrap();
        let mut log = Vec::new();
        let get = || channel.basic_get(LOG.into(), BasicGetOptions { no_ack: true });
        while let Some(message) = get().await.unwrap() {
            let id = message.properties.message_id().as_ref().unwrap().to_string();
            let headers = message.properties.headers().as_ref().unwrap();
            let Some(AMQPValue::LongString(key)) = headers.inner().get("key") else { panic!("no key") };
            assert_eq!(*message.properties.delivery_mode(), Some(2));
            let payload = String::from_utf8(message.data.clone()).unwrap();
            log.push(Kept { id, key: key.to_string(), payload });
        }
        log
    }
}

/// Quick and patient, since a test takes seconds.
fn inbox() -> Inbox {
    Inbox::new("orders").poll_every(SOON).policy(Policy::retry(100).delays(SOON, SOON))
}
