//! Stripe's event: JSON, with a keyed hash in the `Stripe-Signature` header.

use chrono::{DateTime, Utc};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::Sha256;

use super::{Ignored, Keys, Message, Payment, Provider, Refund, Rejected, identifier, malformed};

/// An event, signed as the bytes that were received.
pub(super) fn read(header: &str, body: &str, keys: &Keys) -> Result<Message, Rejected> {
    verify(header, body, &keys.webhook_secret)?;
    let provider = Provider::Stripe;
    let head: Head = json(body)?;
    let delivery_id = identifier("id", &head.id)?;
    match head.kind.as_str() {
        "payment_intent.succeeded" => {
            let intent = json::<Event<Intent>>(body)?.data.object;
            if intent.status != "succeeded" {
                return Err(malformed("data.object.status"));
            }
            Ok(Message::Paid(Payment {
                provider,
                order_no: identifier("metadata.order_no", &intent.metadata.order_no)?,
                trade_no: identifier("data.object.id", &intent.id)?,
                // What came, not what was asked for.
                amount_cents: amount("amount_received", intent.amount_received)?,
                currency: intent.currency,
                // The intent's own `created` is when the paying began.
                paid_at: unix_time(head.created)?,
                delivery_id,
            }))
        }
        "charge.refunded" => {
            let charge = json::<Event<Charge>>(body)?.data.object;
            Ok(Message::Refunded(Refund {
                provider,
                // A charge carries a copy of its payment intent's metadata.
                order_no: identifier("metadata.order_no", &charge.metadata.order_no)?,
                trade_no: identifier("payment_intent", &charge.payment_intent)?,
                refund_no: None,
                refunded_cents: amount("amount_refunded", charge.amount_refunded)?,
                currency: charge.currency,
                refunded_at: unix_time(head.created)?,
                delivery_id,
            }))
        }
        _ => Ok(Message::Ignored(Ignored { provider, why: head.kind, delivery_id })),
    }
}

/// `t=<unix>,v1=<hex>[,v1=<hex>…]`: HMAC-SHA256 over `<t>.<body>`. There are several `v1` while
/// a secret is being replaced; one that fits is enough, other schemes (`v0`) do not count.
///
/// A server must also turn away a `t` more than five minutes off its clock, or a stolen request can
/// be replayed for ever. That is left out here because the file is older than five minutes.
fn verify(header: &str, body: &str, secret: &str) -> Result<(), Rejected> {
    let parts = || header.split(',').filter_map(|part| part.split_once('='));
    let time = parts().find(|(name, _)| *name == "t");
    let (_, time) = time.ok_or(Rejected::BadSignature)?;
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).map_err(|_| Rejected::BadSignature)?;
    mac.update(time.as_bytes());
    mac.update(b".");
    mac.update(body.as_bytes());
    let fits = parts()
        .filter(|(name, _)| *name == "v1")
        .filter_map(|(_, value)| hex::decode(value).ok())
        .any(|bytes| mac.clone().verify_slice(&bytes).is_ok());
    if fits { Ok(()) } else { Err(Rejected::BadSignature) }
}

/// Structs rather than a `Value`: a name that appears twice is an error, not the last one's win.
fn json<T: DeserializeOwned>(body: &str) -> Result<T, Rejected> {
    serde_json::from_str(body).map_err(|error| Rejected::Malformed(error.to_string()))
}

#[derive(Deserialize)]
struct Head {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    created: i64,
}

#[derive(Deserialize)]
struct Event<T> {
    data: Data<T>,
}

#[derive(Deserialize)]
struct Data<T> {
    object: T,
}

#[derive(Deserialize)]
struct Intent {
    id: String,
    amount_received: i64,
    currency: String,
    metadata: Metadata,
    status: String,
}

#[derive(Deserialize)]
struct Charge {
    payment_intent: String,
    amount_refunded: i64,
    currency: String,
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    order_no: String,
}

fn amount(field: &str, amount: i64) -> Result<i64, Rejected> {
    if amount >= 0 { Ok(amount) } else { Err(malformed(field)) }
}

fn unix_time(seconds: i64) -> Result<DateTime<Utc>, Rejected> {
    DateTime::from_timestamp(seconds, 0).ok_or_else(|| malformed("created"))
}
