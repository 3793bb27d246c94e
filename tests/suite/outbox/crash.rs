//! A process that ends right after its COMMIT: the event is there, and is sent by the next one.

use super::{Published, outbox};
use crate::{
    child::{self, Child},
    db::{Db, Fixture},
    lifecycles::{Order, Pending, noon},
};
use onward::{
    Outcome,
    outbox::{Event, Status},
};
use sqlx::Pool;

on_every_database![killed_right_after_commit, killed_right_before_commit];

async fn run<B: Db>(db: &Fixture<B>, when: &str) {
    let mut child = Child::start::<B>("outbox::crash::child", &db.url, when);
    tokio::task::block_in_place(|| {
        assert_eq!(child.next(), Some(("payer".into(), "near the end".into())));
        assert_eq!(child.next(), None);
        assert!(!child.ended().success());
    });
}

async fn killed_right_after_commit<B: Db>(db: Fixture<B>) {
    db.outbox(1).await;
    run(&db, "after").await;
    assert_eq!(db.state(1).await, "paid:1");
    let published = Published::default();
    assert_eq!(db.relayed(&published.publisher()).await, [Status::Sent]);
    assert_eq!(published.payloads(), ["paid"]);
}

async fn killed_right_before_commit<B: Db>(db: Fixture<B>) {
    db.outbox(1).await;
    run(&db, "before").await;
    assert_eq!(db.state(1).await, "pending:0");
    assert_eq!(db.relayed(&Published::default().publisher()).await, []);
}

#[test]
#[ignore = "the process that the crash tests start"]
fn child() {
    child::run::<Payer>();
}

struct Payer;

impl child::Work for Payer {
    async fn run<B: Db>(pool: Pool<B>, when: String) {
        let order: Order<Pending> = Order::load(&pool, 1).await.unwrap();
        let Outcome::Applied(mut won) = order.pay("T-1".into(), noon()).begin(&pool).await.unwrap() else {
            panic!()
        };
        outbox().write(&mut won, Event::new("order.paid", "order-1", "paid")).await.unwrap();
        child::say("payer", "near the end");
        if when == "after" {
            let _ = won.commit().await.unwrap();
        }
        std::process::abort();
    }
}
