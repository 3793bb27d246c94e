//! From a callback as it arrives to what the provider is answered.

use crate::{
    provider::{self, Keys, Message, Payment, Provider},
    shop::{AnyOrder, Order, OrderRow, Paid, Shop},
};
use onward::{
    Answer, BoxError, Lifecycle as _, Outcome, Policy,
    inbox::{self, Claim, Entry, Inbox, Status},
    sqlx::Pool,
};
use std::time::Duration;

const ORDERS: &str = include_str!("orders.csv");
pub const ARTICLES: &str = include_str!("articles.csv");

/// What became of one line.
#[derive(Debug, Clone)]
pub struct Told {
    pub line: usize,
    pub word: String,
    pub reply: &'static str,
    /// The order and the payment, where they could be read.
    pub order_no: String,
    pub trade_no: String,
    /// Whose inbox keeps it, if anybody's.
    pub source: Option<&'static str>,
    pub digest: String,
    /// The entry and the message id; nothing for what was set aside.
    pub entry: Option<(i64, String)>,
}

/// What comes before its order is tried again when the provider sends it again, which takes minutes.
fn inbox_of(provider: Provider) -> Inbox {
    let (first, longest) = (Duration::from_mins(1), Duration::from_hours(1));
    Inbox::new(provider.name()).policy(Policy::callback().delays(first, longest))
}

/// One callback: kept, worked on, answered. It counts as "not now" while another delivery of it is worked on.
pub async fn on_callback<D: Shop>(
    db: &Pool<D>,
    keys: &Keys,
    line: usize,
    text: &str,
) -> Result<Told, BoxError> {
    let mut told = Told {
        line,
        word: "malformed".into(),
        reply: "failure",
        order_no: String::new(),
        trade_no: String::new(),
        source: None,
        digest: String::new(),
        entry: None,
    };
    // Without a provider there is no address that it could have come to.
    let Some(provider) = Provider::of(text) else { return Ok(told) };
    let (inbox, raw) = (inbox_of(provider), provider::raw(text));
    (told.source, told.digest) = (Some(provider.name()), raw.digest());
    let answer = match provider::read(text, keys) {
        Err(rejected) => {
            // Somebody may want to see it; it takes no message id, and nothing works on it.
            inbox.set_aside(db, &raw).await?;
            told.word = rejected.code().into();
            Answer::Later
        }
        Ok(message) => {
            (told.order_no, told.trade_no) = message.names();
            let answer;
            (told.word, answer, told.entry) = on_message(db, &inbox, raw, &message).await?;
            answer
        }
    };
    // What a person has to look at is kept, so that it need not come again.
    told.reply = provider.reply(answer != Answer::Later);
    Ok(told)
}

/// A verified message: stored before anything is decided, then claimed, worked on and settled.
async fn on_message<D: Shop>(
    db: &Pool<D>,
    inbox: &Inbox,
    mut raw: inbox::Message,
    message: &Message,
) -> Result<(String, Answer, Option<(i64, String)>), BoxError> {
    let (order_no, _) = message.names();
    if !order_no.is_empty() {
        raw = raw.key(order_no);
    }
    let stored = inbox.store(db, message.delivery_id(), &raw).await?;
    let entry = stored.entry();
    let (word, answer) = match inbox.claim(db, entry.id).await? {
        Some(claim) => work(db, &claim, message).await?,
        None => (repeated(entry, message).to_owned(), stored.answer()),
    };
    Ok((word, answer, Some((entry.id, entry.message_id.clone()))))
}

/// What is claimed is settled, whatever becomes of it.
async fn work<D: Shop>(db: &Pool<D>, claim: &Claim, message: &Message) -> Result<(String, Answer), BoxError> {
    match message {
        Message::Paid(payment) => {
            let work = pay(db, payment, claim.clone()).await;
            let answer = claim.settle(db, &work).await?;
            Ok((work.as_ref().map_or("error", Outcome::as_str).into(), answer))
        }
        Message::Refunded(refund) => {
            // It bears the payment's trade number, and is no repeat of the payment.
            let what = format!("refund {:?}, {} cents so far", refund.refund_no, refund.refunded_cents);
            claim.needs_attention(db, &what).await?;
            Ok(("refund_notice".into(), Answer::Escalate))
        }
        Message::Ignored(ignored) => {
            claim.refused(db, &ignored.why).await?;
            Ok(("ignored".into(), Answer::Settled))
        }
    }
}

/// The order, its stock, and the mark on the entry: all of it, or nothing.
async fn pay<D: Shop>(
    db: &Pool<D>,
    payment: &Payment,
    claim: Claim,
) -> Result<Outcome<Order<Paid>>, BoxError> {
    let Some(order) = AnyOrder::find(db, payment.order_no.clone()).await? else {
        return Ok(Outcome::NotFound);
    };
    let (cents, currency) = (payment.amount_cents, payment.currency.clone());
    let outcome = order
        .pay(payment.provider.name().into(), payment.trade_no.clone(), payment.paid_at)
        .actor(format!("{} {}", claim.source, claim.message_id))
        .check(move |order| order.amount_cents == cents && currency == "cny")
        .apply_with(db, async move |tx, paid| {
            D::deduct(tx, &paid.order_no, &paid.article, paid.quantity).await?;
            claim.applied(tx).await?;
            Ok::<_, BoxError>(())
        });
    Ok(outcome.await?)
}

/// What became of a message by the time that it came again.
fn repeated<'e>(entry: &'e Entry, message: &Message) -> &'e str {
    match (message, entry.status) {
        (_, Status::Received | Status::Claimed) => "in_progress",
        (Message::Refunded(_), _) => "refund_notice",
        (Message::Ignored(_), _) => "ignored",
        (Message::Paid(_), Status::Applied | Status::Duplicate) => "duplicate",
        (Message::Paid(_), _) => entry.outcome.as_deref().unwrap_or_default(),
    }
}

/// The tables, the orders and the stock before the first callback.
pub async fn open_shop<D: Shop>(db: &Pool<D>) -> Result<(), BoxError> {
    D::script(db, D::TABLES.into()).await.map_err(|error| {
        format!("the tables `shop_…` cannot be created; give the URL of an empty database ({error})")
    })?;
    D::script(db, AnyOrder::DESCRIPTION.journal_table::<D>()?).await?;
    onward::migrate(db).await?;
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
