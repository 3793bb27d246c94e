//! Claims in Redis: one text each.
//!
//! The key lives longer than the claim, by as long as answers are kept, so that one that was taken over is told apart, and
//! another payload refused. What is left of the claim follows from what is left of the key.

use super::{
    ClaimStore, Reply, Store, TABLE,
    held::{Found, Held},
};
use crate::{
    error::{Error, ErrorKind},
    redis::Redis,
};
use redis::{Script, cmd};
use std::{sync::LazyLock, time::Duration};

/// For those who find the key taken: at 33 stands what it is, at 66 how long it lives beyond the claim, or the answer.
static CLAIM: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local found = redis.call('GET', KEYS[1])
        if found then
            if string.sub(found, 1, 32) ~= string.sub(ARGV[1], 1, 32) then return {'other'} end
            if string.sub(found, 33, 33) == 'a' then
                return {'answered', string.sub(found, 66, 70), string.sub(found, 71)}
            end
            if found == ARGV[1] then return {'ours'} end
            local left = redis.call('PTTL', KEYS[1]) - tonumber(string.sub(found, 66))
            if left > 0 then return {'busy', string.format('%d', left)} end
        end
        redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
        return {'ours'}",
    )
});

static FINISH: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local found = redis.call('GET', KEYS[1])
        if found == ARGV[1] then
            redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
            return 1
        end
        return found == ARGV[2] and 1 or 0",
    )
});

static RELEASE: LazyLock<Script> = LazyLock::new(|| {
    Script::new("return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('DEL', KEYS[1]) or 0")
});

impl ClaimStore for Redis {}

impl Store for Redis {
    async fn claim(&self, held: &Held) -> Result<Found, Error> {
        let (place, busy, lives) = (place(self, held), busy(held), held.ends() + held.kept());
        let mut set = cmd("SET");
        set.arg(&place).arg(&busy).arg("NX").arg("PX").arg(lives);
        if self.send::<Option<String>>(&set, TABLE).await?.is_some() {
            return Ok(Found::Ours);
        }
        let lives = lives.to_string();
        let arguments = [busy.as_slice(), lives.as_bytes()];
        let found: Vec<Vec<u8>> = self.run(&CLAIM, &place, &arguments, TABLE).await?;
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
        let (busy, kept) = (busy(held), held.kept().to_string());
        let mut answered = start(held, b'a');
        answered.extend_from_slice(format!("{:05}", reply.status()).as_bytes());
        answered.extend_from_slice(reply.body());
        let arguments = [busy.as_slice(), &answered, kept.as_bytes()];
        let finished: i64 = self.run(&FINISH, &place(self, held), &arguments, TABLE).await?;
        Ok(finished == 1)
    }

    async fn release(&self, held: &Held) -> Result<(), Error> {
        let busy = busy(held);
        self.run::<i64>(&RELEASE, &place(self, held), &[busy.as_slice()], TABLE).await.map(drop)
    }
}

/// The business ends at the first colon, so that no business and key give the name of others.
fn place(redis: &Redis, held: &Held) -> String {
    let business = held.business.replace('%', "%25").replace(':', "%3A");
    redis.key(&format!("claim:{business}"), &held.key)
}

/// 32 bytes of fingerprint, one for what it is, 32 of the owner.
fn start(held: &Held, kind: u8) -> Vec<u8> {
    let mut text = held.fingerprint.clone();
    text.push(kind);
    text.extend_from_slice(held.owner.as_bytes());
    text
}

fn busy(held: &Held) -> Vec<u8> {
    let mut text = start(held, b'b');
    text.extend_from_slice(held.kept().to_string().as_bytes());
    text
}

fn number<T: std::str::FromStr>(text: &[u8]) -> Result<T, Error> {
    let number = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
    number.ok_or_else(unreadable)
}

fn unreadable() -> Error {
    Error::new(ErrorKind::Unreadable, TABLE).note("the key holds something else")
}
