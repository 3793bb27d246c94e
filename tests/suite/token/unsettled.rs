//! A reply is lost at each message of a token in turn: in a database whoever consumed it is told so, and nobody else is;
//! nobody ever is where Redis has lost it.

use super::{fresh, replaced::another, shown, used};
use crate::{
    db::{Db, Fixture},
    proxy::{HARMS, Harm, Protocol, Proxy, Side, through},
};
use onward::{
    ErrorKind, Outcome,
    token::{TokenStore, Tokens},
};

/// What whoever shows a token through the proxy is told if this was lost on the way. Redis has done it then, and does not
/// know for whom.
fn expected(protocol: Protocol, lost: Option<(Side, Harm)>) -> &'static str {
    match (protocol, lost) {
        (Protocol::Redis, Some((Side::Client, Harm::CutAfter) | (Side::Server, _))) => "used",
        _ => "fresh",
    }
}

/// It is used for everybody else. `open` gives a store behind the proxy that is ready.
async fn consumed_at_each_message<S: TokenStore, D: TokenStore>(
    (url, protocol): (&str, Protocol),
    direct: &Tokens<D>,
    open: impl AsyncFn(&Proxy) -> S,
) {
    let mut struck = 0;
    for (side, harm) in HARMS {
        for n in 1..50 {
            let case = format!("{protocol:?} {harm:?} at message {n} of the {side:?}");
            let token = direct.issue("anna").await.unwrap();
            let proxy = Proxy::before(url, protocol).await;
            let tokens = Tokens::new(&open(&proxy).await, "form");
            proxy.arm(side, n, harm, 1);
            let told = shown(&tokens, "anna", token.secret()).await;
            let strikes = proxy.disarm();
            assert_eq!(told, expected(protocol, (strikes > 0).then_some((side, harm))), "{case}");
            let receipt = used(direct, token.secret()).await;
            // What was kept back arrives now.
            proxy.release();
            assert_eq!(used(&tokens, token.secret()).await.request_id(), receipt.request_id(), "{case}");
            drop(tokens);
            proxy.settled().await;
            assert_eq!(used(direct, token.secret()).await.request_id(), receipt.request_id(), "{case}");
            struck += strikes;
            if strikes == 0 {
                break;
            }
        }
    }
    assert!(struck >= HARMS.len(), "{struck}");
}

/// What was issued is a token, used once, whatever of its making arrives afterwards.
async fn issued_at_each_message<S: TokenStore, D: TokenStore>(
    (url, protocol): (&str, Protocol),
    direct: &Tokens<D>,
    open: impl AsyncFn(&Proxy) -> S,
) -> (usize, usize) {
    let (mut told, mut failed) = (0, 0);
    for (side, harm) in HARMS {
        for n in 1..50 {
            let case = format!("{protocol:?} {harm:?} at message {n} of the {side:?}");
            let proxy = Proxy::before(url, protocol).await;
            let tokens = Tokens::new(&open(&proxy).await, "form");
            proxy.arm(side, n, harm, 1);
            let issued = tokens.issue("anna").await;
            let strikes = proxy.disarm();
            match &issued {
                Ok(token) => {
                    let receipt = fresh(direct, token.secret()).await;
                    proxy.release();
                    drop(tokens);
                    proxy.settled().await;
                    assert_eq!(
                        used(direct, token.secret()).await.request_id(),
                        receipt.request_id(),
                        "{case}"
                    );
                    told += strikes;
                }
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::CommitUnknown, "{case}: {error:?}");
                    failed += strikes;
                }
            }
            if strikes == 0 {
                break;
            }
        }
    }
    (told, failed)
}

/// Whether the work was committed nobody knows: there is no other token for it.
async fn not_replaced<B: Db>(db: &Fixture<B>, protocol: Protocol) {
    let tokens = Tokens::new(&db.pool, "form");
    let token = tokens.issue("anna").await.unwrap();
    let receipt = fresh(&tokens, token.secret()).await;
    let proxy = Proxy::before(&db.url, protocol).await;
    let pool = through::<B>(&proxy, &db.url).await;
    let mut tx = onward::begin(&pool).await.unwrap();
    B::run(&mut tx, "DELETE FROM onward_claim").await.unwrap();
    // Its savepoint is released, and then comes the COMMIT.
    proxy.arm(Side::Client, 2, Harm::CutAfter, 1);
    let lost = tx.commit().await.map(|()| Outcome::<crate::journalled::AnyOrder>::NotFound);
    assert!(!another(&tokens, &receipt, "commit_unknown", lost).await);
}

async fn in_a_database<B: Db>(db: Fixture<B>, protocol: Protocol) {
    onward::migrate(&db.pool).await.unwrap();
    let direct = Tokens::new(&db.pool, "form");
    let open = async |proxy: &Proxy| through::<B>(proxy, &db.url).await;
    consumed_at_each_message((&db.url, protocol), &direct, open).await;
    let (_, failed) = issued_at_each_message((&db.url, protocol), &direct, open).await;
    assert!(failed > 0, "an INSERT is not sent again");
    not_replaced(&db, protocol).await;
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres() {
    in_a_database(sqlx::Postgres::fresh(3).await, Protocol::Postgres).await;
}

#[cfg(feature = "mysql")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mariadb() {
    in_a_database(sqlx::MySql::fresh(3).await, Protocol::MySql).await;
}

#[cfg(feature = "redis")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn redis() {
    use onward::redis::Redis;
    let (url, prefix) = (crate::servers::redis().admin_url(), crate::db::fresh_name());
    let direct = Tokens::new(&Redis::connect(url).await.unwrap().prefix(&prefix), "form");
    let open = async |proxy: &Proxy| {
        let store = Redis::connect(&proxy.url(url)).await.unwrap().prefix(&prefix);
        // Its connection has said all that it says by itself.
        let _ = shown(&Tokens::new(&store, "form"), "anna", "none").await;
        store
    };
    consumed_at_each_message((url, Protocol::Redis), &direct, open).await;
    let (told, failed) = issued_at_each_message((url, Protocol::Redis), &direct, open).await;
    assert_eq!((told > 0, failed), (true, 0), "it is asked again");
}
