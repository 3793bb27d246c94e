//! Alipay's asynchronous notification: a form, signed with RSA.

use std::collections::BTreeMap;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use chrono::{DateTime, FixedOffset, NaiveDateTime, Utc};
use rsa::pkcs1v15::Signature;
use rsa::signature::Verifier as _;

use super::{Ignored, Keys, Message, Payment, Provider, Refund, Rejected, identifier, malformed};

/// A form-encoded notification. Its age is not checked: the trade number makes a repeat harmless
/// however late it comes, and Alipay's own repeats come up to a day later.
pub(super) fn read(body: &str, keys: &Keys) -> Result<Message, Rejected> {
    let form = Form::parse(body)?;
    form.verify(keys)?;
    if !form.text("charset")?.eq_ignore_ascii_case("utf-8") {
        return Err(malformed("charset"));
    }
    // The signature says only that Alipay wrote it: to whom is in the message.
    if form.text("app_id")? != keys.app_id {
        return Err(Rejected::NotOurs("app_id"));
    }
    if form.text("seller_id")? != keys.seller_id {
        return Err(Rejected::NotOurs("seller_id"));
    }

    let provider = Provider::Alipay;
    let delivery_id = form.identifier("notify_id")?;
    let status = form.text("trade_status")?;
    match status {
        // A partial refund leaves the status at TRADE_SUCCESS, a full one makes it TRADE_CLOSED:
        // only the refund's own fields tell it from a payment.
        "TRADE_SUCCESS" | "TRADE_FINISHED" | "TRADE_CLOSED" if form.has("refund_fee") => {
            Ok(Message::Refunded(Refund {
                provider,
                order_no: form.identifier("out_trade_no")?,
                trade_no: form.identifier("trade_no")?,
                refund_no: Some(form.identifier("out_biz_no")?),
                refunded_cents: form.cents("refund_fee")?,
                currency: "cny".to_owned(),
                refunded_at: form.time("gmt_refund")?,
                delivery_id,
            }))
        }
        "TRADE_SUCCESS" | "TRADE_FINISHED" => Ok(Message::Paid(Payment {
            provider,
            order_no: form.identifier("out_trade_no")?,
            trade_no: form.identifier("trade_no")?,
            // What the order cost; receipt_amount, what arrived, is less where Alipay itself paid
            // a part of it as a discount.
            amount_cents: form.cents("total_amount")?,
            currency: "cny".to_owned(),
            paid_at: form.time("gmt_payment")?,
            delivery_id,
        })),
        "WAIT_BUYER_PAY" | "TRADE_CLOSED" => {
            Ok(Message::Ignored(Ignored { provider, why: status.to_owned(), delivery_id }))
        }
        _ => Err(malformed("trade_status")),
    }
}

/// The parameters by name, decoded; sorted, as the signature wants them.
struct Form(BTreeMap<String, String>);

impl Form {
    fn parse(body: &str) -> Result<Self, Rejected> {
        // The decoder takes anything; whatever is no list of pairs was cut short or is no form.
        if !body.split('&').all(|pair| pair.contains('=')) {
            return Err(malformed("body"));
        }
        let mut form = BTreeMap::new();
        for (name, value) in form_urlencoded::parse(body.as_bytes()) {
            // The signed text is joined from decoded values, so that a subject `x&total_amount=9`
            // can be sent on as a second amount under a signature that still fits.
            if form.insert(name.into_owned(), value.into_owned()).is_some() {
                return Err(malformed("a parameter twice"));
            }
        }
        Ok(Self(form))
    }

    /// RSA2: SHA-256 with RSA over all parameters but `sign` and `sign_type`, sorted by name,
    /// joined as `name=value&…`.
    fn verify(&self, keys: &Keys) -> Result<(), Rejected> {
        let sign = self.text("sign").map_err(|_| Rejected::BadSignature)?;
        match self.0.get("sign_type").map_or("", String::as_str) {
            "RSA2" => {}
            other => return Err(Rejected::WrongSignType(other.to_owned())),
        }
        let signed = self
            .0
            .iter()
            .filter(|(name, _)| *name != "sign" && *name != "sign_type")
            .map(|(name, value)| format!("{name}={value}"))
            .collect::<Vec<_>>()
            .join("&");
        let bytes = BASE64.decode(sign).map_err(|_| Rejected::BadSignature)?;
        let signature = Signature::try_from(bytes.as_slice()).map_err(|_| Rejected::BadSignature)?;
        keys.alipay.verify(signed.as_bytes(), &signature).map_err(|_| Rejected::BadSignature)
    }

    fn has(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|value| !value.is_empty())
    }

    fn text(&self, name: &str) -> Result<&str, Rejected> {
        match self.0.get(name) {
            Some(value) if !value.is_empty() => Ok(value),
            _ => Err(malformed(name)),
        }
    }

    fn identifier(&self, name: &str) -> Result<String, Rejected> {
        identifier(name, self.text(name)?)
    }

    fn cents(&self, name: &str) -> Result<i64, Rejected> {
        cents(self.text(name)?).ok_or_else(|| malformed(name))
    }

    /// Alipay's times are Chinese ones without saying so; refund times have a fraction.
    fn time(&self, name: &str) -> Result<DateTime<Utc>, Rejected> {
        let parse = |text: &str| {
            let local = NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S%.f").ok()?;
            let offset = FixedOffset::east_opt(8 * 3600)?;
            let time = local.and_local_timezone(offset).single()?;
            Some(time.with_timezone(&Utc))
        };
        parse(self.text(name)?).ok_or_else(|| malformed(name))
    }
}

/// `88.80` is 8880, without a float in between. Digits, then at most two decimals; nothing else
/// that number parsers like to accept (sign, exponent, spaces, commas).
fn cents(text: &str) -> Option<i64> {
    let (yuan, decimals) = text.split_once('.').unwrap_or((text, "00"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !digits(yuan) || !digits(decimals) || decimals.len() > 2 {
        return None;
    }
    let tens = if decimals.len() == 1 { 10 } else { 1 };
    let yuan = i64::from_str(yuan).ok()?;
    let decimals = i64::from_str(decimals).ok()?;
    yuan.checked_mul(100)?.checked_add(decimals * tens)
}
