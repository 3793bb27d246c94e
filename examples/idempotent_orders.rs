//! Orders over HTTP that can be sent again: an API with `Idempotency-Key`, and a form with a token.
//!
//! ```text
//! cargo run --example idempotent_orders
//! ```
//!
//! `POST /orders` follows the IETF draft "The Idempotency-Key HTTP Header Field": 400 without a key, 409 while the first
//! request with it is worked on, 422 for another payload, and the stored answer for whoever comes later.
//!
//! `GET /cancel/1` is a form with a one-time token, which is used up before the work: of two clicks one cancels, and both
//! are told so.
//!
//! It serves on a free port of the loopback, sends itself what impatient customers send, compares, and ends.

#![allow(missing_docs)]

use axum::{
    Router,
    extract::{Path, State},
    http::{HeaderMap, HeaderName, StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::{get, post},
};
use onward::{
    Answer, BoxError, Clash, Lifecycle as _, Outcome,
    idempotency::{Claim, Claims, Owned, Reply},
    sqlx,
    token::{Consumed, Tokens},
};
use sqlx::{
    AssertSqlSafe, Sqlite, SqliteConnection, SqlitePool,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions},
};
use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

onward::lifecycle! {
    /// An order.
    pub struct Order in "orders";
    /// What every order has.
    pub struct OrderRow { id: i64, article: String }
    /// Where an order stands.
    pub enum AnyOrder: OrderStatus { Placed, Cancelled }
    transitions {
        cancel: Placed -> Cancelled;
    }
    // Its unique request ids have the last word, whatever becomes of claims and tokens.
    journal in "order_journal";
}

const TABLES: &str =
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, article TEXT NOT NULL, status TEXT NOT NULL,
        version INTEGER NOT NULL);
    CREATE TABLE stock (article TEXT PRIMARY KEY, available INTEGER NOT NULL);
    INSERT INTO stock VALUES ('tea', 5)";

#[derive(Clone)]
struct Shop {
    db: SqlitePool,
    next: Arc<AtomicI64>,
}

/// `POST /orders`: the body is the article.
async fn place(State(shop): State<Shop>, headers: HeaderMap, article: String) -> Response {
    // A key per customer: here there is one.
    let Some(key) = idempotency_key(&headers) else {
        return problem(
            StatusCode::BAD_REQUEST,
            "Idempotency-Key is missing, too long, or no string in quotes",
        );
    };
    let claims = Claims::new(&shop.db, "POST /orders");
    match claims.claim(&key, article.as_bytes()).await {
        Ok(Claim::Owned(owned)) => match shop.place(&owned, article).await {
            Ok(reply) => again(reply),
            Err(error) => failed(&error),
        },
        Ok(Claim::Answered(reply)) => again(reply),
        Ok(Claim::InProgress { wait }) => {
            let wait = wait.as_secs() + 1;
            let retry = [(header::RETRY_AFTER, wait.to_string())];
            (retry, problem(StatusCode::CONFLICT, "a request with this key is being worked on"))
                .into_response()
        }
        Ok(Claim::OtherPayload) => {
            problem(StatusCode::UNPROCESSABLE_ENTITY, "this key came with another payload")
        }
        // The claims cannot be reached: nothing was done, and nothing is.
        Err(error) => failed(&error.into()),
    }
}

impl Shop {
    async fn place(&self, owned: &Owned<SqlitePool>, article: String) -> Result<Reply, BoxError> {
        // Somebody is asked whether the customer can pay, which takes a while.
        tokio::time::sleep(Duration::from_millis(300)).await;
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let placed = Reply::new(201, format!("order {id}"));
        let (claim, reply) = (owned.clone(), placed.clone());
        let attempt = Order::create(OrderRow { id, article: article.clone() }).request_id(owned.request_id());
        let work = attempt.apply_with(&self.db, async move |tx: &mut SqliteConnection, order| {
            let update =
                sqlx::query("UPDATE stock SET available = available - 1 WHERE article = ? AND available > 0");
            if update.bind(&order.article).execute(&mut *tx).await?.rows_affected() == 0 {
                return Err(SoldOut.into());
            }
            claim.finish_in(tx, &reply).await?; // with the order, or not at all
            Ok::<_, BoxError>(())
        });
        let reply = match work.await {
            Ok(Outcome::Applied(_)) => return Ok(placed),
            // The claim was forgotten, and the payload with it, but not what was done under it.
            Ok(Outcome::Conflict(conflict)) if conflict.clash == Clash::UniqueTaken(Some("request_id")) => {
                let first = conflict.holder.ok_or("the first order is gone")?;
                if conflict.found.row().article != article {
                    owned.release().await?;
                    return Ok(Reply::new(422, "this key came with another payload"));
                }
                Reply::new(201, format!("order {first}"))
            }
            Ok(outcome) => return Err(format!("order {id}: {}", outcome.as_str()).into()),
            // An answer like any other: the same request gets it again.
            Err(error) if error.effect::<SoldOut>().is_some() => Reply::new(404, "sold out"),
            Err(error) => {
                owned.release_after(&error).await?; // unless it may have been applied
                return Err(error.into());
            }
        };
        owned.finish(&reply).await?;
        Ok(reply)
    }

    fn tokens(&self) -> Tokens<SqlitePool> {
        Tokens::new(&self.db, "cancel")
    }
}

#[derive(Debug, thiserror::Error)]
#[error("sold out")]
struct SoldOut;

/// A text in quotes, as structured fields have it (RFC 8941).
fn idempotency_key(headers: &HeaderMap) -> Option<String> {
    let mut values = headers.get_all("idempotency-key").iter();
    let (value, None) = (values.next()?.to_str().ok()?.trim(), values.next()) else { return None };
    let quoted = value.strip_prefix('"')?.strip_suffix('"')?;
    let mut characters = quoted.chars();
    let mut key = String::new();
    while let Some(character) = characters.next() {
        key.push(match character {
            '\\' => characters.next().filter(|escaped| matches!(escaped, '"' | '\\'))?,
            '"' => return None,
            ' '..='~' => character,
            _ => return None,
        });
    }
    // Nothing longer can be claimed.
    Some(key).filter(|key| (1..=512).contains(&key.len()))
}

fn again(reply: Reply) -> Response {
    let status = StatusCode::from_u16(reply.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, reply.into_body()).into_response()
}

fn problem(status: StatusCode, title: &str) -> Response {
    let kind: [(HeaderName, &str); 1] = [(header::CONTENT_TYPE, "application/problem+json")];
    (status, kind, format!(r#"{{"title":"{title}"}}"#)).into_response()
}

fn failed(error: &BoxError) -> Response {
    eprintln!("{error}");
    problem(StatusCode::SERVICE_UNAVAILABLE, "try again later")
}

/// `GET /cancel/1`: the form.
async fn form(State(shop): State<Shop>, Path(id): Path<i64>) -> Response {
    match shop.tokens().issue(&subject(id)).await {
        Ok(token) => format!(
            r#"<form method="post"><input type="hidden" name="token" value="{}"><button>Cancel</button></form>"#,
            token.secret()
        )
        .into_response(),
        Err(error) => failed(&error.into()),
    }
}

/// `POST /cancel/1`: the form, sent.
async fn cancel(State(shop): State<Shop>, Path(id): Path<i64>, body: String) -> Response {
    let token = form_urlencoded::parse(body.as_bytes()).find(|(name, _)| name == "token");
    let secret = token.map_or(String::new(), |(_, value)| value.into_owned());
    let receipt = match shop.tokens().consume(&subject(id), &secret).await {
        // A second click goes the same way: what it wants is done, or it is done now.
        Ok(Consumed::Fresh(receipt) | Consumed::Used(receipt)) => receipt,
        Ok(Consumed::Expired | Consumed::Unknown) => {
            return (StatusCode::GONE, "this form is too old, open it again").into_response();
        }
        Err(error) => return failed(&error.into()),
    };
    let cancelled = async {
        let Some(order) = AnyOrder::find(&shop.db, id).await? else { return Ok(None) };
        let outcome = order.cancel().request_id(receipt.request_id()).apply(&shop.db).await?;
        Ok::<_, BoxError>(Some(outcome.answer()))
    };
    match cancelled.await {
        Ok(Some(Answer::Settled)) => "cancelled".into_response(),
        Ok(Some(_)) => (StatusCode::CONFLICT, "it cannot be cancelled").into_response(),
        Ok(None) => (StatusCode::NOT_FOUND, "no such order").into_response(),
        Err(error) => failed(&error),
    }
}

/// For whom, and for what, a token holds.
fn subject(id: i64) -> String {
    format!("the only customer, order {id}")
}

/// What an HTTP request was answered: the status, the headers, the body.
struct Told {
    status: u16,
    headers: String,
    body: String,
}

async fn send(to: SocketAddr, request: &str, headers: &str, body: &str) -> Result<Told, BoxError> {
    let length = body.len();
    let request = format!(
        "{request} HTTP/1.1\r\nhost: shop\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n{body}"
    );
    let mut stream = TcpStream::connect(to).await?;
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let (headers, body) = answer.split_once("\r\n\r\n").ok_or("no answer")?;
    let status = headers.split(' ').nth(1).ok_or("no status")?.parse()?;
    Ok(Told { status, headers: headers.to_lowercase(), body: body.into() })
}

async fn order(to: SocketAddr, key: &str, article: &str) -> Result<Told, BoxError> {
    send(to, "POST /orders", &format!("idempotency-key: {key}\r\n"), article).await
}

/// Sends it ten times at once.
async fn tenfold(
    to: SocketAddr,
    request: &'static str,
    headers: &'static str,
    body: &str,
) -> Result<Vec<Told>, BoxError> {
    let mut senders = JoinSet::new();
    for _ in 0..10 {
        let body = body.to_owned();
        senders.spawn(async move { send(to, request, headers, &body).await });
    }
    senders.join_all().await.into_iter().collect()
}

macro_rules! check {
    ($told:expr, $expected:expr) => {
        let (told, expected) = ($told, $expected);
        if told != expected {
            return Err(format!("{} is {told:?} instead of {expected:?}", stringify!($told)).into());
        }
    };
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
    sqlx::raw_sql(TABLES).execute(&db).await?;
    let journal = AnyOrder::DESCRIPTION.journal_table::<Sqlite>()?;
    sqlx::raw_sql(AssertSqlSafe(journal)).execute(&db).await?;
    onward::migrate(&db).await?;

    let shop = Shop { db: db.clone(), next: Arc::new(AtomicI64::new(1)) };
    let routes = Router::new()
        .route("/orders", post(place))
        .route("/cancel/{id}", get(form).post(cancel))
        .with_state(shop);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let to = listener.local_addr()?;
    let server = tokio::spawn(async move { axum::serve(listener, routes).await });

    check!(send(to, "POST /orders", "", "tea").await?.status, 400);
    let too_long = format!("\"{}\"", "k".repeat(513));
    for key in ["no-quotes", "\"\"", "\"a\" \"b\"", &too_long] {
        check!(order(to, key, "tea").await?.status, 400);
    }
    let told = tenfold(to, "POST /orders", "idempotency-key: \"key-1\"\r\n", "tea").await?;
    let count = |status| told.iter().filter(|told| told.status == status).count();
    check!((count(201), count(409)), (1, 9));
    let patient = told.iter().filter(|told| told.headers.contains("\r\nretry-after: ")).count();
    check!(patient, 9);
    println!("one of ten requests at once placed the order, nine were told to wait");

    let again = order(to, "\"key-1\"", "tea").await?;
    check!((again.status, again.body.as_str()), (201, "order 1"));
    check!(order(to, "\"key-1\"", "lamp").await?.status, 422);
    for _ in 0..2 {
        let told = order(to, "\"key-2\"", "lamp").await?;
        check!((told.status, told.body.as_str()), (404, "sold out"));
    }
    println!("the same key was answered the same again, and refused for another payload");

    // The claims are lost, and the customer asks once more.
    sqlx::raw_sql("DELETE FROM onward_claim").execute(&db).await?;
    check!(order(to, "\"key-1\"", "lamp").await?.status, 422);
    let again = order(to, "\"key-1\"", "tea").await?;
    check!((again.status, again.body.as_str()), (201, "order 1"));
    let left: Vec<i64> = sqlx::query_scalar(
        "SELECT COUNT(*) FROM orders UNION ALL SELECT available FROM stock WHERE article = 'tea'",
    )
    .fetch_all(&db)
    .await?;
    check!(left, [1, 4]);
    println!("without the claims it was still placed once");

    let page = send(to, "GET /cancel/1", "", "").await?.body;
    let token = page.split("value=\"").nth(1).and_then(|rest| rest.split('"').next()).ok_or("no token")?;
    let form = format!("token={token}");
    check!(send(to, "POST /cancel/2", "", &form).await?.status, 410);
    check!(send(to, "POST /cancel/1", "", "token=guessed").await?.status, 410);
    for told in tenfold(to, "POST /cancel/1", "", &form).await? {
        check!((told.status, told.body.as_str()), (200, "cancelled"));
    }
    let history = AnyOrder::history(&db, 1).await?.entries;
    check!(history.iter().map(|entry| entry.step.to_string()).collect::<Vec<_>>(), ["create", "cancel"]);
    println!("ten clicks on one form cancelled it once");
    server.abort();
    println!("check: ok");
    Ok(())
}
