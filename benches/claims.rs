//! What claims and tokens cost beside the bare commands of their store, sent by hand: 16 callers, each with a key of its
//! own each time.
//!
//! `cargo bench --bench claims --features postgres,redis | scripts/bench-table`; with `-- --short` it ends within a minute,
//! a name (`-- redis`) runs that store alone. A claim is claimed and answered, a token issued and consumed. By hand that is
//! in PostgreSQL an INSERT and a guarded UPDATE in the same tables; in Redis, with keys and values of the same length, `SET … NX PX` and a script that answers only what
//! is still ours, and `SET … PX` and `GETDEL`. `claim/unchecked` has `SET … XX PX` instead of the script, which lets a late
//! owner overwrite what another has taken over. Each row is the median of the ratios of rounds, in which the rivals take turns:
//! above 1, the first of the two is the faster one.
#![allow(missing_docs)]

// Only a `mod` inside a folder finds the parts of `servers.rs`.
#[path = "../tests/suite"]
mod suite {
    #[allow(dead_code, unreachable_pub, clippy::panic, clippy::pedantic)]
    pub mod servers;
}

use onward::{
    BoxError,
    idempotency::{Claim, ClaimStore, Claims, Reply},
    redis::{
        Redis,
        redis::{
            Client,
            aio::{ConnectionManager, ConnectionManagerConfig},
        },
    },
    sqlx::postgres::PgPoolOptions,
    token::{Consumed, TokenStore, Tokens},
};
use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};
use tokio::task::JoinSet;

const CALLERS: usize = 16;
const BODY: &str = "order 4711";

/// A store, and what somebody would send to it without this crate.
trait Hand: ClaimStore + TokenStore {
    const STORE: &'static str;
    const RIVALS: &'static [(&'static str, Rival, Rival)];
    type By: Clone + Send + Sync + 'static;
    /// Claims a key and answers it.
    fn claim(by: &Self::By, id: &str) -> impl Future<Output = Result<(), BoxError>> + Send;
    /// Likewise, whoever has it by now.
    fn unchecked(by: &Self::By, id: &str) -> impl Future<Output = Result<(), BoxError>> + Send {
        <Self as Hand>::claim(by, id)
    }
    /// Issues a token and consumes it.
    fn token(by: &Self::By, id: &str) -> impl Future<Output = Result<(), BoxError>> + Send;
}

mod redis {
    use super::{BODY, BoxError, Hand, Rival};
    use onward::redis::{
        Redis,
        redis::{Script, aio::ConnectionManager, cmd},
    };
    use std::sync::LazyLock;

    /// Only if it is still ours, as Redis's own documentation of SET has it for a lock's release.
    static ANSWER: LazyLock<Script> = LazyLock::new(|| {
        Script::new(
            "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
            redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
            return 1",
        )
    });

    impl Hand for Redis {
        const STORE: &'static str = "redis";
        const RIVALS: &'static [(&'static str, Rival, Rival)] = &[
            ("claim/hand", Rival::Claim, Rival::ClaimByHand),
            ("claim/unchecked", Rival::Claim, Rival::ClaimUnchecked),
            ("token/hand", Rival::Token, Rival::TokenByHand),
        ];
        type By = ConnectionManager;

        async fn claim(by: &ConnectionManager, id: &str) -> Result<(), BoxError> {
            let (mut by, key) = (by.clone(), format!("onward:claim:by_hand:{id}"));
            let mut set = cmd("SET");
            set.arg(&key).arg(format!("{id:0>73}")).arg("NX").arg("PX").arg(120_000);
            let (): () = set.query_async(&mut by).await?;
            let answered: i64 = ANSWER
                .key(&key)
                .arg(format!("{id:0>73}"))
                .arg(format!("{BODY:0>80}"))
                .arg(86_400_000)
                .invoke_async(&mut by)
                .await?;
            if answered == 1 { Ok(()) } else { Err("somebody else has it".into()) }
        }

        async fn unchecked(by: &ConnectionManager, id: &str) -> Result<(), BoxError> {
            let (mut by, key) = (by.clone(), format!("onward:claim:nobody:{id}"));
            let mut set = cmd("SET");
            set.arg(&key).arg(format!("{id:0>73}")).arg("NX").arg("PX").arg(120_000);
            let (): () = set.query_async(&mut by).await?;
            let mut set = cmd("SET");
            set.arg(&key).arg(format!("{BODY:0>80}")).arg("XX").arg("PX").arg(86_400_000);
            let (): () = set.query_async(&mut by).await?;
            Ok(())
        }

        async fn token(by: &ConnectionManager, id: &str) -> Result<(), BoxError> {
            let (mut by, key) = (by.clone(), format!("onward:token:hand:{id:0>64}"));
            let mut set = cmd("SET");
            set.arg(&key).arg("").arg("PX").arg(600_000);
            let (): () = set.query_async(&mut by).await?;
            let found: Option<String> = cmd("GETDEL").arg(&key).query_async(&mut by).await?;
            found.map(drop).ok_or_else(|| "used before".into())
        }
    }
}

mod postgres {
    use super::{BODY, BoxError, Hand, Rival};
    use onward::sqlx::{self, PgPool};

    fn one(done: &sqlx::postgres::PgQueryResult) -> Result<(), BoxError> {
        if done.rows_affected() == 1 { Ok(()) } else { Err("somebody else has it".into()) }
    }

    impl Hand for PgPool {
        const STORE: &'static str = "postgres";
        const RIVALS: &'static [(&'static str, Rival, Rival)] = &[
            ("claim/hand", Rival::Claim, Rival::ClaimByHand),
            ("token/hand", Rival::Token, Rival::TokenByHand),
        ];
        type By = PgPool;

        async fn claim(by: &PgPool, id: &str) -> Result<(), BoxError> {
            let insert = sqlx::query(
                "INSERT INTO onward_claim (business, claim_key, fingerprint, owner, expires_at, kept_until) VALUES \
                 ($1, $2, $3, $4, CURRENT_TIMESTAMP + INTERVAL '2 minutes', CURRENT_TIMESTAMP + INTERVAL '1 day') \
                 ON CONFLICT DO NOTHING",
            );
            one(&insert.bind("hand").bind(id).bind(&[0_u8; 32][..]).bind(id).execute(by).await?)?;
            let update = sqlx::query(
                "UPDATE onward_claim SET status = 201, answer = $1, kept_until = CURRENT_TIMESTAMP + INTERVAL '1 day' \
                 WHERE business = $2 AND claim_key = $3 AND owner = $4 AND status IS NULL",
            );
            one(&update.bind(BODY.as_bytes()).bind("hand").bind(id).bind(id).execute(by).await?)
        }

        async fn token(by: &PgPool, id: &str) -> Result<(), BoxError> {
            let insert = sqlx::query(
                "INSERT INTO onward_token (hash, purpose, expires_at) VALUES \
                 ($1, $2, CURRENT_TIMESTAMP + INTERVAL '10 minutes')",
            );
            one(&insert.bind(id).bind("hand").execute(by).await?)?;
            let update = sqlx::query(
                "UPDATE onward_token SET used_at = CURRENT_TIMESTAMP, used_by = $1 \
                 WHERE hash = $2 AND used_at IS NULL AND expires_at > CURRENT_TIMESTAMP",
            );
            one(&update.bind(id).bind(id).execute(by).await?)
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let arguments: Vec<String> = std::env::args().collect();
    let given = |argument: &str| arguments.iter().any(|it| it == argument);
    if !given("--bench") {
        println!("# run it by `cargo bench --bench claims --features postgres,redis [-- [--short] [STORE]]`");
        return Ok(());
    }
    let limit = Duration::from_secs(if given("--short") { 4 } else { 30 });
    let all = !["redis", "postgres"].into_iter().any(given);
    if all || given("redis") {
        let server = suite::servers::Server::redis()?;
        let url = server.url("0");
        // Patient, since a machine that measures may be busy.
        let settings = ConnectionManagerConfig::new().set_response_timeout(Some(Duration::from_mins(1)));
        let by = async || {
            let client = Client::open(url.as_str())?;
            ConnectionManager::new_with_config(client, settings.clone()).await
        };
        run(&Redis::new(by().await?), &by().await?, limit).await?;
    }
    if all || given("postgres") {
        let server = suite::servers::Server::postgres_with(suite::servers::Options { durable: true })?;
        let pool = PgPoolOptions::new()
            .max_connections(u32::try_from(CALLERS)?)
            .test_before_acquire(false)
            .connect(&server.url("postgres"))
            .await?;
        onward::migrate(&pool).await?;
        run(&pool, &pool, limit).await?;
    }
    Ok(())
}

async fn run<H: Hand>(store: &H, by: &H::By, limit: Duration) -> Result<(), BoxError> {
    for &(name, ours, by_hand) in H::RIVALS {
        let rivals = [ours, by_hand, by_hand];
        for rival in rivals {
            turn(store, by, rival, 20 * CALLERS).await?;
        }
        let (since, mut rounds) = (Instant::now(), Vec::new());
        while rounds.len() < 3 || since.elapsed() < limit {
            let mut times = [Duration::ZERO; 3];
            // Short turns, in another order each time, so that what else goes on meets all alike.
            for part in 0..6 {
                for place in 0..3 {
                    let rival = if part % 2 == 0 { (part + place) % 3 } else { (part + 3 - place) % 3 };
                    times[rival] += turn(store, by, rivals[rival], 8 * CALLERS).await?;
                }
            }
            rounds.push(times.map(|time| time.as_secs_f64()));
        }
        let ratios = |rival: usize| rounds.iter().map(|time| time[1] / time[rival]).collect();
        row(H::STORE, name, ratios(0));
        // How far two that are the same differ.
        row(H::STORE, &format!("{name}:hand/hand"), ratios(2));
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Rival {
    Claim,
    ClaimByHand,
    ClaimUnchecked,
    Token,
    TokenByHand,
}

/// So many keys, shared among the callers.
async fn turn<H: Hand>(store: &H, by: &H::By, rival: Rival, keys: usize) -> Result<Duration, BoxError> {
    static NEXT: AtomicI64 = AtomicI64::new(0);
    let left = Arc::new(AtomicI64::new(i64::try_from(keys)?));
    let (claims, tokens) = (Claims::new(store, "checkout"), Tokens::new(store, "form"));
    let reply = Reply::new(201, BODY);
    let mut tasks = JoinSet::new();
    let since = Instant::now();
    for _ in 0..CALLERS {
        let (claims, tokens, reply) = (claims.clone(), tokens.clone(), reply.clone());
        let (by, left) = (by.clone(), Arc::clone(&left));
        tasks.spawn(async move {
            while left.fetch_sub(1, Relaxed) > 0 {
                let id = NEXT.fetch_add(1, Relaxed).to_string();
                match rival {
                    Rival::Claim => {
                        let claim = claims.claim(&id, BODY.as_bytes()).await?;
                        let Claim::Owned(owned) = claim else { return Err("somebody else has it".into()) };
                        owned.finish(&reply).await?;
                    }
                    Rival::Token => {
                        let token = tokens.issue(&id).await?;
                        let Consumed::Fresh(_) = tokens.consume(&id, token.secret()).await? else {
                            return Err("used before".into());
                        };
                    }
                    Rival::ClaimByHand => <H as Hand>::claim(&by, &id).await?,
                    Rival::ClaimUnchecked => H::unchecked(&by, &id).await?,
                    Rival::TokenByHand => H::token(&by, &id).await?,
                }
            }
            Ok::<_, BoxError>(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    Ok(since.elapsed())
}

fn row(store: &str, name: &str, mut ratios: Vec<f64>) {
    ratios.sort_by(f64::total_cmp);
    let at = |quarters: usize| ratios[(ratios.len() - 1) * quarters / 4];
    println!(
        "{store} callers={CALLERS} {name} ratio={:.3} quartiles={:.3}..{:.3} rounds={}",
        at(2),
        at(1),
        at(3),
        ratios.len()
    );
}
