//! What people put in front of a cluster: each new connection goes to the next node that can be reached.

use std::{
    net::Ipv4Addr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

pub struct Balancer {
    port: u16,
    accepting: JoinHandle<()>,
}

impl Balancer {
    /// In front of the servers that these URLs name.
    pub async fn before(urls: &[String]) -> Balancer {
        let nodes: Arc<[String]> = urls.iter().map(|url| url[place(url)].to_owned()).collect();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let next = AtomicUsize::new(0);
        let accepting = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let first = next.fetch_add(1, Relaxed);
                tokio::spawn(carry(client, Arc::clone(&nodes), first));
            }
        });
        Balancer { port, accepting }
    }

    /// The URL through the balancer.
    pub fn url(&self, url: &str) -> String {
        let place = place(url);
        format!("{}127.0.0.1:{}{}", &url[..place.start], self.port, &url[place.end..])
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn carry(mut client: TcpStream, nodes: Arc<[String]>, first: usize) {
    client.set_nodelay(true).unwrap();
    for n in 0..nodes.len() {
        let Ok(mut node) = TcpStream::connect(&nodes[(first + n) % nodes.len()]).await else { continue };
        node.set_nodelay(true).unwrap();
        let _ = copy_bidirectional(&mut client, &mut node).await;
        return;
    }
}

/// Where host and port are in a URL.
fn place(url: &str) -> std::ops::Range<usize> {
    let host = url.rfind('@').map_or_else(|| url.find("://").unwrap() + 3, |at| at + 1);
    host..url[host..].find('/').map_or(url.len(), |end| host + end)
}
