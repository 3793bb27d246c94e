//! Tokens: of all who show one, one goes on.

mod replaced;

use crate::stores::{Ground, Place};
use onward::{
    Error, Outcome,
    token::{Consumed, Token, Tokens},
};
use std::time::Duration;
use tokio::{sync::Barrier, task::JoinSet, time::sleep};

in_every_store![
    used_once,
    a_hundred_callers_at_once,
    bound_to_purpose_and_subject,
    expired,
    in_a_spawned_task,
];

/// Which it was, in short.
fn word(consumed: &Consumed) -> &'static str {
    match consumed {
        Consumed::Fresh(_) => "fresh",
        Consumed::Used(_) => "used",
        Consumed::Expired => "expired",
        Consumed::Unknown => "unknown",
    }
}

async fn shown<S: Place>(tokens: &Tokens<S>, subject: &str, secret: &str) -> &'static str {
    word(&tokens.consume(subject, secret).await.unwrap())
}

async fn used_once<S: Place>(ground: Ground<S>) {
    let tokens = Tokens::new(&ground.store, "form");
    let (one, two) = (tokens.issue("anna").await.unwrap(), tokens.issue("anna").await.unwrap());
    let Consumed::Fresh(first) = tokens.consume("anna", one.secret()).await.unwrap() else { panic!() };
    let Consumed::Used(again) = tokens.consume("anna", one.secret()).await.unwrap() else { panic!() };
    assert_eq!(first.request_id(), again.request_id());
    assert_eq!(first.request_id().len(), 64);
    assert!(!first.request_id().contains(one.secret()));
    let Consumed::Fresh(other) = tokens.consume("anna", two.secret()).await.unwrap() else { panic!() };
    assert_ne!(first.request_id(), other.request_id());
}

async fn a_hundred_callers_at_once<S: Place>(ground: Ground<S>) {
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

async fn bound_to_purpose_and_subject<S: Place>(ground: Ground<S>) {
    let (form, button) = (Tokens::new(&ground.store, "form"), Tokens::new(&ground.store, "button"));
    let token = form.issue("anna").await.unwrap();
    assert_eq!(shown(&form, "otto", token.secret()).await, "unknown");
    assert_eq!(shown(&button, "anna", token.secret()).await, "unknown");
    for secret in ["", "0", "x'; --", "\u{0}", &token.secret().to_uppercase()[..31]] {
        assert_eq!(shown(&form, "anna", secret).await, "unknown", "{secret:?}");
    }
    assert_eq!(shown(&form, "anna", token.secret()).await, "fresh", "none of that has used it");
}

async fn expired<S: Place>(ground: Ground<S>) {
    let brief = Tokens::new(&ground.store, "form").lifetime(Duration::from_millis(600));
    let (late, used) = (brief.issue("anna").await.unwrap(), brief.issue("anna").await.unwrap());
    assert_eq!(shown(&brief, "anna", used.secret()).await, "fresh");
    sleep(Duration::from_millis(700)).await;
    // The lifetime is that of the token, whoever shows it to whom.
    let long = Tokens::new(&ground.store, "form");
    assert_eq!(shown(&long, "anna", late.secret()).await, "expired");
    assert_eq!(shown(&long, "anna", late.secret()).await, "expired");
    assert_eq!(shown(&long, "anna", used.secret()).await, "used");
}

async fn in_a_spawned_task<S: Place>(ground: Ground<S>) {
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
