//! A stand-in for a broker that keeps what it has confirmed, whatever becomes of its clients: a file that only grows.

use onward::outbox::Delivery;
use std::{
    fs::{File, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

#[derive(Clone)]
pub struct Broker {
    path: PathBuf,
    file: Arc<Mutex<File>>,
}

/// One delivery of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    pub event_id: String,
    pub topic: String,
    pub key: String,
    pub version: i64,
}

impl Broker {
    pub fn at(path: &Path) -> Self {
        let file = OpenOptions::new().create(true).append(true).open(path).unwrap();
        Self { path: path.into(), file: Arc::new(Mutex::new(file)) }
    }

    /// Takes a delivery, and whatever comes after it comes after it here.
    pub fn take(&self, delivery: &Delivery) -> io::Result<()> {
        let (id, topic, key) = (delivery.id(), delivery.topic(), delivery.key());
        assert_eq!(delivery.payload(), format!("{topic} {key}").as_bytes());
        let line = format!("{id} {topic} {key} {}\n", delivery.row_version().unwrap());
        // One write: whole, or not there.
        self.file.lock().unwrap().write_all(line.as_bytes())
    }

    /// All deliveries in their order.
    pub fn all(&self) -> Vec<Sent> {
        let text = std::fs::read_to_string(&self.path).unwrap();
        let sent = text.split_inclusive('\n').filter(|line| line.ends_with('\n')).map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [event_id, topic, key, version] = words[..] else { panic!("{line}") };
            Sent {
                event_id: event_id.into(),
                topic: topic.into(),
                key: key.into(),
                version: version.parse().unwrap(),
            }
        });
        sent.collect()
    }
}
