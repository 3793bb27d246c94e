//! Between a publisher and its broker: it can withhold what the broker answers, and cut the connection.

use std::net::Ipv4Addr;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, copy},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::{AbortHandle, JoinSet},
};

pub struct Proxy {
    pub port: u16,
    deaf: watch::Sender<bool>,
    cut: watch::Sender<()>,
    accepting: AbortHandle,
}

impl Proxy {
    pub async fn before(server: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let (deaf, cut) = (watch::Sender::new(false), watch::Sender::new(()));
        let (port, heard, kept) = (listener.local_addr().unwrap().port(), deaf.clone(), cut.clone());
        let accepting = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (client, _) = listener.accept().await.unwrap();
                let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, server)).await else { continue };
                let (deaf, mut cut) = (heard.subscribe(), kept.subscribe());
                connections.spawn(async move {
                    tokio::select! {
                        () = pass(client, server, deaf) => {}
                        _ = cut.changed() => {}
                    }
                });
            }
        });
        Self { port, deaf, cut, accepting: accepting.abort_handle() }
    }

    /// From now on no answer of the broker gets through.
    pub fn withhold(&self) {
        self.deaf.send_replace(true);
    }

    /// Cuts all connections; those that come later are good.
    pub fn cut(&self) {
        self.cut.send_replace(());
        self.deaf.send_replace(false);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn pass(mut client: TcpStream, mut server: TcpStream, deaf: watch::Receiver<bool>) {
    let (mut from_client, mut to_client) = client.split();
    let (mut from_server, mut to_server) = server.split();
    let answers = async {
        let mut buffer = [0; 4_096];
        while let Ok(count @ 1..) = from_server.read(&mut buffer).await {
            if !*deaf.borrow() && to_client.write_all(&buffer[..count]).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = answers => {}
        _ = copy(&mut from_client, &mut to_server) => {}
    }
}
