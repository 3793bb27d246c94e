//! Events to RabbitMQ, and from it into an inbox.

use crate::shop::credit;
use futures_util::StreamExt as _;
use lapin::{
    BasicProperties, Channel, Confirmation, Connection, ConnectionProperties, ExchangeKind,
    message::Delivery as Received,
    options::{
        BasicAckOptions, BasicConsumeOptions, BasicPublishOptions, BasicQosOptions, ConfirmSelectOptions,
        ExchangeDeclareOptions, QueueBindOptions, QueueDeclareOptions,
    },
    types::{AMQPValue, FieldTable, ShortString},
};
use onward::{
    Answer, BoxError,
    inbox::{Claim, Inbox, Message},
    outbox::{Delivery, Publish},
};
use sqlx::SqlitePool;
use std::time::Duration;
use tokio::{sync::Mutex, time::timeout};

const EXCHANGE: &str = "orders";
const QUEUE: &str = "points";
const PERSISTENT: u8 = 2;
const PATIENCE: Duration = Duration::from_secs(10);

/// A publisher for one relay, connected when there is something to publish. Give the URL a heartbeat
/// (`amqp://127.0.0.1:5672/%2f?heartbeat=10`), so that a broker that is silently gone is noticed.
pub struct RabbitMq {
    url: String,
    channel: Mutex<Option<Channel>>,
}

impl RabbitMq {
    /// Not connected yet.
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), channel: Mutex::default() }
    }
}

impl Publish for RabbitMq {
    async fn publish(&self, event: Delivery) -> Result<(), BoxError> {
        let properties = BasicProperties::default()
            .with_message_id(event.id().into())
            .with_delivery_mode(PERSISTENT)
            .with_headers(headers(&event)?);
        // Never `into()`, which panics on more than 255 bytes.
        let topic = ShortString::try_new(event.topic())?;
        // Taken out, and put back once the broker has answered: whoever gives up in between leaves a channel that can
        // still be sent an answer, and lapin goes by their order to tell which message was returned.
        let mut kept = self.channel.lock().await;
        let channel = match kept.take().filter(|channel| channel.status().connected()) {
            Some(channel) => channel,
            None => open(&self.url).await?,
        };
        let mandatory = BasicPublishOptions { mandatory: true, ..Default::default() };
        let confirm =
            channel.basic_publish(EXCHANGE.into(), topic, mandatory, event.payload(), properties).await?;
        let confirmed = confirm.await?;
        *kept = Some(channel);
        match confirmed {
            Confirmation::Ack(None) => Ok(()),
            Confirmation::Ack(Some(returned)) => Err(format!("returned: {}", returned.reply_text).into()),
            refused => Err(format!("not confirmed: {refused:?}").into()),
        }
    }
}

fn headers(event: &Delivery) -> Result<FieldTable, BoxError> {
    let text = |text: &str| AMQPValue::LongString(text.into());
    let mut headers = FieldTable::default();
    for (name, value) in event.headers() {
        headers.insert(ShortString::try_new(name.as_str())?, text(value));
    }
    headers.insert("key".into(), text(event.key()));
    if let Some(version) = event.row_version() {
        headers.insert("version".into(), AMQPValue::LongLongInt(version));
    }
    Ok(headers)
}

/// A channel on a connection of its own, which ends with it.
async fn open(url: &str) -> Result<Channel, BoxError> {
    // There is no heartbeat yet, and one that accepts connections and says nothing would be waited for for good.
    let connection = timeout(PATIENCE, Connection::connect(url, ConnectionProperties::default())).await??;
    let channel = connection.create_channel().await?;
    channel.confirm_select(ConfirmSelectOptions::default()).await?;
    let durable = ExchangeDeclareOptions { durable: true, ..Default::default() };
    channel.exchange_declare(EXCHANGE.into(), ExchangeKind::Topic, durable, FieldTable::default()).await?;
    Ok(channel)
}

/// A channel to receive by, and the queue that keeps what is sent meanwhile; of a cluster a quorum queue is better. It is
/// declared at each connection: a broker that is killed can forget what it was told of queues two seconds before.
///
/// # Errors
///
/// The broker's.
pub async fn subscribe(url: &str) -> Result<Channel, BoxError> {
    let channel = open(url).await?;
    let durable = QueueDeclareOptions { durable: true, ..Default::default() };
    channel.queue_declare(QUEUE.into(), durable, FieldTable::default()).await?;
    let bind = QueueBindOptions::default();
    channel.queue_bind(QUEUE.into(), EXCHANGE.into(), "order.*".into(), bind, FieldTable::default()).await?;
    Ok(channel)
}

/// Stores what arrives in the inbox, and only then takes it from the broker, until the connection is lost. What comes
/// again finds itself there.
///
/// # Errors
///
/// The broker's or the database's: what was not acknowledged comes again to whoever receives next.
pub async fn receive(url: &str, inbox: &Inbox, db: &SqlitePool) -> Result<(), BoxError> {
    let channel = subscribe(url).await?;
    channel.basic_qos(32, BasicQosOptions::default()).await?;
    let options = BasicConsumeOptions::default();
    let mut messages = channel.basic_consume(QUEUE.into(), "".into(), options, FieldTable::default()).await?;
    while let Some(received) = messages.next().await {
        let received = received?;
        let (id, message) = message(&received);
        let _ = inbox.store(db, &id, &message).await?;
        received.ack(BasicAckOptions::default()).await?;
    }
    Err("the broker ended the subscription".into())
}

fn message(received: &Received) -> (String, Message) {
    let properties = &received.properties;
    let header = |name| properties.headers().as_ref().and_then(|headers| headers.inner().get(name));
    let mut message = Message::new(&*received.data);
    if let Some(AMQPValue::LongString(key)) = header("key") {
        message = message.key(key.to_string());
    }
    // One that bears no id is known by what it says.
    let id = properties.message_id().as_ref().map_or_else(|| message.digest(), ToString::to_string);
    (id, message)
}

/// The inbox's work, for `inbox.work(&db, stop, |claim| work(&db, claim))`: done and marked in one transaction.
///
/// # Errors
///
/// The database's, or a claim that was lost: then it is done by somebody else.
pub async fn work(db: &SqlitePool, claim: Claim) -> Result<Answer, BoxError> {
    let mut tx = onward::begin(db).await?;
    let order = claim.message().business_key().unwrap_or_default();
    credit(&mut tx, &claim.message_id, order, claim.message().body()).await?;
    claim.applied(&mut tx).await?;
    tx.commit().await?;
    Ok(Answer::Settled)
}
