//! What the payment providers send: one line of `notifications.txt` becomes a verified [`Message`],
//! or is [`Rejected`]. There is no database here, and nothing here decides about an order.
//!
//! The signature comes first: no field of a message is believed, or even looked at, before the
//! bytes that carried it are known to come from the provider.

mod alipay;
mod stripe;

use chrono::{DateTime, Utc};
use rsa::pkcs1v15::VerifyingKey;
use rsa::pkcs8::DecodePublicKey as _;
use sha2::Sha256;

/// Who sent it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Provider {
    Alipay,
    Stripe,
}

impl Provider {
    /// The provider that a line names, known even if the rest of the line is broken, as an HTTP
    /// route would know it.
    pub fn of(line: &str) -> Option<Self> {
        let name = line.split_once('\t').map_or(line, |(name, _)| name);
        match name {
            "alipay" => Some(Self::Alipay),
            "stripe" => Some(Self::Stripe),
            _ => None,
        }
    }

    /// As it is written in a journal or a ledger.
    pub fn name(self) -> &'static str {
        match self {
            Self::Alipay => "alipay",
            Self::Stripe => "stripe",
        }
    }

    /// What the provider must be answered. Alipay reads the body: exactly `success`, or the
    /// notification comes again (eight times within 25 hours). Stripe reads the HTTP status: any
    /// 2xx, or the event comes again (for up to three days).
    pub fn reply(self, accepted: bool) -> &'static str {
        match (self, accepted) {
            (Self::Alipay, true) => "success",
            (Self::Alipay, false) => "failure",
            (Self::Stripe, true) => "200",
            (Self::Stripe, false) => "500",
        }
    }
}

/// A verified message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// Money came in.
    Paid(Payment),
    /// Money went back. Alipay sends this to the payment's own address with the payment's trade
    /// number, so it is easily taken for one more payment.
    Refunded(Refund),
    /// Nothing that moves an order: a step on the way, or an event that was not asked for.
    Ignored(Ignored),
}

impl Message {
    /// The id that the provider gave this notification.
    pub fn delivery_id(&self) -> &str {
        match self {
            Self::Paid(payment) => &payment.delivery_id,
            Self::Refunded(refund) => &refund.delivery_id,
            Self::Ignored(ignored) => &ignored.delivery_id,
        }
    }

    /// The order and the payment; empty where the message speaks of none.
    pub fn names(&self) -> (String, String) {
        match self {
            Self::Paid(payment) => (payment.order_no.clone(), payment.trade_no.clone()),
            Self::Refunded(refund) => (refund.order_no.clone(), refund.trade_no.clone()),
            Self::Ignored(_) => (String::new(), String::new()),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    pub provider: Provider,
    /// Ours: the order that was to be paid.
    pub order_no: String,
    /// Theirs: the payment. The same in every repeat, and the cause of the transition.
    pub trade_no: String,
    pub amount_cents: i64,
    /// Lower case, `cny`.
    pub currency: String,
    pub paid_at: DateTime<Utc>,
    /// Theirs: this notification. A payment may be told under several of these, so it turns repeats
    /// of the notification away at the door and never tells two payments apart.
    pub delivery_id: String,
}

#[allow(clippy::struct_field_names)] // `refund_no` is what everybody calls it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refund {
    pub provider: Provider,
    pub order_no: String,
    /// The payment's trade number; a refund has none of its own.
    pub trade_no: String,
    /// Our refund request, where the provider says which (Stripe's event does not).
    pub refund_no: Option<String>,
    /// All that was paid back up to now, not this refund's share.
    pub refunded_cents: i64,
    pub currency: String,
    pub refunded_at: DateTime<Utc>,
    pub delivery_id: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ignored {
    pub provider: Provider,
    /// The trade status, or the event type.
    pub why: String,
    pub delivery_id: String,
}

/// Not a message: answer failure, change nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    /// Not what the provider sends; says which part.
    #[error("malformed: {0}")]
    Malformed(String),
    /// Unsigned, or the signature does not fit what was received.
    #[error("the signature does not fit")]
    BadSignature,
    /// The one algorithm is fixed here and never taken from the message, which is not even signed
    /// in this place.
    #[error("sign_type is {0:?}, not RSA2")]
    WrongSignType(String),
    /// Truly the provider's, and meant for somebody else.
    #[error("the {0} is not ours")]
    NotOurs(&'static str),
}

impl Rejected {
    /// A word for records and comparisons.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Malformed(_) => "malformed",
            Self::BadSignature => "bad_signature",
            Self::WrongSignType(_) => "wrong_sign_type",
            Self::NotOurs(_) => "not_ours",
        }
    }
}

fn malformed(what: &str) -> Rejected {
    Rejected::Malformed(what.to_owned())
}

/// What the messages are verified with.
pub struct Keys {
    alipay: VerifyingKey<Sha256>,
    app_id: String,
    seller_id: String,
    webhook_secret: String,
}

impl Keys {
    pub fn new(
        alipay_public_key: &str,
        app_id: &str,
        seller_id: &str,
        webhook_secret: &str,
    ) -> Result<Self, rsa::pkcs8::spki::Error> {
        Ok(Self {
            alipay: VerifyingKey::from_public_key_pem(alipay_public_key)?,
            app_id: app_id.to_owned(),
            seller_id: seller_id.to_owned(),
            // The whole text is the key, `whsec_` included.
            webhook_secret: webhook_secret.trim().to_owned(),
        })
    }

    /// The keys in `keys/`, which sign `notifications.txt` and protect nothing.
    pub fn of_this_example() -> Result<Self, rsa::pkcs8::spki::Error> {
        Self::new(
            include_str!("../keys/alipay_test_public_key.pem"),
            "2021000000000001",
            "2088000000000001",
            include_str!("../keys/stripe_test_webhook_secret.txt"),
        )
    }
}

/// The waves of a notifications file, each a list of (line number, line). A line `--- words` ends
/// a wave; blank lines and `#` lines are skipped.
pub fn waves(file: &str) -> Vec<Vec<(usize, &str)>> {
    let mut waves = vec![Vec::new()];
    for (at, line) in file.lines().enumerate() {
        if line.starts_with("---") {
            waves.push(Vec::new());
        } else if !line.trim().is_empty()
            && !line.starts_with('#')
            && let Some(wave) = waves.last_mut()
        {
            wave.push((at + 1, line));
        }
    }
    waves.retain(|wave| !wave.is_empty());
    waves
}

/// One line as the bytes that arrived, nothing of it believed yet.
pub fn raw(line: &str) -> onward::inbox::Message {
    let (name, rest) = line.split_once('\t').unwrap_or((line, ""));
    match rest.split_once('\t') {
        Some((header, body)) if name == "stripe" => {
            onward::inbox::Message::new(body).header("stripe-signature", header)
        }
        _ => onward::inbox::Message::new(rest),
    }
}

/// Reads one line as the callback that it stands for.
pub fn read(line: &str, keys: &Keys) -> Result<Message, Rejected> {
    let provider = Provider::of(line).ok_or_else(|| malformed("provider"))?;
    let (_, rest) = line.split_once('\t').ok_or_else(|| malformed("body"))?;
    match provider {
        Provider::Alipay => alipay::read(rest, keys),
        Provider::Stripe => {
            let (header, body) = rest.split_once('\t').ok_or_else(|| malformed("body"))?;
            stripe::read(header, body, keys)
        }
    }
}

/// A name from outside that will be stored and looked up: order, trade, refund, delivery. Both
/// providers use letters, digits, `_` and `-` only; what has anything else (a NUL, which PostgreSQL
/// would not store) or no end is turned away here.
fn identifier(field: &str, value: &str) -> Result<String, Rejected> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    if (1..=128).contains(&value.len()) && value.bytes().all(plain) {
        Ok(value.to_owned())
    } else {
        Err(malformed(field))
    }
}
