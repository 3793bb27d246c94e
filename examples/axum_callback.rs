//! The callbacks of `payment_callback` as an HTTP service, each provider answered as it expects.
//!
//! ```text
//! cargo run --example axum_callback
//! ```
//!
//! Each is stored in the inbox, worked on and settled within the request. It serves on a free port of the loopback,
//! delivers the notifications that ship with `payment_callback` to itself, some at a time, compares every answer with
//! what was expected, and ends.

#![allow(missing_docs)]

// Shared with `payment_callback`, which uses more of them.
#[allow(dead_code)]
#[path = "payment_callback/handler.rs"]
mod handler;
#[allow(dead_code)]
#[path = "payment_callback/provider/mod.rs"]
mod provider;
#[allow(dead_code)]
#[path = "payment_callback/shop.rs"]
mod shop;

use axum::{
    Router,
    extract::State,
    http::{HeaderMap, StatusCode},
    routing::post,
};
use handler::{on_callback, open_shop};
use onward::{BoxError, sqlx};
use provider::Keys;
use sqlx::{
    SqlitePool,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions},
};
use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

#[derive(Clone)]
struct App {
    db: SqlitePool,
    keys: Arc<Keys>,
    received: Arc<AtomicUsize>,
}

impl App {
    /// Handles one callback. What goes wrong on our side is a failure: the provider sends it again, and it is worked on
    /// as soon as its claim has run out, if there was one.
    async fn callback(&self, text: &str) -> &'static str {
        let number = self.received.fetch_add(1, Ordering::Relaxed);
        match on_callback(&self.db, &self.keys, number, text).await {
            Ok(told) => told.reply,
            Err(error) => {
                eprintln!("callback {number}: {error}");
                "failure"
            }
        }
    }
}

/// Alipay reads the body: `success`, or it comes again.
async fn alipay(State(app): State<App>, body: String) -> &'static str {
    app.callback(&format!("alipay\t{body}")).await
}

/// Stripe reads the status: any 2xx, or it comes again.
async fn stripe(State(app): State<App>, headers: HeaderMap, body: String) -> StatusCode {
    let signature = headers.get("stripe-signature").and_then(|value| value.to_str().ok()).unwrap_or_default();
    match app.callback(&format!("stripe\t{signature}\t{body}")).await {
        "200" => StatusCode::OK,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// Delivers a line again while it is told failure, as its provider would: a repeat is told failure, too, as long as the
/// first delivery is worked on. Where failure is expected once is enough.
async fn deliver(to: SocketAddr, line: &str, expected: bool) -> Result<Option<bool>, BoxError> {
    for _ in 0..1_000 {
        match send(to, line).await? {
            Some(false) if expected => tokio::time::sleep(Duration::from_millis(5)).await,
            answer => return Ok(answer),
        }
    }
    Ok(Some(false))
}

/// Sends one line of the file, and says whether it was told success.
async fn send(to: SocketAddr, line: &str) -> Result<Option<bool>, BoxError> {
    let (path, header, body) = match line.splitn(3, '\t').collect::<Vec<_>>()[..] {
        ["alipay", body] => ("/alipay", String::new(), body),
        ["stripe", signature, body] => ("/stripe", format!("stripe-signature: {signature}\r\n"), body),
        // Not a callback of anybody's; there is no route for it.
        _ => return Ok(None),
    };
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: shop\r\nconnection: close\r\n{header}content-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(to).await?;
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(Some(answer.starts_with("HTTP/1.1 200") && (path == "/stripe" || answer.ends_with("\r\n\r\nsuccess"))))
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let folder = tempfile::tempdir()?;
    let file = SqliteConnectOptions::new()
        .filename(folder.path().join("shop.db"))
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .busy_timeout(Duration::from_secs(30));
    let db = SqlitePoolOptions::new().max_connections(10).connect_with(file).await?;
    open_shop(&db).await?;

    let app = App { db: db.clone(), keys: Arc::new(Keys::of_this_example()?), received: Arc::default() };
    let routes = Router::new().route("/alipay", post(alipay)).route("/stripe", post(stripe)).with_state(app);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let server = tokio::spawn(async move { axum::serve(listener, routes).await });

    let expected =
        include_str!("payment_callback/expected.txt").lines().filter(|line| !line.starts_with('#'));
    let mut expected = expected.map(|line| line.split_whitespace().nth(2) == Some("success"));
    let (mut told, mut wrong) = (0, 0);
    for wave in provider::waves(include_str!("payment_callback/notifications.txt")) {
        for some in wave.chunks(20) {
            let mut deliveries = Vec::new();
            for (number, line) in some {
                let success = expected.next().ok_or("a line without an expectation")?;
                let (number, line) = (*number, (*line).to_owned());
                let delivery = tokio::spawn(async move { deliver(address, &line, success).await });
                deliveries.push((number, success, delivery));
            }
            for (number, success, delivery) in deliveries {
                let Some(answer) = delivery.await?? else { continue };
                told += 1;
                if answer != success {
                    wrong += 1;
                    println!("wrong: line {number} was told {answer}");
                }
            }
        }
    }
    server.abort();
    let count = async |status: &'static str| {
        let count = sqlx::query_scalar::<_, i64>("SELECT COUNT(*) FROM onward_inbox WHERE status = ?");
        count.bind(status).fetch_one(&db).await
    };
    println!("{told} callbacks answered over HTTP on {address}");
    println!("{} notifications kept for a person to look at", count("needs_attention").await?);
    if count("received").await? + count("claimed").await? > 0 {
        return Err("notifications were left lying".into());
    }
    if wrong > 0 {
        return Err(format!("{wrong} answers are wrong").into());
    }
    println!("check: ok");
    Ok(())
}
