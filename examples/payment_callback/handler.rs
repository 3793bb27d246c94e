//! From a callback as it arrives to what the provider is answered.

use crate::{
    provider::{self, Keys, Message, Payment, Provider},
    shop::{AnyOrder, Order, OrderRow, Shop},
};
use onward::{BoxError, Clash, Outcome, sqlx::Pool};

const ORDERS: &str = include_str!("orders.csv");
pub const ARTICLES: &str = include_str!("articles.csv");

/// What became of one line.
#[derive(Debug, Clone)]
pub struct Told {
    pub line: usize,
    pub word: &'static str,
    pub reply: &'static str,
    /// The order and the payment, where they could be read.
    pub order_no: String,
    pub trade_no: String,
}

/// The handler: one payment, verified, to its order.
async fn on_payment<D: Shop>(db: &Pool<D>, line: usize, payment: &Payment) -> Result<&'static str, BoxError> {
    let Some(order) = AnyOrder::find(db, payment.order_no.clone()).await? else {
        return Ok("unknown_order");
    };
    let (order_no, article, quantity) = (order.order_no.clone(), order.article.clone(), order.quantity);
    let (cents, currency) = (payment.amount_cents, payment.currency.clone());
    let outcome = order
        .pay(payment.provider.name().into(), payment.trade_no.clone(), payment.paid_at)
        .check(move |order| order.amount_cents == cents && currency == "cny")
        .request_id(&payment.delivery_id)
        .apply_with(db, async move |tx, _| D::deduct(tx, &order_no, &article, quantity).await)
        .await?;
    let word = match &outcome {
        Outcome::Applied(_) => "applied",
        Outcome::Duplicate(_) => "duplicate",
        Outcome::Refused(_) => "refused",
        Outcome::Conflict(conflict) => match conflict.clash {
            Clash::OtherCause => "other_cause",
            Clash::CauseTaken => "cause_taken",
            Clash::Aside => "aside",
            _ => "later",
        },
        Outcome::NotFound => "unknown_order",
    };
    if outcome.answer() == onward::Answer::Escalate {
        // Money may be owed: it is kept before the provider hears success, and will not send it again.
        record(db, line, word, &payment.order_no, &payment.trade_no).await?;
    }
    Ok(word)
}

/// One callback: verified, handled, answered.
pub async fn on_callback<D: Shop>(
    db: &Pool<D>,
    keys: &Keys,
    line: usize,
    text: &str,
) -> Result<Told, BoxError> {
    let (word, order_no, trade_no) = match provider::read(text, keys) {
        Err(rejected) => (rejected.code(), String::new(), String::new()),
        Ok(Message::Ignored(_)) => ("ignored", String::new(), String::new()),
        Ok(Message::Refunded(refund)) => {
            // It bears the payment's trade number, and is no repeat of the payment.
            let detail = format!("{} {:?} {}", refund.trade_no, refund.refund_no, refund.refunded_cents);
            record(db, line, "refund_notice", &refund.order_no, &detail).await?;
            ("refund_notice", refund.order_no, refund.trade_no)
        }
        Ok(Message::Paid(payment)) => {
            let word = on_payment(db, line, &payment).await?;
            (word, payment.order_no, payment.trade_no)
        }
    };
    let accepted = !matches!(
        word,
        "unknown_order" | "later" | "malformed" | "bad_signature" | "wrong_sign_type" | "not_ours"
    );
    let reply = Provider::of(text).map_or("failure", |provider| provider.reply(accepted));
    Ok(Told { line, word, reply, order_no, trade_no })
}

async fn record<D: Shop>(
    db: &Pool<D>,
    line: usize,
    word: &str,
    order_no: &str,
    detail: &str,
) -> Result<(), BoxError> {
    Ok(D::record(db, i64::try_from(line)?, word, order_no, detail).await?)
}

/// The orders and the stock before the first callback.
pub async fn open_shop<D: Shop>(db: &Pool<D>) -> Result<(), BoxError> {
    D::script(db, D::TABLES).await.map_err(|error| {
        format!("the tables `shop_…` cannot be created; give the URL of an empty database ({error})")
    })?;
    for line in ARTICLES.lines().skip(1) {
        let Some((article, stock)) = line.split_once(',') else { return Err("articles.csv".into()) };
        D::stock(db, article, stock.parse()?).await?;
    }
    for line in ORDERS.lines().skip(1) {
        let [_, order_no, cents, state, article, quantity] = line.split(',').collect::<Vec<_>>()[..] else {
            return Err("orders.csv".into());
        };
        let row = OrderRow {
            order_no: order_no.into(),
            amount_cents: cents.parse()?,
            article: article.into(),
            quantity: quantity.parse()?,
        };
        let order = Order::create(row).apply(db).await?.applied()?;
        if state == "cancelled" {
            order.cancel().apply(db).await?.applied()?;
        }
    }
    Ok(())
}
