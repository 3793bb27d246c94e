//! Events to a stream of NATS, and from it into transactions that do their work once.

use crate::shop::credit;
use async_nats::{
    Client, ConnectOptions, HeaderMap, HeaderName, HeaderValue,
    connection::State,
    header::NATS_MESSAGE_ID,
    jetstream::{self, AckKind, Context, consumer::pull, stream},
};
use futures_util::StreamExt as _;
use onward::{
    BoxError, Once, once,
    outbox::{Delivery, Publish},
};
use sqlx::SqlitePool;

const STREAM: &str = "ORDERS";
const CONSUMER: &str = "points";

/// A publisher for any number of relays: clones share a connection, which the client makes again by itself.
#[derive(Clone)]
pub struct Nats {
    client: Client,
    stream: Context,
}

impl Nats {
    /// Connected, unless the broker is away: then events wait, and it connects when it can.
    ///
    /// # Errors
    ///
    /// A URL that is none.
    pub async fn new(url: &str) -> Result<Self, BoxError> {
        let client = match async_nats::connect(url).await {
            Ok(client) => client,
            Err(_) => ConnectOptions::new().retry_on_initial_connect().connect(url).await?,
        };
        Ok(Self { stream: jetstream::new(client.clone()), client })
    }
}

impl Publish for Nats {
    async fn publish(&self, event: Delivery) -> Result<(), BoxError> {
        // While it is away the client would keep what it is given, and send it when others have long done so.
        if self.client.connection_state() != State::Connected {
            return Err("the broker is away".into());
        }
        let (topic, payload) = (event.topic().to_owned(), event.payload().to_vec());
        let sent = self.stream.publish_with_headers(topic, headers(&event)?, payload.into()).await?;
        // The stream has it; also if it had it before, and dropped this one.
        sent.await?;
        Ok(())
    }
}

fn headers(event: &Delivery) -> Result<HeaderMap, BoxError> {
    let mut headers = HeaderMap::new();
    for (name, value) in event.headers() {
        headers.append(name.parse::<HeaderName>()?, value.parse::<HeaderValue>()?);
    }
    headers.insert(NATS_MESSAGE_ID, event.id());
    headers.insert("Key", event.key().parse::<HeaderValue>()?);
    if let Some(version) = event.row_version() {
        headers.insert("Version", version.to_string());
    }
    Ok(headers)
}

/// The stream that keeps events, in a file; within two minutes it knows by their ids those that it has.
///
/// # Errors
///
/// The broker's.
pub async fn stream(url: &str) -> Result<stream::Stream, BoxError> {
    let config =
        stream::Config { name: STREAM.into(), subjects: vec!["order.*".into()], ..Default::default() };
    Ok(jetstream::new(async_nats::connect(url).await?).get_or_create_stream(config).await?)
}

/// Does the work for what arrives, once for each event, until the connection is lost.
///
/// # Errors
///
/// The broker's or the database's: what was not acknowledged comes again.
pub async fn receive(url: &str, db: &SqlitePool) -> Result<(), BoxError> {
    // One at a time, so that one that comes again is not overtaken.
    let one = pull::Config { durable_name: Some(CONSUMER.into()), max_ack_pending: 1, ..Default::default() };
    let consumer = stream(url).await?.get_or_create_consumer(CONSUMER, one).await?;
    let mut messages = consumer.messages().await?;
    while let Some(message) = messages.next().await {
        let message = message?;
        let header = |name: &str| message.headers.as_ref()?.get(name).map(HeaderValue::as_str);
        let Some(id) = header("Nats-Msg-Id") else {
            message.ack_with(AckKind::Term).await?; // none of ours
            continue;
        };
        let mut tx = onward::begin(db).await?;
        if once(&mut tx, CONSUMER, id).await? == Once::First {
            credit(&mut tx, id, header("Key").unwrap_or_default(), &message.payload).await?;
        }
        tx.commit().await?;
        message.ack().await?;
    }
    Err("the broker ended the subscription".into())
}
