//! Partial refunds, parcels, and an order on hold.
//!
//! ```text
//! cargo run --example refunds
//! ```
//!
//! What happens many times to one order is a lifecycle of its own, with a row each: a refund is asked for, then sent
//! back or declined. What all of them share, that no more is refunded than was paid, is a column of the order, changed
//! under the order's guard in the same transaction. A hold is no state either: it can come and go in any state, so it is
//! a column, and steps ask for it in their `check`.

#![allow(missing_docs)]

use onward::{BoxError, Outcome, Policy, sqlx};
use sqlx::{SqlitePool, sqlite::SqlitePoolOptions};

mod order {
    onward::lifecycle! {
        pub struct Order in "orders";
        pub struct OrderRow {
            id: i64,
            amount_cents: i64,
            /// What is refunded or about to be.
            refunded_cents: i64,
            on_hold: bool,
        }
        pub enum AnyOrder: OrderStatus {
            Pending,
            Paid { trade_no: String },
        }
        transitions { pay: Pending -> Paid by trade_no; }
    }
}

mod refund {
    onward::lifecycle! {
        pub struct Refund in "refunds";
        pub struct RefundRow { refund_no: String, order_id: i64, cents: i64 }
        pub enum AnyRefund: RefundStatus {
            Asked,
            Sent { provider_no: String },
            Declined { reason: String },
        }
        transitions {
            send:    Asked -> Sent by provider_no;
            decline: Asked -> Declined;
        }
    }
}

mod parcel {
    onward::lifecycle! {
        pub struct Parcel in "parcels";
        pub struct ParcelRow { parcel_no: String, order_id: i64 }
        pub enum AnyParcel: ParcelStatus { Packed, Handed { carrier: String }, Delivered: Handed }
        transitions {
            hand:    Packed -> Handed;
            deliver: Handed -> Delivered;
        }
    }
}

use order::{AnyOrder, Order, OrderRow, Paid};
use parcel::{Parcel, ParcelRow};
use refund::{AnyRefund, Refund, RefundRow};

const TABLES: &str = "
    CREATE TABLE orders (id INTEGER PRIMARY KEY, amount_cents INTEGER NOT NULL, refunded_cents INTEGER NOT NULL,
        on_hold BOOLEAN NOT NULL, status TEXT NOT NULL, version INTEGER NOT NULL, trade_no TEXT UNIQUE,
        CHECK (refunded_cents BETWEEN 0 AND amount_cents));
    CREATE TABLE refunds (refund_no TEXT PRIMARY KEY, order_id INTEGER NOT NULL, cents INTEGER NOT NULL,
        status TEXT NOT NULL, version INTEGER NOT NULL, provider_no TEXT UNIQUE, reason TEXT);
    CREATE TABLE parcels (parcel_no TEXT PRIMARY KEY, order_id INTEGER NOT NULL, status TEXT NOT NULL,
        version INTEGER NOT NULL, carrier TEXT);";

/// Asks for a refund: the order's account and the refund's row in one transaction.
async fn ask(db: &SqlitePool, refund_no: &str, order_id: i64, cents: i64) -> Result<&'static str, BoxError> {
    let order: Order<Paid> = Order::load(db, order_id).await?;
    let row = RefundRow { refund_no: refund_no.into(), order_id, cents };
    let outcome = order
        .amend(move |order| order.refunded_cents += cents)
        .check(move |order| !order.on_hold && order.refunded_cents + cents <= order.amount_cents)
        .policy(Policy::retry(10))
        .apply_with(db, async move |tx, _| {
            let created = Refund::create(row.clone()).apply_in(&mut *tx).await?;
            // A repeat of the same request must not be added twice: the error undoes the amendment.
            created.applied().map(drop)
        })
        .await;
    Ok(match outcome {
        Ok(Outcome::Applied(_)) => "asked",
        Ok(Outcome::Refused(order)) if order.on_hold => "on hold",
        Ok(Outcome::Refused(_)) => "more than was paid",
        Ok(other) => return Err(other.as_str().into()),
        Err(error) => match error.effect::<onward::Error>() {
            Some(inner) if inner.kind() == onward::ErrorKind::Duplicate => "asked before",
            _ => return Err(error.into()),
        },
    })
}

/// Declines a refund, and gives its share back to the order's account.
async fn decline(db: &SqlitePool, refund_no: &str, reason: &str) -> Result<&'static str, BoxError> {
    let Some(refund) = AnyRefund::find(db, refund_no).await? else { return Ok("no such refund") };
    let (order_id, cents) = (refund.order_id, refund.cents);
    let outcome = refund
        .decline(reason.into())
        .apply_with(db, async move |tx, _| {
            let Some(order) = AnyOrder::lock(&mut *tx, order_id).await? else { return Ok::<_, BoxError>(()) };
            let amended = order.amend(move |order| order.refunded_cents -= cents).apply_in(&mut *tx).await?;
            amended.applied().map(drop)?;
            Ok(())
        })
        .await?;
    Ok(outcome.as_str())
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let db = SqlitePoolOptions::new().max_connections(1).connect("sqlite::memory:").await?;
    sqlx::raw_sql(TABLES).execute(&db).await?;
    let row = OrderRow { id: 1, amount_cents: 1000, refunded_cents: 0, on_hold: false };
    let order = Order::create(row).apply(&db).await?.applied()?;
    let paid = order.pay("T-1".into()).apply(&db).await?.applied()?;

    // A hold is put on and taken off in whatever state the order is.
    let held = paid.amend(|order| order.on_hold = true).apply(&db).await?.applied()?;
    assert_eq!(ask(&db, "R-1", 1, 300).await?, "on hold");
    held.amend(|order| order.on_hold = false).apply(&db).await?.applied()?;

    for (refund_no, cents, expected) in [
        ("R-1", 300, "asked"),
        ("R-1", 300, "asked before"),
        ("R-2", 600, "asked"),
        ("R-3", 200, "more than was paid"),
    ] {
        let said = ask(&db, refund_no, 1, cents).await?;
        println!("refund {refund_no} of {cents}: {said}");
        assert_eq!(said, expected);
    }
    assert_eq!(decline(&db, "R-2", "worn").await?, "applied");
    assert_eq!(decline(&db, "R-2", "worn").await?, "duplicate");
    assert_eq!(ask(&db, "R-3", 1, 200).await?, "asked");
    let Some(AnyRefund::Asked(first)) = AnyRefund::find(&db, "R-1").await? else {
        return Err("R-1 was asked for".into());
    };
    let sent: Refund<refund::Sent> = first.send("P-9".into()).apply(&db).await?.applied()?;
    println!("{} was sent as {}", sent.refund_no, sent.provider_no);

    // Two parcels of one order, each on its own way.
    for parcel_no in ["A", "B"] {
        let row = ParcelRow { parcel_no: parcel_no.into(), order_id: 1 };
        let packed = Parcel::create(row).apply(&db).await?.applied()?;
        let handed = packed.hand("bike".into()).apply(&db).await?.applied()?;
        if parcel_no == "A" {
            handed.deliver().apply(&db).await?.applied()?;
        }
    }
    let on_the_way: i64 =
        sqlx::query_scalar("SELECT COUNT(*) FROM parcels WHERE order_id = 1 AND status <> 'delivered'")
            .fetch_one(&db)
            .await?;
    let order: Order<Paid> = Order::load(&db, 1).await?;
    println!(
        "{} of {} cents refunded, {on_the_way} parcel on its way",
        order.refunded_cents, order.amount_cents
    );
    assert_eq!((order.refunded_cents, on_the_way), (500, 1));
    println!("check: ok");
    Ok(())
}
