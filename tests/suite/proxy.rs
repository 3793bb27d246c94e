//! A proxy on loopback that knows where the messages of each protocol begin and end, and does harm at one of them.

use crate::db::Db;
use sqlx::{Pool, pool::PoolOptions};
use std::{
    net::Ipv4Addr,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, copy, sink},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinHandle,
    time::{sleep, timeout},
};

/// How long a message is kept back if nobody asks for it: what is held may hold up what would ask.
const PATIENCE: Duration = Duration::from_millis(250);
/// How long a server may take to end a session.
const ENDING: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, Debug)]
pub enum Protocol {
    Postgres,
    MySql,
    #[cfg_attr(not(feature = "redis"), expect(dead_code))]
    Redis,
}

/// Who sends a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Client,
    Server,
}

/// What is done at a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harm {
    /// The connection is cut, and the message is lost.
    CutBefore,
    /// The message arrives, and nothing that comes after it.
    CutAfter,
    /// The client is cut off; the message, and what was sent with it, reaches the server later.
    Late,
    /// Likewise, but the client hears nothing at all; it is for the client to give up.
    Stalled,
}

/// Everything that can become of one message.
pub const HARMS: [(Side, Harm); 4] = [
    (Side::Client, Harm::CutBefore),
    (Side::Client, Harm::CutAfter),
    (Side::Client, Harm::Late),
    (Side::Server, Harm::CutBefore),
];

/// One connection through the proxy, ready.
pub async fn through<B: Db>(proxy: &Proxy, url: &str) -> Pool<B> {
    let pool: Pool<B> = PoolOptions::new().max_connections(1).connect_lazy(&proxy.url(url)).unwrap();
    drop(pool.acquire().await.unwrap());
    while pool.num_idle() == 0 {
        sleep(Duration::from_millis(1)).await;
    }
    pool
}

struct Strike {
    side: Side,
    message: usize,
    harm: Harm,
    /// How many messages are still to come until then.
    left: usize,
    times: usize,
}

struct Shared {
    protocol: Protocol,
    server: u16,
    armed: Mutex<Option<Strike>>,
    struck: watch::Sender<usize>,
    released: watch::Sender<bool>,
    open: watch::Sender<usize>,
}

pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

impl Proxy {
    /// In front of the server that a URL names.
    pub async fn before(url: &str, protocol: Protocol) -> Proxy {
        let (at, end) = port_in(url);
        let shared = Arc::new(Shared {
            protocol,
            server: url[at..end].parse().unwrap(),
            armed: Mutex::new(None),
            struck: watch::Sender::new(0),
            released: watch::Sender::new(false),
            open: watch::Sender::new(0),
        });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let carried = Arc::clone(&shared);
        let accepting = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let shared = Arc::clone(&carried);
                shared.open.send_modify(|open| *open += 1);
                tokio::spawn(async move {
                    carry(client, &shared).await;
                    shared.open.send_modify(|open| *open -= 1);
                });
            }
        });
        Proxy { port, shared, accepting }
    }

    /// The URL through the proxy. TLS, where a build has it, would hide the messages.
    pub fn url(&self, url: &str) -> String {
        let (at, end) = port_in(url);
        let plain = match self.shared.protocol {
            Protocol::Postgres => "sslmode=disable",
            Protocol::MySql => "ssl-mode=disabled",
            Protocol::Redis => return format!("{}{}{}", &url[..at], self.port, &url[end..]),
        };
        let and = if url.contains('?') { '&' } else { '?' };
        format!("{}{}{}{and}{plain}", &url[..at], self.port, &url[end..])
    }

    /// From now on messages are counted, on all connections together, and one of them is struck; then they are counted
    /// anew until the next is struck, so that what tries again fails again.
    pub fn arm(&self, side: Side, message: usize, harm: Harm, times: usize) {
        *self.shared.armed.lock().unwrap() = Some(Strike { side, message, harm, left: message, times });
    }

    /// How many messages were struck; from now on none is.
    pub fn disarm(&self) -> usize {
        *self.shared.armed.lock().unwrap() = None;
        *self.shared.struck.borrow()
    }

    /// Waits until a message is struck.
    pub async fn struck(&self) {
        self.shared.struck.subscribe().wait_for(|struck| *struck > 0).await.unwrap();
    }

    /// Lets a message go that was kept back.
    pub fn release(&self) {
        self.shared.released.send_replace(true);
    }

    /// Waits until the server has ended every session, and so has done whatever it was sent.
    pub async fn settled(&self) {
        self.shared.open.subscribe().wait_for(|open| *open == 0).await.unwrap();
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Where the port is in a URL.
fn port_in(url: &str) -> (usize, usize) {
    let host = url.rfind('@').map_or_else(|| url.find("://").unwrap() + 3, |at| at + 1);
    let at = host + url[host..].find(':').unwrap() + 1;
    (at, at + url[at..].find('/').unwrap())
}

impl Shared {
    fn strike(&self, side: Side) -> Option<Harm> {
        let mut armed = self.armed.lock().unwrap();
        let strike = armed.as_mut().filter(|strike| strike.side == side && strike.times > 0)?;
        strike.left -= 1;
        if strike.left > 0 {
            return None;
        }
        (strike.left, strike.times) = (strike.message, strike.times - 1);
        // Said before anybody can feel it.
        self.struck.send_modify(|struck| *struck += 1);
        Some(strike.harm)
    }
}

async fn carry(mut client: TcpStream, shared: &Shared) {
    let mut server = TcpStream::connect((Ipv4Addr::LOCALHOST, shared.server)).await.unwrap();
    client.set_nodelay(true).unwrap();
    server.set_nodelay(true).unwrap();
    let mut sent = Messages { protocol: shared.protocol, opening: true, bytes: Vec::new() };
    let mut answered = Messages { protocol: shared.protocol, opening: false, bytes: Vec::new() };
    loop {
        // All that was sent at once is read at once, so that it can be kept back together.
        sent.bytes.reserve(1 << 16);
        answered.bytes.reserve(1 << 16);
        let (side, read) = tokio::select! {
            read = client.read_buf(&mut sent.bytes) => (Side::Client, read),
            read = server.read_buf(&mut answered.bytes) => (Side::Server, read),
        };
        if !matches!(read, Ok(1..)) {
            return end(client, server).await;
        }
        let (messages, to) = match side {
            Side::Client => (&mut sent, &mut server),
            Side::Server => (&mut answered, &mut client),
        };
        while let Some(mut message) = messages.next() {
            let harm = shared.strike(side);
            if matches!(harm, None | Some(Harm::CutAfter)) && to.write_all(&message).await.is_err() {
                return end(client, server).await;
            }
            let Some(harm) = harm else { continue };
            if harm != Harm::Stalled {
                let _ = client.shutdown().await;
            }
            if matches!(harm, Harm::Late | Harm::Stalled) {
                message.append(&mut messages.bytes);
                let _ = timeout(PATIENCE, shared.released.subscribe().wait_for(|released| *released)).await;
                let _ = server.write_all(&message).await;
            }
            return end(client, server).await;
        }
    }
}

/// Tells both that the other one has gone, and takes what they still send: unread, it would cut them off from what they
/// have not read yet.
async fn end(mut client: TcpStream, mut server: TcpStream) {
    let _ = server.shutdown().await;
    let left = timeout(ENDING, copy(&mut server, &mut sink())).await;
    assert!(left.is_ok(), "a server did not end a session whose client had gone");
    let _ = client.shutdown().await;
    let _ = timeout(ENDING, copy(&mut client, &mut sink())).await;
}

/// One direction of a connection, cut into messages.
struct Messages {
    protocol: Protocol,
    /// PostgreSQL's first message has no type.
    opening: bool,
    bytes: Vec<u8>,
}

impl Messages {
    fn next(&mut self) -> Option<Vec<u8>> {
        let bytes = &self.bytes;
        let length = match self.protocol {
            Protocol::MySql => {
                let head = bytes.first_chunk::<4>()?;
                4 + u32::from_le_bytes([head[0], head[1], head[2], 0])
            }
            Protocol::Postgres if self.opening => u32::from_be_bytes(*bytes.first_chunk()?),
            Protocol::Postgres => 1 + u32::from_be_bytes(*bytes.get(1..)?.first_chunk()?),
            Protocol::Redis => u32::try_from(redis_value(bytes)?).unwrap(),
        };
        let length = usize::try_from(length).unwrap();
        if bytes.len() < length {
            return None;
        }
        self.opening = false;
        Some(self.bytes.drain(..length).collect())
    }
}

/// How long the first value is: a line, and behind some lines as many bytes or values as they say.
fn redis_value(bytes: &[u8]) -> Option<usize> {
    let line = 2 + bytes.windows(2).position(|end| end == b"\r\n")?;
    let number = || std::str::from_utf8(&bytes[1..line - 2]).unwrap().parse::<i64>().unwrap();
    match bytes[0] {
        // None at all is -1.
        b'$' => Some(line + usize::try_from(number()).map_or(0, |length| length + 2)),
        b'*' => (0..number()).try_fold(line, |at, _| Some(at + redis_value(bytes.get(at..)?)?)),
        b'+' | b'-' | b':' => Some(line),
        other => panic!("{}?", char::from(other)),
    }
}
