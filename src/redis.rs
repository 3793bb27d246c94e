//! A Redis server as the place for tokens, claims and leases (feature `redis`).
//!
//! What is kept there is a door in front of the database, never its last word: a server that is restarted may have forgotten
//! everything, and a replica that takes over may lack the newest. Every key has an expiry, by the server's own clock.

use crate::error::{Error, ErrorKind};
use redis::{
    Cmd, ErrorKind as Kind, RedisError, Script, ScriptInvocation, aio::ConnectionManager,
    aio::ConnectionManagerConfig,
};
use std::time::{Duration, Instant};

pub use redis;

/// A Redis server, or a cluster of one slot a key. A clone shares its connection.
#[derive(Clone)]
pub struct Redis {
    connection: ConnectionManager,
    prefix: String,
}

impl std::fmt::Debug for Redis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redis").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

impl Redis {
    /// Connects, and connects again by itself whenever the connection is lost.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Database`] if the URL is none, or nobody answers there within 2 seconds.
    pub async fn connect(url: &str) -> Result<Self, Error> {
        let client =
            redis::Client::open(url).map_err(|error| Error::new(ErrorKind::Database, "").source(error))?;
        let settings = ConnectionManagerConfig::new()
            .set_connection_timeout(Some(PATIENCE))
            .set_response_timeout(Some(PATIENCE))
            .set_number_of_retries(1);
        let connection = ConnectionManager::new_with_config(client, settings).await;
        Ok(Self::new(connection.map_err(|error| Error::new(ErrorKind::Database, "").source(error))?))
    }

    /// On a connection of your own, with its own patience. Give it a response timeout, or a server that sleeps holds
    /// callers up for as long.
    pub fn new(connection: ConnectionManager) -> Self {
        Self { connection, prefix: "onward".into() }
    }

    /// What all keys begin with; `onward` by default. Keys are `<prefix>:<business>:<id>`.
    pub fn prefix(self, prefix: impl Into<String>) -> Self {
        Self { prefix: prefix.into(), ..self }
    }

    pub(crate) fn key(&self, business: &str, id: &str) -> String {
        [&self.prefix, business, id].join(":")
    }

    /// Runs a script on one key.
    pub(crate) async fn run<T: redis::FromRedisValue>(
        &self,
        script: &Script,
        key: &str,
        arguments: &[impl redis::ToRedisArgs + Copy + Sync],
        table: &'static str,
    ) -> Result<T, Error> {
        let mut call: ScriptInvocation<'_> = script.key(key);
        for argument in arguments {
            call.arg(*argument);
        }
        let call = &call;
        self.ask(table, |mut connection| async move { call.invoke_async(&mut connection).await }).await
    }

    /// Sends a command.
    pub(crate) async fn send<T: redis::FromRedisValue>(
        &self,
        command: &Cmd,
        table: &'static str,
    ) -> Result<T, Error> {
        self.ask(table, |mut connection| async move { command.query_async(&mut connection).await }).await
    }

    /// Asks once more after a lost reply, which is only right where the second time finds what the first one did.
    async fn ask<T, F: Future<Output = Result<T, RedisError>>>(
        &self,
        table: &'static str,
        question: impl Fn(ConnectionManager) -> F,
    ) -> Result<T, Error> {
        let (mut restarts, mut unanswered) = (None, None);
        // Of a server that sleeps two answers are waited for, not nine.
        let until = Instant::now() + 2 * PATIENCE;
        loop {
            let error = match question(self.connection.clone()).await {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            if !is_unanswered(&error) {
                // It says nothing about what was sent before.
                return Err(match unanswered {
                    Some(first) => Error::new(ErrorKind::CommitUnknown, table).source(first),
                    None => Error::new(ErrorKind::Database, table).source(error),
                });
            }
            match restarts
                .get_or_insert_with(crate::policy::restarts)
                .next()
                .filter(|_| Instant::now() < until)
            {
                Some(delay) => tokio::time::sleep(delay).await,
                None => return Err(Error::new(ErrorKind::CommitUnknown, table).source(error)),
            }
            unanswered = Some(error);
        }
    }
}

/// Whether the server may have done what it was sent.
fn is_unanswered(error: &RedisError) -> bool {
    matches!(error.kind(), Kind::Io | Kind::Parse | Kind::Client) && !error.is_connection_refusal()
}
