//! A write whose reply was lost reaches the server late, when what refused the second one has gone: nobody may have been
//! told that it never can.

use super::lifecycles::{AnyOrder, Order, Orders as _, noon, row};
use crate::{
    db::{Db, Fixture},
    proxy::{Harm, Protocol, Proxy, Side},
};
use onward::{Clash, Error, ErrorKind, Lifecycle as _, Outcome};
use sqlx::{Pool, pool::PoolOptions};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Pay,
    PayWith,
    Amend,
    Create,
}

type Told = Result<Option<Clash>, ErrorKind>;

fn told<T: onward::Handle>(result: Result<Outcome<T>, Error>) -> Told {
    match result {
        Ok(Outcome::Applied(_)) => Ok(None),
        Ok(Outcome::Conflict(conflict)) => Ok(Some(conflict.clash)),
        Ok(other) => panic!("{}", other.as_str()),
        Err(error) => Err(error.kind()),
    }
}

/// One attempt that wants what another row has; returns what was told, and whether it was moved in the end.
async fn late<B: Db>(
    db: &Fixture<B>,
    protocol: Protocol,
    step: Step,
    id: i64,
    n: usize,
) -> (bool, Told, bool) {
    let holder = db.paid(id + 1, &format!("T-{id}")).await;
    let order = db.any(id).await;
    let proxy = Proxy::before(&db.nodes[0], protocol).await;
    let pool: Pool<B> = PoolOptions::new().max_connections(2).connect_lazy(&proxy.url(&db.nodes[0])).unwrap();
    drop(pool.acquire().await.unwrap());
    while pool.num_idle() == 0 {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    proxy.arm(Side::Client, n, Harm::Late, 1);
    let new = id + 1_000_000;
    let other_no = format!("N-{}", id + 1);
    let told = match step {
        Step::Pay => told(order.pay(format!("T-{id}"), noon()).apply(&pool).await),
        Step::PayWith => {
            let work = async move |_: &mut B::Connection, _: &_| Ok::<_, sqlx::Error>(());
            told(order.pay(format!("T-{id}"), noon()).apply_with(&pool, work).await)
        }
        Step::Amend => told(order.amend(|row| row.order_no.clone_from(&other_no)).apply(&pool).await),
        Step::Create => {
            let mut row = row(new);
            row.order_no = other_no;
            told(Order::create(row).apply(&pool).await)
        }
    };
    let struck = proxy.disarm() > 0;
    // What refused the second write goes.
    drop(holder);
    db.run(&format!("DELETE FROM orders WHERE id = {}", id + 1)).await;
    proxy.release();
    pool.close().await;
    proxy.settled().await;
    let mut tx = onward::begin(&db.pool).await.unwrap();
    AnyOrder::lock(&mut tx, id).await.unwrap();
    tx.rollback().await;
    let moved = match step {
        Step::Create => db.number(&format!("SELECT COUNT(*) FROM orders WHERE id = {new}")).await == 1,
        _ => db.any(id).await.version() == 1,
    };
    (struck, told, moved)
}

async fn each_message_in_turn<B: Db>(protocol: Protocol) {
    let db = B::fresh(5).await;
    db.orders(400).await;
    let mut id = 1;
    let (mut untrue, mut came_late) = (Vec::new(), std::collections::BTreeSet::new());
    for step in [Step::Pay, Step::PayWith, Step::Amend, Step::Create] {
        for n in 1..30 {
            let (struck, told, moved) = late(&db, protocol, step, id, n).await;
            match told {
                Ok(None) => panic!("{step:?}, message {n}: applied, although another row has the value"),
                Err(ErrorKind::CommitUnknown) => {}
                _ if moved => untrue.push(format!("{step:?}, message {n}: {told:?}, and yet it was applied")),
                _ => {}
            }
            if moved {
                came_late.insert(step);
            }
            id += 2;
            if !struck {
                break;
            }
        }
    }
    assert!(untrue.is_empty(), "{}: {untrue:#?}", B::ENGINE);
    // In a transaction what comes late is not committed; and a journal keeps a cause when its row is gone.
    let expected: &[Step] = match (AnyOrder::DESCRIPTION.journal, B::ENGINE) {
        (None, _) => &[Step::Pay, Step::Amend, Step::Create],
        (Some(_), "postgres") => &[Step::Amend, Step::Create],
        (Some(_), _) => &[],
    };
    assert_eq!(came_late.into_iter().collect::<Vec<_>>(), expected, "{}", B::ENGINE);
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres() {
    each_message_in_turn::<sqlx::Postgres>(Protocol::Postgres).await;
}

#[cfg(feature = "mysql")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mariadb() {
    each_message_in_turn::<sqlx::MySql>(Protocol::MySql).await;
}
