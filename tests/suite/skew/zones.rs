//! Sessions whose time zones are a day apart: nothing is over too early, or kept too long.

use super::sessions;
use crate::{
    db::{Db, Fixture},
    idempotency::{answered, owned, reply, told},
    lease::{acquired, is_taken},
};
use onward::{
    ErrorKind,
    idempotency::Claims,
    lease::Leases,
    token::{Consumed, Tokens},
};
use sqlx::Pool;
use std::time::{Duration, Instant};
use tokio::{runtime::Runtime, time::sleep};

/// East of everybody, and west.
trait Zones: Db {
    const ZONES: [&'static [&'static str]; 2];
    /// The hour of the day by a session's own zone.
    const HOUR: &'static str;
}

#[cfg(feature = "postgres")]
impl Zones for sqlx::Postgres {
    const ZONES: [&'static [&'static str]; 2] =
        [&["SET TimeZone = '<+13>-13'"], &["SET TimeZone = '<-12>+12'"]];
    const HOUR: &'static str = "SELECT CAST(EXTRACT(EPOCH FROM LOCALTIMESTAMP) / 3600 AS BIGINT)";
}

#[cfg(feature = "mysql")]
impl Zones for sqlx::MySql {
    const ZONES: [&'static [&'static str]; 2] =
        [&["SET time_zone = '+13:00'"], &["SET time_zone = '-12:00'"]];
    const HOUR: &'static str = "SELECT TIMESTAMPDIFF(HOUR, '1970-01-01', NOW())";
}

macro_rules! on_every_database_with_zones {
    ($($test:ident),* $(,)?) => {
        #[cfg(feature = "postgres")]
        mod postgres { on_every_database_with_zones!(@ <sqlx::Postgres as crate::db::Db>::fresh(3); $($test)*); }
        #[cfg(feature = "mysql")]
        mod mariadb { on_every_database_with_zones!(@ <sqlx::MySql as crate::db::Db>::fresh(3); $($test)*); }
        #[cfg(feature = "mysql")]
        mod galera { on_every_database_with_zones!(@ crate::galera::fixture("", 3); $($test)*); }
    };
    (@ $fresh:expr; $($test:ident)*) => { $(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $test() { super::$test($fresh.await).await; }
    )* };
}
on_every_database_with_zones![tokens, claims, leases];

/// Both, and then the other way round.
async fn both<B: Zones>(db: &Fixture<B>) -> [(Pool<B>, Pool<B>); 2] {
    onward::migrate(&db.pool).await.unwrap();
    let [east, west] = B::ZONES;
    let (east, west) = (sessions::<B>(&db.url, 3, east).await, sessions::<B>(&db.url, 3, west).await);
    let mut hours = Vec::new();
    for pool in [&east, &west] {
        hours.push(B::numbers(&mut *pool.acquire().await.unwrap(), B::HOUR).await.unwrap()[0]);
    }
    assert!(hours[0] - hours[1] > 23, "{hours:?}");
    [(east.clone(), west.clone()), (west, east)]
}

async fn tokens<B: Zones>(db: Fixture<B>) {
    for (here, there) in both(&db).await {
        let (issued, shown) = (Tokens::new(&here, "form"), Tokens::new(&there, "form"));
        let brief = issued.clone().lifetime(Duration::from_millis(800));
        let (token, late) = (issued.issue("anna").await.unwrap(), brief.issue("anna").await.unwrap());
        assert!(matches!(shown.consume("anna", token.secret()).await.unwrap(), Consumed::Fresh(_)));
        assert!(matches!(issued.consume("anna", token.secret()).await.unwrap(), Consumed::Used(_)));
        assert_eq!(shown.purge(Duration::ZERO).await.unwrap(), 0);
        sleep(Duration::from_millis(900)).await;
        assert!(matches!(shown.consume("anna", late.secret()).await.unwrap(), Consumed::Expired));
        assert_eq!(shown.purge(Duration::ZERO).await.unwrap(), 1, "that one alone");
    }
}

async fn claims<B: Zones>(db: Fixture<B>) {
    let held = Duration::from_secs(2);
    for (round, (here, there)) in both(&db).await.into_iter().enumerate() {
        let claims = |pool| Claims::new(pool, "checkout").expires(held).keeps(Duration::from_secs(60));
        let (here, there, key) = (claims(&here), claims(&there), format!("k-{round}"));
        let late = owned(&here, &key).await;
        assert_eq!(told(&there, &key).await, "in progress");
        assert_eq!(there.purge().await.unwrap(), 0);
        sleep(held + Duration::from_millis(100)).await;
        let second = owned(&there, &key).await;
        assert_eq!(told(&here, &key).await, "in progress");
        assert_eq!(late.finish(&reply("the late one")).await.unwrap_err().kind(), ErrorKind::ClaimLost);
        second.finish(&reply("the second")).await.unwrap();
        assert_eq!(there.purge().await.unwrap(), 0);
        assert_eq!(answered(&here, &key).await, reply("the second"));
    }
}

async fn leases<B: Zones>(db: Fixture<B>) {
    let lasting = Duration::from_secs(2);
    let mut last = 0;
    for ((here, there), zone) in both(&db).await.into_iter().zip(B::ZONES) {
        let (here, there) = (Leases::new(&here).lasting(lasting), Leases::new(&there).lasting(lasting));
        let lease = acquired(&here, "settle").await;
        let since = Instant::now();
        while since.elapsed() < lasting + Duration::from_millis(500) {
            assert!(is_taken(&there, "settle").await && lease.is_held());
            sleep(Duration::from_millis(50)).await;
        }
        assert!(lease.fence() > last);
        lease.release().await.unwrap();

        // One that dies while he holds it.
        let url = db.url.clone();
        let number = std::thread::spawn(move || {
            let runtime = Runtime::new().unwrap();
            let lease = runtime.block_on(async {
                let pool = sessions::<B>(&url, 1, zone).await;
                acquired(&Leases::new(&pool).lasting(lasting), "settle").await
            });
            runtime.shutdown_background();
            lease.fence()
        });
        let (since, number) = (Instant::now(), number.join().unwrap());
        let next = there.wait_for("settle", Duration::from_secs(20)).await.unwrap().unwrap();
        let took = since.elapsed();
        assert!(took > lasting && took < lasting + Duration::from_secs(5), "{took:?}");
        assert!(next.fence() > number);
        last = next.fence();
        next.release().await.unwrap();
    }
}
