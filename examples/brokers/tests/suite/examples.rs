//! The examples, run as a reader would run them.

use crate::{broker::Broker, nats::JetStream, rabbitmq::Rabbit, servers::Server};
use std::process::Command;

#[test]
fn rabbitmq() {
    checks_itself::<Rabbit>(env!("CARGO_BIN_EXE_rabbitmq"));
}

#[test]
fn nats() {
    checks_itself::<JetStream>(env!("CARGO_BIN_EXE_nats"));
}

fn checks_itself<K: Broker>(program: &str) {
    let server = Server::launch(K::recipe).unwrap_or_else(|sentence| panic!("{sentence}"));
    let url = server.url("").trim_end_matches('/').to_owned();
    // The second time the broker has what the first has left.
    for _ in 0..2 {
        let output = Command::new(program).arg(&url).output().unwrap();
        let text =
            [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        assert!(output.status.success() && text.ends_with("check: ok\n"), "{text}");
    }
}
