//! Claims in Redis: a hash each, which lives longer than the claim, so that one that was taken over is told apart, and
//! another payload refused.

use super::{
    ClaimStore, Reply, Store, TABLE,
    held::{Found, Held},
};
use crate::{
    error::{Error, ErrorKind},
    redis::Redis,
};
use redis::Script;
use std::{sync::LazyLock, time::Duration};

static CLAIM: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local time = redis.call('TIME')
        local now = time[1] * 1000 + math.floor(time[2] / 1000)
        local found = redis.call('HMGET', KEYS[1], 'fingerprint', 'owner', 'expires', 'status', 'answer')
        if found[1] then
            if found[1] ~= ARGV[1] then return {'other'} end
            if found[4] then return {'answered', found[4], found[5]} end
            if found[2] == ARGV[2] then return {'ours'} end
            local left = tonumber(found[3]) - now
            if left > 0 then return {'busy', string.format('%d', left)} end
        end
        local expires = string.format('%d', now + ARGV[3])
        redis.call('HSET', KEYS[1], 'fingerprint', ARGV[1], 'owner', ARGV[2], 'expires', expires)
        redis.call('PEXPIRE', KEYS[1], ARGV[4])
        return {'ours'}",
    )
});

static FINISH: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local found = redis.call('HMGET', KEYS[1], 'owner', 'status', 'answer')
        if found[1] ~= ARGV[1] then return 0 end
        if found[2] then return (found[2] == ARGV[2] and found[3] == ARGV[3]) and 1 or 0 end
        redis.call('HSET', KEYS[1], 'status', ARGV[2], 'answer', ARGV[3])
        return redis.call('PEXPIRE', KEYS[1], ARGV[4])",
    )
});

static RELEASE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local found = redis.call('HMGET', KEYS[1], 'owner', 'status')
        if found[1] ~= ARGV[1] or found[2] then return 0 end
        return redis.call('DEL', KEYS[1])",
    )
});

impl ClaimStore for Redis {}

impl Store for Redis {
    async fn claim(&self, held: &Held) -> Result<Found, Error> {
        let (ends, known) = (held.ends().to_string(), held.known().to_string());
        let arguments =
            [held.fingerprint.as_slice(), held.owner.as_bytes(), ends.as_bytes(), known.as_bytes()];
        let found: Vec<Vec<u8>> = self.run(&CLAIM, &place(self, held), &arguments, TABLE).await?;
        let words: Vec<&[u8]> = found.iter().map(Vec::as_slice).collect();
        match words[..] {
            [b"ours"] => Ok(Found::Ours),
            [b"other"] => Ok(Found::OtherPayload),
            [b"busy", left] => Ok(Found::InProgress { left: Duration::from_millis(number(left)?) }),
            [b"answered", status, body] => Ok(Found::Answered(Reply::new(number(status)?, body))),
            _ => Err(unreadable()),
        }
    }

    async fn finish(&self, held: &Held, reply: &Reply) -> Result<bool, Error> {
        let (status, kept) = (reply.status().to_string(), held.kept().to_string());
        let arguments = [held.owner.as_bytes(), status.as_bytes(), reply.body(), kept.as_bytes()];
        let finished: i64 = self.run(&FINISH, &place(self, held), &arguments, TABLE).await?;
        Ok(finished == 1)
    }

    async fn release(&self, held: &Held) -> Result<(), Error> {
        let arguments = [held.owner.as_bytes()];
        self.run::<i64>(&RELEASE, &place(self, held), &arguments, TABLE).await.map(drop)
    }
}

/// The business ends at the first colon, so that no business and key give the name of others.
fn place(redis: &Redis, held: &Held) -> String {
    let business = held.business.replace('%', "%25").replace(':', "%3A");
    redis.key(&format!("claim:{business}"), &held.key)
}

fn number<T: std::str::FromStr>(text: &[u8]) -> Result<T, Error> {
    let number = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
    number.ok_or_else(unreadable)
}

fn unreadable() -> Error {
    Error::new(ErrorKind::Unreadable, TABLE).note("the key holds something else")
}
