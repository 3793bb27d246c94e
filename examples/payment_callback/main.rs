//! Payment callbacks, as providers really send them: repeated, out of order, late, for the wrong amount, forged.
//!
//! ```text
//! cargo run --example payment_callback [NOTIFICATIONS] [DATABASE_URL]
//! ```
//!
//! Without arguments it takes the notifications beside it and a SQLite file of its own that it removes at the end;
//! for other databases add their feature (`--features postgres,mysql`) and give the URL of an empty one. It delivers
//! the notifications with 100 concurrent workers, prints what became of them, compares each line with what was
//! expected of it, and adds up the tables by plain SQL. The last line is `check: ok`, or it fails.

#![allow(missing_docs)]

mod check;
mod provider;
mod shop;

use onward::{BoxError, Clash, Outcome, sqlx};
use provider::{Keys, Message, Payment, Provider};
use shop::{AnyOrder, Order, OrderRow, Shop};
use sqlx::{Pool, pool::PoolOptions};
use std::{collections::VecDeque, env, fs, sync::Arc, time::Instant};
use tokio::sync::Mutex;

const WORKERS: usize = 100;
const ORDERS: &str = include_str!("orders.csv");
const ARTICLES: &str = include_str!("articles.csv");
const NOTIFICATIONS: &str = include_str!("notifications.txt");
const EXPECTED: &str = include_str!("expected.txt");

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
async fn on_callback<D: Shop>(db: &Pool<D>, keys: &Keys, line: usize, text: &str) -> Result<Told, BoxError> {
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

/// Delivers all lines, wave by wave.
async fn deliver<D: Shop>(db: &Pool<D>, file: &str) -> Result<Vec<Told>, BoxError> {
    let keys = Arc::new(Keys::of_this_example()?);
    let mut told = Vec::new();
    for wave in provider::waves(file) {
        let lines: VecDeque<(usize, String)> =
            wave.into_iter().map(|(line, text)| (line, text.to_owned())).collect();
        let lines = Arc::new(Mutex::new(lines));
        let mut workers = Vec::new();
        for _ in 0..WORKERS {
            let (db, keys, lines) = (db.clone(), keys.clone(), lines.clone());
            workers.push(tokio::spawn(async move {
                let mut told = Vec::new();
                loop {
                    let next = lines.lock().await.pop_front();
                    let Some((line, text)) = next else { return Ok::<_, BoxError>(told) };
                    told.push(on_callback(&db, &keys, line, &text).await?);
                }
            }));
        }
        for worker in workers {
            told.extend(worker.await??);
        }
    }
    told.sort_by_key(|told| told.line);
    Ok(told)
}

/// The orders and the stock before the first callback.
async fn open_shop<D: Shop>(db: &Pool<D>) -> Result<(), BoxError> {
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

async fn run<D: Shop>(db: &Pool<D>, file: &str, expected: Option<&str>) -> Result<(), BoxError> {
    open_shop(db).await?;
    let start = Instant::now();
    let told = deliver(db, file).await?;
    println!(
        "{} callbacks by {WORKERS} workers in {:.1} s on {}",
        told.len(),
        start.elapsed().as_secs_f64(),
        D::NAME
    );
    check::print(&told);
    let mut wrong = check::tables(db, ARTICLES, &told).await?;
    match expected {
        Some(expected) => wrong.extend(check::lines(&told, expected)),
        None => println!(
            "nothing is known about what should become of these lines; the tables were added up all the same"
        ),
    }
    for mistake in &wrong {
        println!("wrong: {mistake}");
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(format!("{} things are not as they should be", wrong.len()).into())
    }
}

/// The arguments: a file of notifications, a database URL, in any order.
fn arguments() -> Result<(Option<String>, Option<String>), BoxError> {
    let (mut file, mut url) = (None, None);
    for argument in env::args().skip(1) {
        let place =
            if argument.contains("://") || argument.starts_with("sqlite:") { &mut url } else { &mut file };
        if let Some(first) = place.replace(argument) {
            return Err(format!(
                "`{first}` is one too many; usage: payment_callback [NOTIFICATIONS] [DATABASE_URL]"
            )
            .into());
        }
    }
    Ok((file, url))
}

async fn connect<D: Shop>(url: &str) -> Result<Pool<D>, BoxError> {
    let pool = PoolOptions::new().max_connections(10).connect(url).await;
    pool.map_err(|error| format!("cannot connect to `{url}`: {error}").into())
}

async fn start() -> Result<(), BoxError> {
    let (file, url) = arguments()?;
    let (file, expected) = match file {
        None => (NOTIFICATIONS.to_owned(), Some(EXPECTED)),
        Some(name) => {
            let text = fs::read_to_string(&name).map_err(|error| format!("cannot read `{name}`: {error}"))?;
            (text, None)
        }
    };
    match url.as_deref() {
        #[cfg(feature = "sqlite")]
        None => {
            let folder = tempfile::tempdir()?;
            let options = sqlx::sqlite::SqliteConnectOptions::new()
                .filename(folder.path().join("shop.db"))
                .create_if_missing(true)
                .journal_mode(sqlx::sqlite::SqliteJournalMode::Wal)
                .busy_timeout(std::time::Duration::from_secs(30));
            let db: Pool<sqlx::Sqlite> = PoolOptions::new().max_connections(10).connect_with(options).await?;
            run(&db, &file, expected).await
        }
        #[cfg(feature = "sqlite")]
        Some(url) if url.starts_with("sqlite:") => {
            run(&connect::<sqlx::Sqlite>(url).await?, &file, expected).await
        }
        #[cfg(feature = "postgres")]
        Some(url) if url.starts_with("postgres") => {
            run(&connect::<sqlx::Postgres>(url).await?, &file, expected).await
        }
        #[cfg(feature = "mysql")]
        Some(url) if url.starts_with("mysql:") || url.starts_with("mariadb:") => {
            run(&connect::<sqlx::MySql>(url).await?, &file, expected).await
        }
        url => Err(format!(
            "no database for `{}`: `sqlite:…` works as it is, `postgres://…` and `mysql://…` with \
             `--features postgres` and `--features mysql`",
            url.unwrap_or("(none)")
        )
        .into()),
    }
}

#[tokio::main]
async fn main() {
    match start().await {
        Ok(()) => println!("check: ok"),
        Err(error) => {
            eprintln!("error: {error}");
            std::process::exit(1);
        }
    }
}
