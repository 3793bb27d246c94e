//! Sessions whose clocks are an hour apart, as those of a cluster's nodes can be: what is taken over too early does no harm.

use super::sessions;
use crate::{
    db::{Db as _, Fixture},
    idempotency::{answered, owned, reply, told},
    lease::{acquired, is_taken},
    lifecycles::{Orders as _, noon},
};
use onward::{
    Clash, Error, ErrorKind,
    idempotency::{Claim, Claims, Owned},
    lease::{Lease, Leases},
    token::{Consumed, Tokens},
};
use sqlx::{MySql, MySqlPool};
use std::time::Duration;
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};

/// `UTC_TIMESTAMP` obeys this, `SYSDATE` does not.
const BEHIND: &str = "SET timestamp = UNIX_TIMESTAMP(SYSDATE(6)) - 3600";
const RIGHT: &str = "SET timestamp = UNIX_TIMESTAMP(SYSDATE(6))";
const AHEAD: &str = "SET timestamp = UNIX_TIMESTAMP(SYSDATE(6)) + 3600";

macro_rules! with_these_clocks {
    ($($test:ident),* $(,)?) => {
        mod mariadb { with_these_clocks!(@ <sqlx::MySql as crate::db::Db>::fresh(3); $($test)*); }
        mod galera { with_these_clocks!(@ crate::galera::fixture("", 3); $($test)*); }
    };
    (@ $fresh:expr; $($test:ident)*) => { $(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $test() { super::$test($fresh.await).await; }
    )* };
}
with_these_clocks![
    a_token_is_used_once,
    a_claim_that_is_taken_over_early,
    a_lease_that_is_taken_over_early,
    whoever_asks_two_clocks_is_told,
    numbers_grow_whatever_the_clock,
    claimed_by_many_clocks,
];

/// The crate's tables and some orders, and sessions with each clock, on a cluster each on a node of its own.
async fn clocks(db: &Fixture<MySql>) -> [MySqlPool; 3] {
    onward::migrate(&db.pool).await.unwrap();
    db.orders(4).await;
    let node = |n: usize| db.nodes[n % db.nodes.len()].as_str();
    let behind = sessions::<MySql>(node(0), 3, &[BEHIND]).await;
    let right = sessions::<MySql>(node(1), 3, &[RIGHT]).await;
    let ahead = sessions::<MySql>(node(2), 3, &[AHEAD]).await;
    let mut hours = Vec::new();
    for pool in [&behind, &right, &ahead] {
        let hour = "SELECT TIMESTAMPDIFF(MINUTE, '1970-01-01', UTC_TIMESTAMP()) DIV 60";
        hours.push(MySql::numbers(&mut pool.acquire().await.unwrap(), hour).await.unwrap()[0]);
    }
    assert!(hours[0] < hours[1] && hours[1] < hours[2], "{hours:?}");
    [behind, right, ahead]
}

async fn a_token_is_used_once(db: Fixture<MySql>) {
    let [behind, right, ahead] = clocks(&db).await;
    let at = |pool| Tokens::new(pool, "form");
    let token = at(&right).issue("anna").await.unwrap();
    let early = at(&ahead).consume("anna", token.secret()).await.unwrap();
    assert!(matches!(early, Consumed::Expired), "{early:?}");
    let mut callers = JoinSet::new();
    for pool in [&behind, &right, &ahead].repeat(10) {
        let (tokens, secret) = (at(pool), token.secret().to_owned());
        callers.spawn(async move { tokens.consume("anna", &secret).await.unwrap() });
    }
    let told = callers.join_all().await;
    assert_eq!(told.iter().filter(|told| matches!(told, Consumed::Fresh(_))).count(), 1, "{told:?}");
    for pool in [&behind, &right, &ahead] {
        assert!(matches!(at(pool).consume("anna", token.secret()).await.unwrap(), Consumed::Used(_)));
    }
}

/// The work of a claim: an effect and the answer, both or neither.
async fn work(pool: &MySqlPool, owned: &Owned<MySqlPool>, n: i64) -> Result<(), Error> {
    let mut tx = onward::begin(pool).await?;
    MySql::run(&mut tx, &format!("INSERT INTO effects VALUES ({n}, 'mail')")).await.unwrap();
    if let Err(lost) = owned.finish_in(&mut tx, &reply(n)).await {
        tx.rollback().await;
        return Err(lost);
    }
    tx.commit().await
}

async fn a_claim_that_is_taken_over_early(db: Fixture<MySql>) {
    let [behind, right, ahead] = clocks(&db).await;
    let pairs = [(&behind, &right), (&right, &ahead), (&behind, &ahead)];
    for (n, (early, next)) in (1..).zip(pairs) {
        let (here, there, key) =
            (Claims::new(early, "checkout"), Claims::new(next, "checkout"), format!("k-{n}"));
        let first = owned(&here, &key).await;
        let second = owned(&there, &key).await;
        // What is taken over by a clock that is ahead is not over for the others.
        assert_eq!(told(&here, &key).await, "in progress");
        assert_eq!(work(early, &first, n).await.unwrap_err().kind(), ErrorKind::ClaimLost);
        assert_eq!(first.finish(&reply("the first")).await.unwrap_err().kind(), ErrorKind::ClaimLost);
        first.release().await.unwrap();
        work(next, &second, n).await.unwrap();
        assert_eq!(work(early, &first, n).await.unwrap_err().kind(), ErrorKind::ClaimLost);
        for pool in [&behind, &right, &ahead] {
            assert_eq!(answered(&Claims::new(pool, "checkout"), &key).await, reply(n));
        }
    }
    assert_eq!(db.number("SELECT COUNT(*) FROM effects").await, 3);
}

async fn a_lease_that_is_taken_over_early(db: Fixture<MySql>) {
    let [behind, right, ahead] = clocks(&db).await;
    let lasting = Duration::from_secs(6);
    let at = |pool| Leases::new(pool).lasting(lasting);
    let pays = async |pool: &MySqlPool, id: i64, lease: &Lease| {
        let attempt = db.pending(id).await.pay(format!("T-{id}"), noon()).fenced(lease);
        attempt.apply(pool).await.unwrap().as_str()
    };
    let mut numbers = Vec::new();
    for (id, (early, later)) in (1..).zip([(&right, &ahead), (&behind, &right), (&behind, &ahead)]) {
        let late = acquired(&at(early), "charge").await;
        let next = acquired(&at(later), "charge").await;
        assert!(is_taken(&at(early), "charge").await, "not over for those behind");
        // By its next renewal, after a third of its time.
        timeout(lasting * 2 / 3, late.lost().cancelled()).await.unwrap();
        assert!(!late.is_held() && next.is_held() && !next.lost().is_cancelled());
        assert_eq!(pays(early, id, &late).await, "fenced");
        let mut tx = onward::begin(early).await.unwrap();
        let error = late.hold_in(&mut tx).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict(Clash::Fenced));
        tx.rollback().await;
        numbers.extend([late.fence(), next.fence()]);
        late.release().await.unwrap();
        assert!(is_taken(&at(early), "charge").await, "it gives back its own alone");
        assert_eq!(pays(later, id, &next).await, "applied");
        assert_eq!(db.state(id).await, "paid:1");
        next.release().await.unwrap();
    }
    assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
}

/// What the one shows as over the other does not give away.
async fn whoever_asks_two_clocks_is_told(db: Fixture<MySql>) {
    let [_, right, _] = clocks(&db).await;
    let _claim = owned(&Claims::new(&right, "checkout"), "k").await;
    let lease = acquired(&Leases::new(&right), "settle").await;

    let turns: [&'static [&'static str]; 3] =
        [&[RIGHT, AHEAD, RIGHT], &[AHEAD, RIGHT, RIGHT], &[RIGHT, RIGHT, AHEAD]];
    for turns in turns {
        let pool = sessions::<MySql>(&db.nodes[0], 1, turns).await;
        let claims = Claims::new(&pool, "checkout");
        let claim =
            timeout(Duration::from_secs(10), claims.claim("k", b"payload")).await.expect("told at all");
        let Claim::InProgress { wait } = claim.unwrap() else { panic!("{turns:?}") };
        assert!(wait >= Duration::from_millis(250), "{wait:?}");
    }
    let pool = sessions::<MySql>(&db.nodes[0], 1, &[AHEAD, RIGHT]).await;
    let asked = timeout(Duration::from_secs(20), is_taken(&Leases::new(&pool), "settle")).await;
    assert!(asked.expect("told at all") && lease.is_held());
}

async fn numbers_grow_whatever_the_clock(db: Fixture<MySql>) {
    let [behind, right, ahead] = clocks(&db).await;
    let mut numbers = Vec::new();
    for pool in [&right, &ahead, &behind, &right, &behind, &ahead, &right] {
        let lease = acquired(&Leases::new(pool), "settle").await;
        numbers.push(lease.fence());
        lease.release().await.unwrap();
    }
    assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
}

/// Claims that are taken from each other all the time, since to some they are always over.
async fn claimed_by_many_clocks(db: Fixture<MySql>) {
    const KEYS: i64 = 6;
    let pools = clocks(&db).await;
    let (mut callers, mut firsts) = (JoinSet::new(), Vec::new());
    for n in 1..=KEYS {
        firsts.push(owned(&Claims::new(&pools[0], "checkout"), &format!("k-{n}")).await);
        for caller in 0..6 {
            let pool = pools[caller % 3].clone();
            callers.spawn(async move {
                let (claims, key) = (Claims::new(&pool, "checkout"), format!("k-{n}"));
                loop {
                    match claims.claim(&key, b"payload").await.unwrap() {
                        Claim::Owned(owned) => {
                            // Long enough for others to come.
                            sleep(Duration::from_millis(20)).await;
                            match work(&pool, &owned, n).await {
                                Err(error) => assert!(error.is_known_not_applied(), "{error:?}"),
                                Ok(()) => return,
                            }
                        }
                        Claim::Answered(answer) => {
                            assert_eq!(answer, reply(n));
                            return;
                        }
                        Claim::InProgress { .. } => {}
                        Claim::OtherPayload => panic!(),
                    }
                    sleep(Duration::from_millis(5)).await;
                }
            });
        }
    }
    callers.join_all().await;
    for (n, first) in (1..).zip(firsts) {
        assert_eq!(work(&pools[0], &first, n).await.unwrap_err().kind(), ErrorKind::ClaimLost);
    }
    assert_eq!(db.number("SELECT COUNT(*) FROM effects").await, KEYS);
    assert_eq!(db.number("SELECT COUNT(DISTINCT order_id) FROM effects").await, KEYS);
}
