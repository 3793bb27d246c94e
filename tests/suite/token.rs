//! Tokens: of all who show one, one goes on.

#[cfg(all(feature = "redis", feature = "sqlite"))]
mod away;
#[cfg(unix)]
mod crashes;
mod not_replaced;
#[cfg(all(feature = "redis", feature = "sqlite"))]
mod or_else;
mod purged;
mod removed;
mod replaced;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod unsettled;

use crate::{
    db::{Db, Fixture},
    journalled::{AnyOrder, Orders as _},
    stores::Ground,
};
use onward::{
    BoxError, Error, Outcome, Policy,
    token::{Consumed, Receipt, Token, TokenStore, Tokens},
};
use sqlx::Pool;
use std::time::Duration;
use tokio::{sync::Barrier, task::JoinSet, time::sleep};

in_every_store![
    used_once,
    a_hundred_callers_at_once,
    bound_to_purpose_and_subject,
    expired,
    in_a_spawned_task,
];

/// The same where a second store stands behind the first one.
#[cfg(all(feature = "redis", feature = "sqlite"))]
mod in_redis_or_else {
    in_every_store!(@ |_| crate::stores::in_redis_or_else();
        used_once a_hundred_callers_at_once bound_to_purpose_and_subject expired in_a_spawned_task);
}

/// Which it was, in short.
fn word(consumed: &Consumed) -> &'static str {
    match consumed {
        Consumed::Fresh(_) => "fresh",
        Consumed::Used(_) => "used",
        Consumed::Expired => "expired",
        Consumed::Unknown => "unknown",
    }
}

async fn shown<S: TokenStore>(tokens: &Tokens<S>, subject: &str, secret: &str) -> &'static str {
    word(&tokens.consume(subject, secret).await.unwrap())
}

async fn fresh<S: TokenStore>(tokens: &Tokens<S>, secret: &str) -> Receipt {
    match tokens.consume("anna", secret).await.unwrap() {
        Consumed::Fresh(receipt) => receipt,
        other => panic!("{}", word(&other)),
    }
}

async fn used<S: TokenStore>(tokens: &Tokens<S>, secret: &str) -> Receipt {
    match tokens.consume("anna", secret).await.unwrap() {
        Consumed::Used(receipt) => receipt,
        other => panic!("{}", word(&other)),
    }
}

/// Orders, and the crate's tables.
async fn shop<B: Db>(db: &Fixture<B>, orders: i64) {
    db.orders(orders).await;
    onward::migrate(&db.pool).await.unwrap();
}

/// Work that nothing but its request id keeps from being done twice, with an effect in the same transaction.
async fn add<B: Db>(
    pool: &Pool<B>,
    id: i64,
    receipt: &Receipt,
    fails: bool,
) -> Result<Outcome<AnyOrder>, Error> {
    let Some(order) = AnyOrder::find(pool, id).await? else { return Ok(Outcome::NotFound) };
    let attempt = order.amend(|row| row.amount_cents += 10).request_id(receipt.request_id());
    let work = async move |tx: &mut B::Connection, _: &_| {
        B::run(tx, &format!("INSERT INTO effects VALUES ({id}, 'mail')")).await?;
        if fails { Err::<(), BoxError>("no money".into()) } else { Ok(()) }
    };
    attempt.policy(Policy::retry(50)).apply_with(pool, work).await
}

/// How often an order was added to, which its effects must agree with.
async fn times<B: Db>(db: &Fixture<B>, id: i64) -> i64 {
    let cents = db.number(&format!("SELECT amount_cents FROM orders WHERE id = {id}")).await;
    let effects = db.number(&format!("SELECT COUNT(*) FROM effects WHERE order_id = {id}")).await;
    assert_eq!(cents, 500 + 10 * effects, "order {id}");
    effects
}

async fn used_once<S: TokenStore>(ground: Ground<S>) {
    let tokens = Tokens::new(&ground.store, "form");
    let (one, two) = (tokens.issue("anna").await.unwrap(), tokens.issue("anna").await.unwrap());
    let (first, again) = (fresh(&tokens, one.secret()).await, used(&tokens, one.secret()).await);
    assert_eq!(first.request_id(), again.request_id());
    assert_eq!(first.request_id().len(), 64);
    assert!(!first.request_id().contains(one.secret()));
    let other = fresh(&tokens, two.secret()).await;
    assert_ne!(first.request_id(), other.request_id());
}

async fn a_hundred_callers_at_once<S: TokenStore>(ground: Ground<S>) {
    const CALLERS: usize = 100;
    const ROUNDS: usize = 200;
    let tokens = Tokens::new(&ground.store, "form");
    for round in 0..ROUNDS {
        let secret = tokens.issue("anna").await.unwrap().secret().to_owned();
        let start = std::sync::Arc::new(Barrier::new(CALLERS));
        let mut callers = JoinSet::new();
        for _ in 0..CALLERS {
            let (tokens, secret, start) = (tokens.clone(), secret.clone(), start.clone());
            callers.spawn(async move {
                start.wait().await;
                shown(&tokens, "anna", &secret).await
            });
        }
        let told = callers.join_all().await;
        let count = |word| told.iter().filter(|told| **told == word).count();
        assert_eq!((count("fresh"), count("used")), (1, CALLERS - 1), "round {round}");
    }
}

async fn bound_to_purpose_and_subject<S: TokenStore>(ground: Ground<S>) {
    let (form, button) = (Tokens::new(&ground.store, "form"), Tokens::new(&ground.store, "button"));
    let token = form.issue("anna").await.unwrap();
    assert_eq!(shown(&form, "otto", token.secret()).await, "unknown");
    assert_eq!(shown(&button, "anna", token.secret()).await, "unknown");
    for secret in ["", "0", "x'; --", "\u{0}", &token.secret().to_uppercase()[..31]] {
        assert_eq!(shown(&form, "anna", secret).await, "unknown", "{secret:?}");
    }
    assert_eq!(shown(&form, "anna", token.secret()).await, "fresh", "none of that has used it");
    let long = Tokens::new(&ground.store, "p".repeat(65));
    assert_eq!(long.issue("anna").await.unwrap_err().kind(), onward::ErrorKind::TooLong);
}

async fn expired<S: TokenStore>(ground: Ground<S>) {
    let brief = Tokens::new(&ground.store, "form").lifetime(Duration::from_millis(600));
    let (late, used) = (brief.issue("anna").await.unwrap(), brief.issue("anna").await.unwrap());
    assert_eq!(shown(&brief, "anna", used.secret()).await, "fresh");
    sleep(Duration::from_millis(700)).await;
    // The lifetime is that of the token, whoever shows it to whom.
    let long = Tokens::new(&ground.store, "form");
    let told = if ground.forgets { "unknown" } else { "expired" };
    assert_eq!(shown(&long, "anna", late.secret()).await, told);
    assert_eq!(shown(&long, "anna", late.secret()).await, told);
    assert_eq!(shown(&long, "anna", used.secret()).await, "used");
}

async fn in_a_spawned_task<S: TokenStore>(ground: Ground<S>) {
    let tokens = Tokens::new(&ground.store, "form");
    let told = tokio::spawn(async move {
        let subject = String::from("anna");
        let token: Token = tokens.issue(&subject).await?;
        let Consumed::Fresh(receipt) = tokens.consume(&subject, token.secret()).await? else { panic!() };
        let lost: Result<Outcome<crate::lifecycles::AnyOrder>, Error> = Ok(Outcome::NotFound);
        let Some(another) = tokens.replace_after(&receipt, &lost).await? else { panic!() };
        Ok::<_, Error>(shown(&tokens, &subject, another.secret()).await)
    });
    assert_eq!(told.await.unwrap().unwrap(), "fresh");
}
