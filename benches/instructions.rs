//! What `scripts/instructions` counts under valgrind: a number of attempts by hand, by `apply`, or none of them, on
//! SQLite in memory: `… none|hand|apply|pool-hand|pool-apply|amend-hand|amend-apply COUNT`.
#![allow(missing_docs)]

#[cfg(feature = "sqlite")]
#[allow(dead_code)]
#[path = "transition/orders.rs"]
mod orders;
#[cfg(feature = "sqlite")]
#[allow(dead_code, unused_imports)]
#[path = "transition/rivals.rs"]
mod rivals;

use onward::BoxError;

// One thread, beside SQLite's own, so that the same run counts the same.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    match arguments.as_slice() {
        #[cfg(feature = "sqlite")]
        [mode, count] => run(mode, count.parse()?).await,
        _ => {
            println!("# it is counted, not timed: run `scripts/instructions`");
            Ok(())
        }
    }
}

/// The amendment that the crate sends.
#[cfg(feature = "sqlite")]
const AMEND: &str = "UPDATE `orders` SET `version` = `version` + 1, `amount_cents` = ?, `article` = ? WHERE `id` = ? AND `status` = ? AND `version` = ?";

#[cfg(feature = "sqlite")]
async fn run(mode: &str, count: usize) -> Result<(), BoxError> {
    use rivals::Rivals as _;
    use sqlx::{Sqlite, sqlite::SqlitePoolOptions};

    let options = SqlitePoolOptions::new().max_connections(1).test_before_acquire(false);
    let pool = options.connect("sqlite::memory:").await?;
    Sqlite::script(&pool, orders::tables::<Sqlite>()?).await?;
    orders::prepare(&pool, count).await?;
    let handles = orders::handles(&pool).await?;
    let known =
        |(order, trade_no): (orders::Order<orders::Pending>, String)| orders::Known::new(&order, trade_no);
    match mode {
        "none" => {
            for _ in handles {
                settle().await;
            }
        }
        "hand" => {
            let mut connection = pool.acquire().await?;
            for order in handles.into_iter().map(known) {
                settle().await;
                moved(Sqlite::hand(&mut connection, &order).await?)?;
            }
        }
        "apply" => {
            let mut connection = pool.acquire().await?;
            for (order, trade_no) in handles {
                settle().await;
                order.pay(trade_no).apply(&mut connection).await?.applied()?;
            }
        }
        "pool-hand" => {
            for order in handles.into_iter().map(known) {
                settle().await;
                moved(Sqlite::hand(&mut *pool.acquire().await?, &order).await?)?;
            }
        }
        "pool-apply" => {
            for (order, trade_no) in handles {
                settle().await;
                order.pay(trade_no).apply(&pool).await?.applied()?;
            }
        }
        "amend-hand" => {
            let mut connection = pool.acquire().await?;
            for (order, _) in handles {
                settle().await;
                let update = sqlx::query(AMEND).bind(order.amount_cents + 10).bind(&order.article);
                let update = update.bind(order.id).bind("pending").bind(order.version());
                moved(update.execute(&mut *connection).await?.rows_affected())?;
            }
        }
        "amend-apply" => {
            let mut connection = pool.acquire().await?;
            for (order, _) in handles {
                settle().await;
                order.amend(|row| row.amount_cents += 10).apply(&mut connection).await?.applied()?;
            }
        }
        _ => return Err(format!("`{mode}` is no mode").into()),
    }
    Ok(())
}

/// Lets what the attempt before has left behind come to its end: the reply's channel, the ping of the pool.
#[cfg(feature = "sqlite")]
async fn settle() {
    tokio::time::sleep(std::time::Duration::from_millis(1)).await;
}

#[cfg(feature = "sqlite")]
fn moved(rows: u64) -> Result<(), BoxError> {
    if rows == 1 { Ok(()) } else { Err(format!("{rows} rows were moved instead of one").into()) }
}
