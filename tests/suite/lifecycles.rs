//! The lifecycles that the tests use, and their tables.

use crate::db::{Db, Fixture};
use chrono::{DateTime, TimeZone as _, Utc};
use onward::Lifecycle;

declare! { ["order_journal"]
    /// A customer order.
    pub struct Order in "orders" (status = "state", version: i32 = "lock_version", updated_at = "modified_at");

    pub struct OrderRow {
        id: i64,
        order_no: String unique,
        customer_id: i64 = "cust_no",
        amount_cents: i64,
        note: Option<String>,
    }

    pub enum AnyOrder: OrderStatus {
        Pending,
        Paid { trade_no: String, paid_at: DateTime<Utc> },
        Shipped: Paid { tracking_no: String },
        Completed: Shipped,
        Refunded: Paid { refund_no: String },
        Cancelled,
    }

    transitions {
        pay:      Pending        -> Paid by trade_no;
        ship:     Paid           -> Shipped by tracking_no shared;
        complete: Shipped        -> Completed;
        refund:   Paid | Shipped -> Refunded by refund_no;
        cancel:   Pending        -> Cancelled;
    }
}

pub const ORDERS: &str = "CREATE TABLE orders (
    id BIGINT PRIMARY KEY,
    order_no VARCHAR(64) NOT NULL UNIQUE,
    cust_no BIGINT NOT NULL,
    amount_cents BIGINT NOT NULL,
    note VARCHAR(64),
    state VARCHAR(32) NOT NULL,
    lock_version INT NOT NULL DEFAULT 0,
    modified_at {timestamp},
    trade_no VARCHAR(64) UNIQUE,
    paid_at {timestamp},
    tracking_no VARCHAR(64),
    refund_no VARCHAR(64) UNIQUE);
  CREATE TABLE stock (article VARCHAR(32) PRIMARY KEY, available BIGINT NOT NULL);
  CREATE TABLE effects (order_id BIGINT NOT NULL, what VARCHAR(32) NOT NULL);
  INSERT INTO stock VALUES ('tea', 5)";

/// A point in time that every database can hold as it is.
pub fn noon() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 3, 1, 12, 0, 0).unwrap()
}

pub fn row(id: i64) -> OrderRow {
    OrderRow { id, order_no: format!("N-{id}"), customer_id: 7, amount_cents: 500, note: None }
}

/// The tables of these lifecycles, and orders to begin with.
#[allow(async_fn_in_trait)]
pub trait Orders<B: Db> {
    /// A table, and its journal if there is one.
    async fn tables<A: Lifecycle>(&self, sql: &str);
    /// The tables, and this many pending orders from 1.
    async fn orders(&self, count: i64);
    async fn pending(&self, id: i64) -> Order<Pending>;
    async fn any(&self, id: i64) -> AnyOrder;
    async fn paid(&self, id: i64, trade_no: &str) -> Order<Paid>;
    async fn shipped(&self, id: i64, trade_no: &str) -> Order<Shipped>;
}

impl<B: Db> Orders<B> for Fixture<B> {
    async fn tables<A: Lifecycle>(&self, sql: &str) {
        self.run(sql).await;
        if A::DESCRIPTION.journal.is_some() {
            self.run(&A::DESCRIPTION.journal_table::<B>().unwrap()).await;
        }
    }

    async fn orders(&self, count: i64) {
        self.tables::<AnyOrder>(ORDERS).await;
        for id in 1..=count {
            let _ = Order::create(row(id)).apply(&self.pool).await.unwrap().applied().unwrap();
        }
    }

    async fn pending(&self, id: i64) -> Order<Pending> {
        Order::load(&self.pool, id).await.unwrap()
    }

    async fn any(&self, id: i64) -> AnyOrder {
        AnyOrder::find(&self.pool, id).await.unwrap().unwrap()
    }

    async fn paid(&self, id: i64, trade_no: &str) -> Order<Paid> {
        let order = self.pending(id).await;
        order.pay(trade_no.into(), noon()).apply(&self.pool).await.unwrap().applied().unwrap()
    }

    async fn shipped(&self, id: i64, trade_no: &str) -> Order<Shipped> {
        let paid = self.paid(id, trade_no).await;
        paid.ship(format!("parcel-{id}")).apply(&self.pool).await.unwrap().applied().unwrap()
    }
}

pub mod approvals {
    use uuid::Uuid;

    declare! { ["request_journal"]
        /// A request for money: integer statuses, a `Uuid` key.
        pub struct Request in "requests";
        pub struct RequestRow { id: Uuid, cents: i64, asked_by: String, limit_cents: i64 }
        pub enum AnyRequest: RequestStatus as i16 {
            Draft = 1,
            Submitted = 2,
            Approved = 3 { reviewer: String, remark: Option<String> },
            Rejected = 9 { reviewer: String },
            Closed = 10,
        }
        transitions {
            submit:  Draft     -> Submitted;
            approve: Submitted -> Approved by reviewer shared;
            reject:  Submitted -> Rejected by reviewer shared;
            close:   Approved | Rejected -> Closed;
        }
    }

    pub const REQUESTS: &str = "CREATE TABLE requests (id {uuid} PRIMARY KEY, cents BIGINT NOT NULL,
        asked_by VARCHAR(64) NOT NULL, limit_cents BIGINT NOT NULL, status SMALLINT NOT NULL,
        version BIGINT NOT NULL DEFAULT 0, reviewer VARCHAR(64), remark VARCHAR(64))";
}

pub mod parcels {
    declare! { ["parcel_journal"]
        /// A text key, a tenant on every statement, a composite cause, a text of its own as status.
        pub struct Parcel in "parcels";
        pub struct ParcelRow { code: String, tenant_id: i64 guard, r#type: Option<String> }
        pub enum AnyParcel: ParcelStatus {
            Packed = "PACKED",
            Handed = "HANDED OVER" { carrier: String, slip: i64 },
            Arrived: Handed,
        }
        transitions {
            hand:   Packed -> Handed by (carrier, slip);
            arrive: Handed -> Arrived;
        }
    }

    pub const PARCELS: &str = "CREATE TABLE parcels (code VARCHAR(32) PRIMARY KEY, tenant_id BIGINT NOT NULL,
        type VARCHAR(32), status VARCHAR(32) NOT NULL, version BIGINT NOT NULL DEFAULT 0, carrier VARCHAR(32),
        slip BIGINT, UNIQUE (carrier, slip))";
}

/// Decimals, which SQLite has no column type for: the lifecycle compiles beside it for the other databases.
#[cfg(feature = "rust_decimal")]
pub mod invoices {
    use rust_decimal::Decimal;

    declare! { ["invoice_journal"]
        pub struct Invoice in "invoices" (version: i16);
        pub struct InvoiceRow { no: String, total: Decimal }
        pub enum AnyInvoice: InvoiceStatus { Open, Settled { receipt: String, paid: Decimal, fee: Option<Decimal> } }
        transitions { settle: Open -> Settled by receipt; }
    }

    #[allow(dead_code)] // the cases with journals do without it
    pub const INVOICES: &str = "CREATE TABLE invoices (no VARCHAR(32) PRIMARY KEY, total DECIMAL(12, 2) NOT NULL,
        status VARCHAR(16) NOT NULL, version SMALLINT NOT NULL, receipt VARCHAR(32) UNIQUE, paid DECIMAL(12, 2),
        fee DECIMAL(12, 2))";
}
