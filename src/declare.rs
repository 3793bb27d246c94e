/// Declares a lifecycle: a row, its states, and the transitions between them.
///
/// ```
/// use onward::{BoxError, Outcome, sqlx};
///
/// onward::lifecycle! {
///     /// A customer order.
///     pub struct Order in "orders" (status = "state", version: i32 = "lock_version");
///
///     /// What every order has; the first column is the key.
///     pub struct OrderRow {
///         id: i64,
///         order_no: String unique,
///         customer_id: i64 = "cust_no",
///         note: Option<String>,
///     }
///
///     /// Where an order stands.
///     pub enum AnyOrder: OrderStatus {
///         Pending,
///         Paid { trade_no: String },
///         Shipped: Paid { tracking_no: String },
///         Cancelled,
///     }
///
///     transitions {
///         /// Money arrived.
///         pay:    Pending -> Paid by trade_no;
///         ship:   Paid    -> Shipped by tracking_no shared;
///         cancel: Pending -> Cancelled;
///     }
/// }
///
/// // Methods of your own on a state.
/// impl Order<Paid> {
///     fn label(&self) -> String {
///         format!("{} paid with {}", self.order_no, self.trade_no)
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), BoxError> {
/// # let db = sqlx::sqlite::SqlitePoolOptions::new().max_connections(1).connect("sqlite::memory:").await?;
/// # sqlx::raw_sql("CREATE TABLE orders (id INTEGER PRIMARY KEY, order_no TEXT UNIQUE, cust_no INTEGER, note TEXT,
/// # state TEXT, lock_version INTEGER, trade_no TEXT UNIQUE, tracking_no TEXT)").execute(&db).await?;
/// let row = OrderRow { id: 1, order_no: "N-1".into(), customer_id: 7, note: None };
/// let order = Order::create(row).apply(&db).await?.applied()?;
/// let paid = order.pay("T-1".into()).apply(&db).await?.applied()?;
/// assert_eq!(paid.label(), "N-1 paid with T-1");
///
/// // The callback again, in a process that holds no handle.
/// let Some(order) = AnyOrder::find(&db, 1).await? else { return Ok(()) };
/// assert!(matches!(order.pay("T-1".into()).apply(&db).await?, Outcome::Duplicate(_)));
/// # Ok(())
/// # }
/// ```
///
/// # What is written
///
/// - **`pub struct Order in "table" (…);`** The table, with its schema if it has one. In the parentheses, all optional:
///   `status = "column"` (else `status`), `version: i32 = "column"` (else `version: i64`; any integer type, and it must be
///   the column's), `updated_at = "column"` (set to the database's clock, in UTC, by every write).
/// - **`pub struct OrderRow { … }`** The columns that every row has. The first is the key: an integer, a text or a
///   `Uuid`. `= "column"` where the name differs; `unique` where the database has a unique index, so that a clash can be
///   named; `guard` for a column that joins every `WHERE`, as a tenant does.
/// - **`pub enum AnyOrder: OrderStatus { … }`** The states, in the order in which they may be reached; the first is the
///   initial one. In the braces its *facts*: columns that are never null in that state, unless they are `Option`s.
///   `Shipped: Paid` builds on `Paid`: it still knows its facts. Stored is the name in snake case, or `Paid = "PAID"`;
///   `as i16` stores integers, and each state says which (`Paid = 2`); `as enum "type"` a PostgreSQL enum.
/// - **`transitions { name: Source | Source -> Target by fact; }`** `by` names the *cause*: the business fact that asks for the
///   step (the payment's trade number, not the delivery's event id), by which a repeat is told from a second one.
///   Without `by`, every later attempt counts as a repeat. It must come back from its column unchanged (a text, an
///   integer, a `Uuid`), and is unique over the lifecycle: put a unique index under it. `shared` allows several rows to move by the same
///   cause; `by (channel, trade_no)` is composite.
///
/// - **`journal in "table";`** Optional. Every write that takes effect leaves an entry in this table, in the same
///   transaction: who, why, when, by which attempt. With it repeats are told from conflicts after any later step, lost
///   replies are settled, and `AnyOrder::history` reads it all back; [`journal_table`](crate::Description::journal_table)
///   is its DDL. A table that had no journal before keeps working: it begins where it was switched on.
///
/// # What it yields
///
/// Plain structs and methods, as a person could have written them:
///
/// - `Order<S>`, the handle: read through `Deref` (`order.trade_no`, `order.order_no`), with `version()` and
///   `status()`. Only the table, or a transition that took effect, gives one.
/// - `OrderRow` and a struct for each state (`Paid { trade_no, row }`), plain data for domain code and its tests.
/// - `AnyOrder`, an exhaustive enum of handles; `OrderStatus`, `OrderTransition`, `OrderFacts`.
/// - A method for each transition, on each state that it may leave and on `AnyOrder`, that takes the new facts and
///   makes an [`Attempt`](crate::Attempt).
/// - `Order::create`, `Order::load`, `Order::list`, `amend`; `AnyOrder::find`, `AnyOrder::lock`, `facts`, `allows`,
///   `COLUMNS`, and `sqlx::FromRow` for SELECTs of your own.
/// - `AnyOrder::DESCRIPTION`, the declaration as [data](crate::Description).
///
/// One lifecycle per module, since its states are types there. An `Option` is seen by its name, not through an alias.
///
/// Types of columns must be `Clone`, `Debug`, `PartialEq` and `Serialize`, and sqlx must know them on the database
/// ([`Supports`](crate::Supports)).
///
/// # Compile errors
///
/// A mistake in the declaration is an error on the very word, and says what to do: a transition that points
/// backward, a state that nothing reaches, an unknown name (with the nearest one), a cause that would be overwritten
/// later. A step that is not possible in a state is rustc's own "no method named …, the method was found for
/// `Order<Pending>`".
#[macro_export]
macro_rules! lifecycle {
    ($($declaration:tt)*) => { $crate::__private::lifecycle! { [$crate] $($declaration)* } };
}
