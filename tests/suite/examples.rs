//! The examples, run as a reader would run them.

use std::process::Command;

/// What an example prints; the last line is its own verdict.
fn run(example: &str, features: &str, arguments: &[&str]) -> (bool, String) {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["run", "--quiet", "--example", example, "--features", features, "--"]).args(arguments);
    let output = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    let text =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    (output.status.success(), text)
}

/// The features of this run, so that nothing is built twice.
const FEATURES: &str = if cfg!(all(feature = "postgres", feature = "mysql", feature = "redis")) {
    "sqlite,postgres,mysql,uuid,chrono,time,rust_decimal,json,redis,testkit"
} else {
    "sqlite"
};

#[test]
fn those_that_check_themselves() {
    for example in ["adopted", "approval", "axum_callback", "idempotent_orders", "inventory", "refunds"] {
        let (ok, text) = run(example, FEATURES, &[]);
        assert!(ok && text.ends_with("check: ok\n"), "{example}: {text}");
    }
}

#[test]
fn payment_callback_on_a_file_of_its_own() {
    let (ok, text) = run("payment_callback", FEATURES, &[]);
    assert!(ok && text.ends_with("check: ok\n"), "{text}");
    assert!(text.contains("29 orders paid, 36 notifications kept"), "{text}");
}

#[test]
fn payment_callback_with_bad_arguments() {
    let notifications = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/payment_callback/notifications.txt");
    for (arguments, expected) in [
        (&["no-such-file"][..], "cannot read `no-such-file`"),
        (&["sqlite:/no/such/folder/x.db"], "cannot connect to `sqlite:/no/such/folder/x.db`"),
        (&["oracle://here"], "no database for `oracle://here`"),
        (&["one", "two"], "`one` is one too many"),
    ] {
        let (ok, text) = run("payment_callback", FEATURES, arguments);
        assert!(!ok && text.contains(expected), "{arguments:?}: {text}");
    }
    let (ok, text) = run("payment_callback", FEATURES, &[notifications]);
    assert!(ok && text.ends_with("check: ok\n"), "{text}");
}

#[cfg(all(feature = "postgres", feature = "mysql", feature = "redis"))]
mod servers {
    use super::{FEATURES, run};
    use crate::db::Db;

    #[tokio::test]
    async fn payment_callback_on_postgres() {
        callback(&sqlx::Postgres::fresh(1).await.url);
    }

    #[tokio::test]
    async fn payment_callback_on_mariadb() {
        callback(&sqlx::MySql::fresh(1).await.url);
    }

    fn callback(url: &str) {
        let (ok, text) = run("payment_callback", FEATURES, &[url]);
        assert!(ok && text.ends_with("check: ok\n"), "{text}");
        // A database that has the tables already is turned away.
        let (ok, text) = run("payment_callback", FEATURES, &[url]);
        assert!(!ok && text.contains("give the URL of an empty database"), "{text}");
    }
}
