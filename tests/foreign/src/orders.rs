//! Everything that a declaration can say.

use crate::Result;
use chrono::{DateTime, Utc};
use rust_decimal::Decimal;
use steps::{sqlx, Outcome, Policy};

steps::lifecycle! {
    /// A customer order.
    pub struct Order in "orders" (status = "state", version: i32 = "lock_version", updated_at = "modified_at");

    /// What every order has.
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub struct OrderRow {
        /// Given by the caller.
        id: i64,
        order_no: String unique,
        tenant_id: i64 guard = "tenant",
        region: String guard,
        pub note: Option<String>,
    }

    /// Where an order stands.
    pub enum AnyOrder: OrderStatus as enum "order_status" {
        Pending,
        /// Money is here.
        #[derive(PartialOrd, PartialEq, serde::Deserialize)]
        Paid = "PAID" {
            /// What the provider calls it.
            #[serde(rename = "no")]
            trade_no: String unique,
            channel: String,
            fee: Decimal,
            paid_at: DateTime<Utc>,
        },
        Shipped: Paid { tracking_no: String = "parcel", tracking_on: i64, tracking_np: i64 },
        Completed: Shipped,
        Refunded: Paid { refund_no: String, reason: Option<String> },
        Cancelled { reason: Option<String> },
    }

    transitions {
        /// Money arrived.
        pay:      Pending        -> Paid by (channel, trade_no);
        ship:     Paid           -> Shipped by tracking_no shared;
        complete: Shipped        -> Completed;
        refund:   Paid | Shipped -> Refunded by refund_no;
        cancel:   Pending        -> Cancelled;
    }
}

// Only `Paid`'s own order is of interest here.
impl PartialOrd for OrderRow {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        self.id.partial_cmp(&other.id)
    }
}

impl Order<Paid> {
    /// Users add methods to their own states.
    #[must_use]
    pub fn net(&self, gross: Decimal) -> Decimal {
        gross - self.fee
    }
}

/// On any database that has the types.
///
/// # Errors
///
/// Those of the database.
pub async fn pay<B>(db: &sqlx::Pool<B>, now: DateTime<Utc>) -> Result<Option<Order<Paid>>>
where
    B: steps::Backend + steps::Supports<Decimal>,
{
    let Some(order) = AnyOrder::find(db, 1, 2, "eu").await? else { return Ok(None) };
    let paid = order.pay(String::from("t1"), String::from("card"), Decimal::ONE, now);
    match paid.policy(Policy::retry(3)).apply(db).await? {
        Outcome::Applied(paid) => Ok(Some(paid)),
        _ => Ok(None),
    }
}

/// On a certain one.
///
/// # Errors
///
/// Those of the database.
pub async fn read(db: &sqlx::PgPool) -> Result<Vec<String>> {
    let order: Order<Pending> = Order::load(db, 1, 2, "eu").await?;
    let mut seen = vec![order.order_no.clone()];
    let page = Order::<Shipped>::list(db, 2, "eu", None, 10).await?;
    seen.extend(page.rows.into_iter().flatten().map(|order| order.tracking_no.clone()));
    let any = AnyOrder::from(order);
    if let (true, Some(trade_no)) = (any.allows(OrderTransition::Pay), any.facts().trade_no) {
        seen.push(trade_no.clone());
    }
    let text = format!("SELECT {} FROM orders o", AnyOrder::columns::<sqlx::Postgres>("o"));
    let rows: Vec<AnyOrder> = sqlx::query_as(sqlx::AssertSqlSafe(text)).fetch_all(db).await.unwrap_or_default();
    seen.extend(rows.iter().map(|order| order.status().to_string()));
    Ok(seen)
}
