//! A process that ends right after its COMMIT: the event is there, and is sent by the next one.

use super::{Published, outbox};
use crate::{
    db::{Db, Fixture},
    lifecycles::{Order, Pending, noon},
};
use onward::{
    Outcome,
    outbox::{Event, Status},
};
use std::{
    env,
    process::{Command, Stdio},
};

on_every_database![killed_right_after_commit, killed_right_before_commit];

/// In the child: `<engine> <before or after> <url>`.
const CHILD: &str = "ONWARD_OUTBOX_CHILD";

async fn run<B: Db>(db: &Fixture<B>, when: &str) {
    let told = format!("{} {when} {}", B::ENGINE, db.url);
    let child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "outbox::crash::child", "--ignored", "--nocapture"])
        .env(CHILD, told)
        .stdin(Stdio::null())
        .output();
    let child = tokio::task::block_in_place(|| child).unwrap();
    assert!(!child.status.success());
    let out = String::from_utf8_lossy(&child.stdout);
    assert!(out.contains("the end is near"), "{out} {}", String::from_utf8_lossy(&child.stderr));
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
    let Ok(told) = env::var(CHILD) else { panic!("only the crash tests start this") };
    let mut words = told.splitn(3, ' ');
    let (engine, when, url) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        match engine {
            #[cfg(feature = "sqlite")]
            "sqlite" => pay::<sqlx::Sqlite>(when, &format!("{url}?mode=rw")).await,
            #[cfg(feature = "postgres")]
            "postgres" => pay::<sqlx::Postgres>(when, url).await,
            #[cfg(feature = "mysql")]
            "mariadb" => pay::<sqlx::MySql>(when, url).await,
            other => panic!("{other}?"),
        }
    });
}

async fn pay<B: Db>(when: &str, url: &str) {
    let pool = sqlx::Pool::<B>::connect(url).await.unwrap();
    let order: Order<Pending> = Order::load(&pool, 1).await.unwrap();
    let Outcome::Applied(mut won) = order.pay("T-1".into(), noon()).begin(&pool).await.unwrap() else {
        panic!()
    };
    outbox().write(&mut won, Event::new("order.paid", "order-1", "paid")).await.unwrap();
    println!("the end is near");
    if when == "after" {
        let _ = won.commit().await.unwrap();
    }
    std::process::abort();
}
