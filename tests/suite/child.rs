//! A process of its own, to be killed: this test program again, running nothing but one ignored test.

use crate::db::Db;
use sqlx::{Pool, pool::PoolOptions};
use std::{
    env,
    io::{BufRead as _, BufReader, Write as _},
    process::{ChildStdout, Command, ExitStatus, Stdio},
};

/// In the child: `<engine> <url> <what it is told>`.
const TOLD: &str = "ONWARD_CHILD";

pub struct Child {
    process: std::process::Child,
    says: BufReader<ChildStdout>,
}

impl Child {
    /// Starts the ignored test of this name, which calls [`run`].
    pub fn start<B: Db>(test: &str, url: &str, told: &str) -> Self {
        let mut process = Command::new(env::current_exe().unwrap())
            .args(["--exact", test, "--ignored", "--nocapture"])
            .env(TOLD, format!("{} {url} {told}", B::ENGINE))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let says = BufReader::new(process.stdout.take().unwrap());
        Self { process, says }
    }

    /// What it says next with [`say`]: who, and what. `None` when it has ended.
    pub fn next(&mut self) -> Option<(String, String)> {
        let mut line = String::new();
        loop {
            line.clear();
            if self.says.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            // The test's own name stands before the first of them, on the same line.
            let Some((_, said)) = line.split_once("says: ") else { continue };
            // Killed in the middle of a line.
            if let Some((who, what)) = said.trim_end().split_once(' ') {
                return Some((who.into(), what.into()));
            }
        }
    }

    pub fn kill(&mut self) {
        self.process.kill().unwrap();
    }

    pub fn ended(&mut self) -> ExitStatus {
        self.process.wait().unwrap()
    }
}

/// Says something to the process that has started this one.
pub fn say(who: &str, what: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "says: {who} {what}").and_then(|()| out.flush()).unwrap();
}

/// What a child does.
pub trait Work {
    fn run<B: Db>(pool: Pool<B>, told: String) -> impl Future<Output = ()> + Send;
}

/// In the child: does it.
pub fn run<W: Work>() {
    let Ok(told) = env::var(TOLD) else { panic!("only the crash tests start this") };
    let mut words = told.splitn(3, ' ');
    let (engine, url, told) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        match engine {
            #[cfg(feature = "sqlite")]
            "sqlite" => on::<sqlx::Sqlite, W>(&format!("{url}?mode=rw"), told).await,
            #[cfg(feature = "postgres")]
            "postgres" => on::<sqlx::Postgres, W>(url, told).await,
            #[cfg(feature = "mysql")]
            "mariadb" => on::<sqlx::MySql, W>(url, told).await,
            other => panic!("{other}?"),
        }
    });
}

async fn on<B: Db, W: Work>(url: &str, told: &str) {
    let pool = PoolOptions::new().max_connections(6).connect(url).await.unwrap();
    W::run::<B>(pool, told.into()).await;
}
