/// A customer order.
pub struct Order<S>(::onward::__private::Snapshot<S>);
/// What every order has.
#[derive(::core::fmt::Debug, ::core::clone::Clone, ::core::cmp::PartialEq)]
pub struct OrderRow {
    /// The column `id`, the key.
    pub id: i64,
    /// The column `order_no`.
    pub order_no: String,
    /// The column `tenant_id`.
    pub tenant_id: i64,
    /// The column `cust_no`.
    pub customer_id: i64,
    /// The column `amount_cents`.
    pub amount_cents: i64,
    /// The column `note`.
    pub note: ::core::option::Option<String>,
}
/// The state `Pending` of [`Order`].
#[derive(::core::fmt::Debug, ::core::clone::Clone, ::core::cmp::PartialEq)]
pub struct Pending {
    /// The columns that every row has.
    pub row: OrderRow,
}
/// The state `Paid` of [`Order`].
#[derive(::core::fmt::Debug, ::core::clone::Clone, ::core::cmp::PartialEq)]
#[allow(clippy::struct_field_names)]
pub struct Paid {
    /// The fact `trade_no`.
    pub trade_no: String,
    /// The fact `paid_at`.
    pub paid_at: DateTime<Utc>,
    /// The columns that every row has.
    pub row: OrderRow,
}
/// The state `Shipped` of [`Order`].
#[derive(::core::fmt::Debug, ::core::clone::Clone, ::core::cmp::PartialEq)]
pub struct Shipped {
    /// The fact `trade_no`.
    pub trade_no: String,
    /// The fact `paid_at`.
    pub paid_at: DateTime<Utc>,
    /// The fact `tracking_no`.
    pub tracking_no: String,
    /// The columns that every row has.
    pub row: OrderRow,
}
/// The state `Completed` of [`Order`].
#[derive(::core::fmt::Debug, ::core::clone::Clone, ::core::cmp::PartialEq)]
pub struct Completed {
    /// The fact `trade_no`.
    pub trade_no: String,
    /// The fact `paid_at`.
    pub paid_at: DateTime<Utc>,
    /// The fact `tracking_no`.
    pub tracking_no: String,
    /// The columns that every row has.
    pub row: OrderRow,
}
/// The state `Refunded` of [`Order`].
#[derive(::core::fmt::Debug, ::core::clone::Clone, ::core::cmp::PartialEq)]
pub struct Refunded {
    /// The fact `trade_no`.
    pub trade_no: String,
    /// The fact `paid_at`.
    pub paid_at: DateTime<Utc>,
    /// The fact `refund_no`.
    pub refund_no: String,
    /// The columns that every row has.
    pub row: OrderRow,
}
/// The state `Cancelled` of [`Order`].
#[derive(::core::fmt::Debug, ::core::clone::Clone, ::core::cmp::PartialEq)]
pub struct Cancelled {
    /// The columns that every row has.
    pub row: OrderRow,
}
/// Where an order stands.
#[allow(clippy::large_enum_variant)]
pub enum AnyOrder {
    /// In the state `Pending`.
    Pending(Order<Pending>),
    /// In the state `Paid`.
    Paid(Order<Paid>),
    /// In the state `Shipped`.
    Shipped(Order<Shipped>),
    /// In the state `Completed`.
    Completed(Order<Completed>),
    /// In the state `Refunded`.
    Refunded(Order<Refunded>),
    /// In the state `Cancelled`.
    Cancelled(Order<Cancelled>),
}
/// The facts of [`Order`], as far as they are known in its state.
#[derive(
    ::core::fmt::Debug,
    ::core::clone::Clone,
    ::core::marker::Copy,
    ::core::cmp::PartialEq,
)]
#[allow(dead_code)]
pub struct OrderFacts<'a> {
    /// The fact `trade_no`.
    pub trade_no: ::core::option::Option<&'a String>,
    /// The fact `paid_at`.
    pub paid_at: ::core::option::Option<&'a DateTime<Utc>>,
    /// The fact `tracking_no`.
    pub tracking_no: ::core::option::Option<&'a String>,
    /// The fact `refund_no`.
    pub refund_no: ::core::option::Option<&'a String>,
}
#[allow(dead_code)]
impl Order<Pending> {
    /// A new row in the first state, about to be inserted.
    pub fn create<'c>(
        row: OrderRow,
    ) -> ::onward::Attempt<::onward::Creation<'c, Pending>> {
        ::onward::Attempt::creation(row, ())
    }
    /// Money arrived.
    pub fn pay<'c>(
        self,
        trade_no: String,
        paid_at: DateTime<Utc>,
    ) -> ::onward::Attempt<::onward::Transition<'c, Self, Paid>> {
        ::onward::Attempt::transition(self, 0, (trade_no, paid_at))
    }
    /// The transition `cancel`: from `Pending` to `Cancelled`.
    pub fn cancel<'c>(
        self,
    ) -> ::onward::Attempt<::onward::Transition<'c, Self, Cancelled>> {
        ::onward::Attempt::transition(self, 4, ())
    }
}
#[allow(dead_code)]
impl Order<Paid> {
    /// The transition `ship`: from `Paid` to `Shipped`, caused by `tracking_no`.
    pub fn ship<'c>(
        self,
        tracking_no: String,
    ) -> ::onward::Attempt<::onward::Transition<'c, Self, Shipped>> {
        ::onward::Attempt::transition(self, 1, (tracking_no,))
    }
    /// The transition `refund`: from `Paid` or `Shipped` to `Refunded`, caused by `refund_no`.
    pub fn refund<'c>(
        self,
        refund_no: String,
    ) -> ::onward::Attempt<::onward::Transition<'c, Self, Refunded>> {
        ::onward::Attempt::transition(self, 3, (refund_no,))
    }
}
#[allow(dead_code)]
impl Order<Shipped> {
    /// The transition `complete`: from `Shipped` to `Completed`.
    pub fn complete<'c>(
        self,
    ) -> ::onward::Attempt<::onward::Transition<'c, Self, Completed>> {
        ::onward::Attempt::transition(self, 2, ())
    }
    /// The transition `refund`: from `Paid` or `Shipped` to `Refunded`, caused by `refund_no`.
    pub fn refund<'c>(
        self,
        refund_no: String,
    ) -> ::onward::Attempt<::onward::Transition<'c, Self, Refunded>> {
        ::onward::Attempt::transition(self, 3, (refund_no,))
    }
}
#[allow(dead_code)]
impl AnyOrder {
    /// Money arrived.
    pub fn pay<'c>(
        self,
        trade_no: String,
        paid_at: DateTime<Utc>,
    ) -> ::onward::Attempt<::onward::Transition<'c, Self, Paid>> {
        ::onward::Attempt::transition(self, 0, (trade_no, paid_at))
    }
    /// The transition `ship`: from `Paid` to `Shipped`, caused by `tracking_no`.
    ///
    /// From any other state nothing is written; the outcome says what the row is.
    pub fn ship<'c>(
        self,
        tracking_no: String,
    ) -> ::onward::Attempt<::onward::Transition<'c, Self, Shipped>> {
        ::onward::Attempt::transition(self, 1, (tracking_no,))
    }
    /// The transition `complete`: from `Shipped` to `Completed`.
    ///
    /// From any other state nothing is written; the outcome says what the row is.
    pub fn complete<'c>(
        self,
    ) -> ::onward::Attempt<::onward::Transition<'c, Self, Completed>> {
        ::onward::Attempt::transition(self, 2, ())
    }
    /// The transition `refund`: from `Paid` or `Shipped` to `Refunded`, caused by `refund_no`.
    ///
    /// From any other state nothing is written; the outcome says what the row is.
    pub fn refund<'c>(
        self,
        refund_no: String,
    ) -> ::onward::Attempt<::onward::Transition<'c, Self, Refunded>> {
        ::onward::Attempt::transition(self, 3, (refund_no,))
    }
    /// The transition `cancel`: from `Pending` to `Cancelled`.
    ///
    /// From any other state nothing is written; the outcome says what the row is.
    pub fn cancel<'c>(
        self,
    ) -> ::onward::Attempt<::onward::Transition<'c, Self, Cancelled>> {
        ::onward::Attempt::transition(self, 4, ())
    }
}
impl<S: ::onward::State<Any = AnyOrder, Handle = Self>> Order<S> {
    /// Reads the row with this key, which must be in this state.
    ///
    /// # Errors
    ///
    /// A row in another state is an error that says where it is: `Behind`, `Past` or `Aside`; no row
    /// is `NotFound`.
    pub fn load<'a, D>(
        db: D,
        id: impl ::core::convert::Into<i64>,
        tenant_id: impl ::core::convert::Into<i64>,
    ) -> impl ::core::future::Future<
        Output = ::core::result::Result<Self, ::onward::Error>,
    > + ::core::marker::Send
    where
        D: ::onward::Access<'a>,
        AnyOrder: ::onward::__private::Stored<D::Db>,
    {
        ::onward::__private::load::<
            S,
            D,
        >(db, ::core::convert::Into::into(id), (::core::convert::Into::into(tenant_id),))
    }
    /// Reads the rows in this state in the order of their keys: at most `limit`, those after the key
    /// `after`.
    ///
    /// # Errors
    ///
    /// Those of the database. A row that cannot be read is an error in its place.
    pub fn list<'a, D>(
        db: D,
        tenant_id: impl ::core::convert::Into<i64>,
        after: ::core::option::Option<i64>,
        limit: u32,
    ) -> impl ::core::future::Future<
        Output = ::core::result::Result<::onward::Page<Self, i64>, ::onward::Error>,
    > + ::core::marker::Send
    where
        D: ::onward::Access<'a>,
        AnyOrder: ::onward::__private::Stored<D::Db>,
    {
        ::onward::__private::list::<
            S,
            D,
        >(db, (::core::convert::Into::into(tenant_id),), after, limit)
    }
    /// Changes columns of the row: the state stays, the version rises. The closure runs again on a
    /// fresh row when the policy tries again.
    pub fn amend<'c>(
        self,
        edit: impl ::core::ops::Fn(&mut OrderRow) + ::core::marker::Send + 'c,
    ) -> ::onward::Attempt<::onward::Amendment<'c, Self>> {
        ::onward::Attempt::amendment(self, edit)
    }
    /// The row's version when it was read or written.
    pub fn version(&self) -> i64 {
        self.0.version()
    }
    /// Where it stands.
    pub fn status(&self) -> OrderStatus {
        S::STATUS
    }
}
impl AnyOrder {
    /// The columns that are read, for SELECTs of one's own; they are decoded by name (`sqlx::FromRow`).
    pub const COLUMNS: &'static [&'static str] = &[
        "id",
        "order_no",
        "tenant_id",
        "cust_no",
        "amount_cents",
        "note",
        "state",
        "lock_version",
        "trade_no",
        "paid_at",
        "tracking_no",
        "refund_no",
    ];
    /// [`COLUMNS`](Self::COLUMNS) as the text of a SELECT list, quoted for the database; each behind
    /// `alias.` unless the alias is empty.
    pub fn columns<B: ::onward::Backend>(alias: &str) -> ::std::string::String {
        ::onward::__private::columns::<B, Self>(alias)
    }
    /// Reads the row with this key, in whatever state it is.
    ///
    /// # Errors
    ///
    /// Those of the database, and `Unreadable` for a row that this build cannot read.
    pub fn find<'a, D>(
        db: D,
        id: impl ::core::convert::Into<i64>,
        tenant_id: impl ::core::convert::Into<i64>,
    ) -> impl ::core::future::Future<
        Output = ::core::result::Result<::core::option::Option<Self>, ::onward::Error>,
    > + ::core::marker::Send
    where
        D: ::onward::Access<'a>,
        AnyOrder: ::onward::__private::Stored<D::Db>,
    {
        ::onward::__private::find::<
            Self,
            D,
        >(db, ::core::convert::Into::into(id), (::core::convert::Into::into(tenant_id),))
    }
    /// Reads the row with this key and locks it until the transaction ends.
    ///
    /// On SQLite, which has no row locks, it makes the transaction a writing one.
    ///
    /// # Errors
    ///
    /// `NotInTransaction` outside of a transaction; `RestartTransaction` if the engine gives the
    /// transaction up, as SQLite does when it has read before it writes and another has written meanwhile
    /// (begin it with `onward::begin`).
    pub fn lock<D>(
        tx: &mut D,
        id: impl ::core::convert::Into<i64>,
        tenant_id: impl ::core::convert::Into<i64>,
    ) -> impl ::core::future::Future<
        Output = ::core::result::Result<::core::option::Option<Self>, ::onward::Error>,
    > + ::core::marker::Send
    where
        D: ::onward::Session,
        AnyOrder: ::onward::__private::Stored<D::Db>,
    {
        ::onward::__private::lock::<
            Self,
            D,
        >(tx, ::core::convert::Into::into(id), (::core::convert::Into::into(tenant_id),))
    }
    /// Reads what the journal knows of the row with this key, the oldest first.
    ///
    /// # Errors
    ///
    /// Those of the database, and `Unreadable` for an entry that this build cannot read.
    pub fn history<'a, D>(
        db: D,
        id: impl ::core::convert::Into<i64>,
        tenant_id: impl ::core::convert::Into<i64>,
    ) -> impl ::core::future::Future<
        Output = ::core::result::Result<
            ::onward::journal::History<Self>,
            ::onward::Error,
        >,
    > + ::core::marker::Send
    where
        D: ::onward::Access<'a>,
        AnyOrder: ::onward::__private::Stored<D::Db>,
    {
        ::onward::__private::history::<
            Self,
            D,
        >(db, ::core::convert::Into::into(id), (::core::convert::Into::into(tenant_id),))
    }
    /// Changes columns of the row, in whatever state it is: the state stays, the version rises.
    pub fn amend<'c>(
        self,
        edit: impl ::core::ops::Fn(&mut OrderRow) + ::core::marker::Send + 'c,
    ) -> ::onward::Attempt<::onward::Amendment<'c, Self>> {
        ::onward::Attempt::amendment(self, edit)
    }
    /// Where it stands.
    pub fn status(&self) -> OrderStatus {
        match self {
            AnyOrder::Pending(_) => OrderStatus::Pending,
            AnyOrder::Paid(_) => OrderStatus::Paid,
            AnyOrder::Shipped(_) => OrderStatus::Shipped,
            AnyOrder::Completed(_) => OrderStatus::Completed,
            AnyOrder::Refunded(_) => OrderStatus::Refunded,
            AnyOrder::Cancelled(_) => OrderStatus::Cancelled,
        }
    }
    /// The row's version when it was read or written.
    pub fn version(&self) -> i64 {
        match self {
            AnyOrder::Pending(order) => order.0.version(),
            AnyOrder::Paid(order) => order.0.version(),
            AnyOrder::Shipped(order) => order.0.version(),
            AnyOrder::Completed(order) => order.0.version(),
            AnyOrder::Refunded(order) => order.0.version(),
            AnyOrder::Cancelled(order) => order.0.version(),
        }
    }
    /// The facts that are known in its state.
    pub fn facts(&self) -> OrderFacts<'_> {
        let mut facts = OrderFacts {
            trade_no: ::core::option::Option::None,
            paid_at: ::core::option::Option::None,
            tracking_no: ::core::option::Option::None,
            refund_no: ::core::option::Option::None,
        };
        match self {
            AnyOrder::Pending(_) => {}
            AnyOrder::Paid(order) => {
                facts.trade_no = ::core::option::Option::Some(&order.trade_no);
                facts.paid_at = ::core::option::Option::Some(&order.paid_at);
            }
            AnyOrder::Shipped(order) => {
                facts.trade_no = ::core::option::Option::Some(&order.trade_no);
                facts.paid_at = ::core::option::Option::Some(&order.paid_at);
                facts.tracking_no = ::core::option::Option::Some(&order.tracking_no);
            }
            AnyOrder::Completed(order) => {
                facts.trade_no = ::core::option::Option::Some(&order.trade_no);
                facts.paid_at = ::core::option::Option::Some(&order.paid_at);
                facts.tracking_no = ::core::option::Option::Some(&order.tracking_no);
            }
            AnyOrder::Refunded(order) => {
                facts.trade_no = ::core::option::Option::Some(&order.trade_no);
                facts.paid_at = ::core::option::Option::Some(&order.paid_at);
                facts.refund_no = ::core::option::Option::Some(&order.refund_no);
            }
            AnyOrder::Cancelled(_) => {}
        }
        facts
    }
    /// Whether this transition is possible from its state; [`OrderTransition`] has them all.
    pub fn allows(&self, transition: OrderTransition) -> bool {
        <Self as ::onward::Lifecycle>::DESCRIPTION
            .transitions[transition as usize]
            .from
            .contains(&(self.status() as usize))
    }
}
/// The status of [`Order`].
#[derive(
    ::core::fmt::Debug,
    ::core::clone::Clone,
    ::core::marker::Copy,
    ::core::cmp::PartialEq,
    ::core::cmp::Eq,
    ::core::cmp::PartialOrd,
    ::core::cmp::Ord,
    ::core::hash::Hash,
)]
pub enum OrderStatus {
    /// Stored as `"pending"`.
    Pending,
    /// Stored as `"paid"`.
    Paid,
    /// Stored as `"shipped"`.
    Shipped,
    /// Stored as `"completed"`.
    Completed,
    /// Stored as `"refunded"`.
    Refunded,
    /// Stored as `"cancelled"`.
    Cancelled,
}
impl OrderStatus {
    /// The status as text.
    pub const fn as_str(self) -> &'static str {
        match self {
            OrderStatus::Pending => "pending",
            OrderStatus::Paid => "paid",
            OrderStatus::Shipped => "shipped",
            OrderStatus::Completed => "completed",
            OrderStatus::Refunded => "refunded",
            OrderStatus::Cancelled => "cancelled",
        }
    }
}
#[automatically_derived]
impl ::onward::__private::strum::VariantArray for OrderStatus {
    const VARIANTS: &'static [Self] = &[
        OrderStatus::Pending,
        OrderStatus::Paid,
        OrderStatus::Shipped,
        OrderStatus::Completed,
        OrderStatus::Refunded,
        OrderStatus::Cancelled,
    ];
}
#[automatically_derived]
impl ::core::fmt::Display for OrderStatus {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        f.pad(self.as_str())
    }
}
#[automatically_derived]
impl ::core::convert::AsRef<str> for OrderStatus {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}
#[automatically_derived]
impl ::core::convert::From<OrderStatus> for &'static str {
    fn from(status: OrderStatus) -> Self {
        status.as_str()
    }
}
#[automatically_derived]
impl ::core::str::FromStr for OrderStatus {
    type Err = ::onward::__private::strum::ParseError;
    fn from_str(text: &str) -> ::core::result::Result<Self, Self::Err> {
        match text {
            "pending" => ::core::result::Result::Ok(OrderStatus::Pending),
            "paid" => ::core::result::Result::Ok(OrderStatus::Paid),
            "shipped" => ::core::result::Result::Ok(OrderStatus::Shipped),
            "completed" => ::core::result::Result::Ok(OrderStatus::Completed),
            "refunded" => ::core::result::Result::Ok(OrderStatus::Refunded),
            "cancelled" => ::core::result::Result::Ok(OrderStatus::Cancelled),
            _ => {
                ::core::result::Result::Err(
                    ::onward::__private::strum::ParseError::VariantNotFound,
                )
            }
        }
    }
}
#[automatically_derived]
impl ::onward::__private::serde::Serialize for OrderStatus {
    fn serialize<Z: ::onward::__private::serde::Serializer>(
        &self,
        serializer: Z,
    ) -> ::core::result::Result<Z::Ok, Z::Error> {
        serializer.serialize_str(self.as_str())
    }
}
#[automatically_derived]
impl<'de> ::onward::__private::serde::Deserialize<'de> for OrderStatus {
    fn deserialize<Z: ::onward::__private::serde::Deserializer<'de>>(
        deserializer: Z,
    ) -> ::core::result::Result<Self, Z::Error> {
        ::onward::__private::deserialize_name(deserializer)
    }
}
#[allow(dead_code)]
/// A transition of [`Order`].
#[derive(
    ::core::fmt::Debug,
    ::core::clone::Clone,
    ::core::marker::Copy,
    ::core::cmp::PartialEq,
    ::core::cmp::Eq,
    ::core::cmp::PartialOrd,
    ::core::cmp::Ord,
    ::core::hash::Hash,
)]
pub enum OrderTransition {
    /// `pay`
    Pay,
    /// `ship`
    Ship,
    /// `complete`
    Complete,
    /// `refund`
    Refund,
    /// `cancel`
    Cancel,
}
impl OrderTransition {
    /// The name of the transition.
    pub const fn as_str(self) -> &'static str {
        match self {
            OrderTransition::Pay => "pay",
            OrderTransition::Ship => "ship",
            OrderTransition::Complete => "complete",
            OrderTransition::Refund => "refund",
            OrderTransition::Cancel => "cancel",
        }
    }
}
#[automatically_derived]
impl ::onward::__private::strum::VariantArray for OrderTransition {
    const VARIANTS: &'static [Self] = &[
        OrderTransition::Pay,
        OrderTransition::Ship,
        OrderTransition::Complete,
        OrderTransition::Refund,
        OrderTransition::Cancel,
    ];
}
#[automatically_derived]
impl ::core::fmt::Display for OrderTransition {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        f.pad(self.as_str())
    }
}
#[automatically_derived]
impl<S> ::core::ops::Deref for Order<S> {
    type Target = S;
    fn deref(&self) -> &S {
        self.0.data()
    }
}
#[automatically_derived]
impl ::core::ops::Deref for Pending {
    type Target = OrderRow;
    fn deref(&self) -> &OrderRow {
        &self.row
    }
}
#[automatically_derived]
impl ::core::ops::Deref for Paid {
    type Target = OrderRow;
    fn deref(&self) -> &OrderRow {
        &self.row
    }
}
#[automatically_derived]
impl ::core::ops::Deref for Shipped {
    type Target = OrderRow;
    fn deref(&self) -> &OrderRow {
        &self.row
    }
}
#[automatically_derived]
impl ::core::ops::Deref for Completed {
    type Target = OrderRow;
    fn deref(&self) -> &OrderRow {
        &self.row
    }
}
#[automatically_derived]
impl ::core::ops::Deref for Refunded {
    type Target = OrderRow;
    fn deref(&self) -> &OrderRow {
        &self.row
    }
}
#[automatically_derived]
impl ::core::ops::Deref for Cancelled {
    type Target = OrderRow;
    fn deref(&self) -> &OrderRow {
        &self.row
    }
}
#[automatically_derived]
impl ::core::ops::Deref for AnyOrder {
    type Target = OrderRow;
    fn deref(&self) -> &OrderRow {
        match self {
            AnyOrder::Pending(order) => &order.row,
            AnyOrder::Paid(order) => &order.row,
            AnyOrder::Shipped(order) => &order.row,
            AnyOrder::Completed(order) => &order.row,
            AnyOrder::Refunded(order) => &order.row,
            AnyOrder::Cancelled(order) => &order.row,
        }
    }
}
#[automatically_derived]
impl<S: ::onward::State<Any = AnyOrder>> ::core::fmt::Debug for Order<S> {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        ::onward::__private::debug_handle::<
            AnyOrder,
        >(f, S::INDEX, self.0.data().row(), self.0.version())
    }
}
#[automatically_derived]
impl ::core::fmt::Debug for AnyOrder {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        ::onward::__private::debug_handle::<
            AnyOrder,
        >(f, self.status() as usize, self, self.version())
    }
}
#[automatically_derived]
impl<
    S: ::onward::State<Any = AnyOrder, Handle = Self>,
> ::onward::__private::serde::Serialize for Order<S> {
    fn serialize<Z: ::onward::__private::serde::Serializer>(
        &self,
        serializer: Z,
    ) -> ::core::result::Result<Z::Ok, Z::Error> {
        ::onward::__private::serialize_handle(
            self.status().as_str(),
            self.version(),
            self.0.data(),
            serializer,
        )
    }
}
#[automatically_derived]
impl ::onward::__private::serde::Serialize for AnyOrder {
    fn serialize<Z: ::onward::__private::serde::Serializer>(
        &self,
        serializer: Z,
    ) -> ::core::result::Result<Z::Ok, Z::Error> {
        match self {
            AnyOrder::Pending(order) => {
                ::onward::__private::serde::Serialize::serialize(order, serializer)
            }
            AnyOrder::Paid(order) => {
                ::onward::__private::serde::Serialize::serialize(order, serializer)
            }
            AnyOrder::Shipped(order) => {
                ::onward::__private::serde::Serialize::serialize(order, serializer)
            }
            AnyOrder::Completed(order) => {
                ::onward::__private::serde::Serialize::serialize(order, serializer)
            }
            AnyOrder::Refunded(order) => {
                ::onward::__private::serde::Serialize::serialize(order, serializer)
            }
            AnyOrder::Cancelled(order) => {
                ::onward::__private::serde::Serialize::serialize(order, serializer)
            }
        }
    }
}
#[automatically_derived]
impl<
    S: ::onward::State<Any = AnyOrder, Handle = Order<S>>,
> ::core::convert::From<Order<S>> for AnyOrder {
    fn from(order: Order<S>) -> Self {
        S::widen(order)
    }
}
#[automatically_derived]
impl<
    S: ::onward::State<Any = AnyOrder, Handle = Order<S>>,
> ::core::convert::TryFrom<AnyOrder> for Order<S> {
    type Error = AnyOrder;
    fn try_from(any: AnyOrder) -> ::core::result::Result<Self, AnyOrder> {
        S::narrow(any)
    }
}
#[automatically_derived]
impl<S: ::onward::State<Any = AnyOrder, Handle = Self>> ::onward::Handle for Order<S> {
    type Any = AnyOrder;
}
#[automatically_derived]
impl ::onward::Handle for AnyOrder {
    type Any = Self;
}
#[automatically_derived]
impl<S: ::onward::State<Any = AnyOrder, Handle = Self>> ::onward::__private::Source
for Order<S> {
    fn stands(&self) -> (&OrderRow, i64) {
        (self.0.data().row(), self.0.version())
    }
    fn view(any: &AnyOrder) -> ::core::option::Option<&Self> {
        S::view(any)
    }
    fn narrow(any: AnyOrder) -> ::core::result::Result<Self, AnyOrder> {
        S::narrow(any)
    }
    fn widen(self) -> AnyOrder {
        S::widen(self)
    }
}
#[automatically_derived]
impl ::onward::__private::Source for AnyOrder {
    fn stands(&self) -> (&OrderRow, i64) {
        (self, AnyOrder::version(self))
    }
    fn view(any: &AnyOrder) -> ::core::option::Option<&Self> {
        ::core::option::Option::Some(any)
    }
    fn narrow(any: AnyOrder) -> ::core::result::Result<Self, AnyOrder> {
        ::core::result::Result::Ok(any)
    }
    fn widen(self) -> AnyOrder {
        self
    }
}
#[automatically_derived]
impl ::onward::Lifecycle for AnyOrder {
    type Key = i64;
    type Row = OrderRow;
    type Status = OrderStatus;
    type Transition = OrderTransition;
    type Guards = (i64,);
    const DESCRIPTION: &'static ::onward::Description = &::onward::Description {
        name: "Order",
        table: "orders",
        columns: &[
            ::onward::Column {
                field: "id",
                column: "id",
                rust_type: "i64",
                unique: false,
                guard: false,
            },
            ::onward::Column {
                field: "order_no",
                column: "order_no",
                rust_type: "String",
                unique: true,
                guard: false,
            },
            ::onward::Column {
                field: "tenant_id",
                column: "tenant_id",
                rust_type: "i64",
                unique: false,
                guard: true,
            },
            ::onward::Column {
                field: "customer_id",
                column: "cust_no",
                rust_type: "i64",
                unique: false,
                guard: false,
            },
            ::onward::Column {
                field: "amount_cents",
                column: "amount_cents",
                rust_type: "i64",
                unique: false,
                guard: false,
            },
            ::onward::Column {
                field: "note",
                column: "note",
                rust_type: "Option<String>",
                unique: false,
                guard: false,
            },
        ],
        status: "state",
        status_type: ::onward::StatusType::Text,
        version: "lock_version",
        updated_at: ::core::option::Option::Some("modified_at"),
        facts: &[
            ::onward::Fact {
                field: "trade_no",
                column: "trade_no",
                rust_type: "String",
                optional: false,
                unique: false,
            },
            ::onward::Fact {
                field: "paid_at",
                column: "paid_at",
                rust_type: "DateTime<Utc>",
                optional: false,
                unique: false,
            },
            ::onward::Fact {
                field: "tracking_no",
                column: "tracking_no",
                rust_type: "String",
                optional: false,
                unique: false,
            },
            ::onward::Fact {
                field: "refund_no",
                column: "refund_no",
                rust_type: "String",
                optional: false,
                unique: false,
            },
        ],
        states: &[
            ::onward::StateInfo {
                name: "Pending",
                text: "pending",
                code: ::core::option::Option::None,
                own: &[],
                known: &[],
            },
            ::onward::StateInfo {
                name: "Paid",
                text: "paid",
                code: ::core::option::Option::None,
                own: &[0, 1],
                known: &[0, 1],
            },
            ::onward::StateInfo {
                name: "Shipped",
                text: "shipped",
                code: ::core::option::Option::None,
                own: &[2],
                known: &[0, 1, 2],
            },
            ::onward::StateInfo {
                name: "Completed",
                text: "completed",
                code: ::core::option::Option::None,
                own: &[],
                known: &[0, 1, 2],
            },
            ::onward::StateInfo {
                name: "Refunded",
                text: "refunded",
                code: ::core::option::Option::None,
                own: &[3],
                known: &[0, 1, 3],
            },
            ::onward::StateInfo {
                name: "Cancelled",
                text: "cancelled",
                code: ::core::option::Option::None,
                own: &[],
                known: &[],
            },
        ],
        transitions: &[
            ::onward::TransitionInfo {
                name: "pay",
                from: &[0],
                to: 1,
                by: &[0],
                shared: false,
            },
            ::onward::TransitionInfo {
                name: "ship",
                from: &[1],
                to: 2,
                by: &[0],
                shared: true,
            },
            ::onward::TransitionInfo {
                name: "complete",
                from: &[2],
                to: 3,
                by: &[],
                shared: false,
            },
            ::onward::TransitionInfo {
                name: "refund",
                from: &[1, 2],
                to: 4,
                by: &[0],
                shared: false,
            },
            ::onward::TransitionInfo {
                name: "cancel",
                from: &[0],
                to: 5,
                by: &[],
                shared: false,
            },
        ],
        journal: ::core::option::Option::Some("order_journal"),
    };
    fn status(&self) -> OrderStatus {
        AnyOrder::status(self)
    }
    fn version(&self) -> i64 {
        AnyOrder::version(self)
    }
    fn row(&self) -> &OrderRow {
        self
    }
    fn key(&self) -> &i64 {
        &self.id
    }
    fn state(&self) -> usize {
        AnyOrder::status(self) as usize
    }
    fn key_of(row: &OrderRow) -> &i64 {
        &row.id
    }
    fn same_place(a: &OrderRow, b: &OrderRow) -> bool {
        a.id == b.id && a.tenant_id == b.tenant_id
    }
    fn place_of(row: &OrderRow) -> ::std::vec::Vec<::std::string::String> {
        ::std::vec![
            ::onward::__private::text(& row.id), ::onward::__private::text(& row
            .tenant_id),
        ]
    }
    fn copy(&self, seal: ::onward::__private::Seal) -> Self {
        match self {
            AnyOrder::Pending(order) => AnyOrder::Pending(Order(order.0.copy(seal))),
            AnyOrder::Paid(order) => AnyOrder::Paid(Order(order.0.copy(seal))),
            AnyOrder::Shipped(order) => AnyOrder::Shipped(Order(order.0.copy(seal))),
            AnyOrder::Completed(order) => AnyOrder::Completed(Order(order.0.copy(seal))),
            AnyOrder::Refunded(order) => AnyOrder::Refunded(Order(order.0.copy(seal))),
            AnyOrder::Cancelled(order) => AnyOrder::Cancelled(Order(order.0.copy(seal))),
        }
    }
    fn with_row(self, row: OrderRow, seal: ::onward::__private::Seal) -> Self {
        match self {
            AnyOrder::Pending(order) => {
                AnyOrder::Pending(Order(order.0.next(|_| Pending { row }, seal)))
            }
            AnyOrder::Paid(order) => {
                AnyOrder::Paid(Order(order.0.next(|data| Paid { row, ..data }, seal)))
            }
            AnyOrder::Shipped(order) => {
                AnyOrder::Shipped(
                    Order(order.0.next(|data| Shipped { row, ..data }, seal)),
                )
            }
            AnyOrder::Completed(order) => {
                AnyOrder::Completed(
                    Order(order.0.next(|data| Completed { row, ..data }, seal)),
                )
            }
            AnyOrder::Refunded(order) => {
                AnyOrder::Refunded(
                    Order(order.0.next(|data| Refunded { row, ..data }, seal)),
                )
            }
            AnyOrder::Cancelled(order) => {
                AnyOrder::Cancelled(Order(order.0.next(|_| Cancelled { row }, seal)))
            }
        }
    }
    fn statements(
        dialect: ::onward::__private::Dialect,
    ) -> &'static ::onward::__private::Statements {
        static STATEMENTS: ::onward::__private::StatementCache = ::onward::__private::StatementCache::new();
        STATEMENTS.get(<Self as ::onward::Lifecycle>::DESCRIPTION, dialect)
    }
    fn serialize_row<M: ::onward::__private::serde::ser::SerializeMap>(
        row: &OrderRow,
        map: &mut M,
    ) -> ::core::result::Result<(), M::Error> {
        map.serialize_entry("id", &row.id)?;
        map.serialize_entry("order_no", &row.order_no)?;
        map.serialize_entry("tenant_id", &row.tenant_id)?;
        map.serialize_entry("customer_id", &row.customer_id)?;
        map.serialize_entry("amount_cents", &row.amount_cents)?;
        map.serialize_entry("note", &row.note)
    }
}
#[automatically_derived]
impl ::onward::State for Pending {
    type Any = AnyOrder;
    type Handle = Order<Self>;
    type New = ();
    const STATUS: OrderStatus = OrderStatus::Pending;
    const INDEX: usize = 0;
    fn row(&self) -> &OrderRow {
        &self.row
    }
    fn wrap(snapshot: ::onward::__private::Snapshot<Self>) -> Order<Self> {
        Order(snapshot)
    }
    fn view(any: &AnyOrder) -> ::core::option::Option<&Order<Self>> {
        match any {
            AnyOrder::Pending(order) => ::core::option::Option::Some(order),
            _ => ::core::option::Option::None,
        }
    }
    fn narrow(any: AnyOrder) -> ::core::result::Result<Order<Self>, AnyOrder> {
        match any {
            AnyOrder::Pending(order) => ::core::result::Result::Ok(order),
            other => ::core::result::Result::Err(other),
        }
    }
    fn widen(order: Order<Self>) -> AnyOrder {
        AnyOrder::Pending(order)
    }
    fn land(_: AnyOrder, (): Self::New) -> ::core::option::Option<Self> {
        ::core::option::Option::None
    }
    fn start(row: OrderRow, (): Self::New) -> ::core::option::Option<Self> {
        ::core::option::Option::Some(Pending { row })
    }
    fn fact_text((): &Self::New, _: usize) -> ::std::string::String {
        ::std::string::String::new()
    }
    fn serialize_facts<M: ::onward::__private::serde::ser::SerializeMap>(
        &self,
        _: &mut M,
    ) -> ::core::result::Result<(), M::Error> {
        ::core::result::Result::Ok(())
    }
}
#[automatically_derived]
impl ::onward::State for Paid {
    type Any = AnyOrder;
    type Handle = Order<Self>;
    type New = (String, DateTime<Utc>);
    const STATUS: OrderStatus = OrderStatus::Paid;
    const INDEX: usize = 1;
    fn row(&self) -> &OrderRow {
        &self.row
    }
    fn wrap(snapshot: ::onward::__private::Snapshot<Self>) -> Order<Self> {
        Order(snapshot)
    }
    fn view(any: &AnyOrder) -> ::core::option::Option<&Order<Self>> {
        match any {
            AnyOrder::Paid(order) => ::core::option::Option::Some(order),
            _ => ::core::option::Option::None,
        }
    }
    fn narrow(any: AnyOrder) -> ::core::result::Result<Order<Self>, AnyOrder> {
        match any {
            AnyOrder::Paid(order) => ::core::result::Result::Ok(order),
            other => ::core::result::Result::Err(other),
        }
    }
    fn widen(order: Order<Self>) -> AnyOrder {
        AnyOrder::Paid(order)
    }
    fn land(from: AnyOrder, new: Self::New) -> ::core::option::Option<Self> {
        match from {
            AnyOrder::Pending(order) => {
                let known = order.0.into_data();
                ::core::option::Option::Some(Paid {
                    trade_no: new.0,
                    paid_at: new.1,
                    row: known.row,
                })
            }
            _ => ::core::option::Option::None,
        }
    }
    fn start(_: OrderRow, _: Self::New) -> ::core::option::Option<Self> {
        ::core::option::Option::None
    }
    fn fact_text(new: &Self::New, own: usize) -> ::std::string::String {
        match own {
            0 => ::onward::__private::text(&new.0),
            _ => ::std::string::String::new(),
        }
    }
    fn serialize_facts<M: ::onward::__private::serde::ser::SerializeMap>(
        &self,
        map: &mut M,
    ) -> ::core::result::Result<(), M::Error> {
        map.serialize_entry("trade_no", &self.trade_no)?;
        map.serialize_entry("paid_at", &self.paid_at)
    }
}
#[automatically_derived]
impl ::onward::State for Shipped {
    type Any = AnyOrder;
    type Handle = Order<Self>;
    type New = (String,);
    const STATUS: OrderStatus = OrderStatus::Shipped;
    const INDEX: usize = 2;
    fn row(&self) -> &OrderRow {
        &self.row
    }
    fn wrap(snapshot: ::onward::__private::Snapshot<Self>) -> Order<Self> {
        Order(snapshot)
    }
    fn view(any: &AnyOrder) -> ::core::option::Option<&Order<Self>> {
        match any {
            AnyOrder::Shipped(order) => ::core::option::Option::Some(order),
            _ => ::core::option::Option::None,
        }
    }
    fn narrow(any: AnyOrder) -> ::core::result::Result<Order<Self>, AnyOrder> {
        match any {
            AnyOrder::Shipped(order) => ::core::result::Result::Ok(order),
            other => ::core::result::Result::Err(other),
        }
    }
    fn widen(order: Order<Self>) -> AnyOrder {
        AnyOrder::Shipped(order)
    }
    fn land(from: AnyOrder, new: Self::New) -> ::core::option::Option<Self> {
        match from {
            AnyOrder::Paid(order) => {
                let known = order.0.into_data();
                ::core::option::Option::Some(Shipped {
                    trade_no: known.trade_no,
                    paid_at: known.paid_at,
                    tracking_no: new.0,
                    row: known.row,
                })
            }
            _ => ::core::option::Option::None,
        }
    }
    fn start(_: OrderRow, _: Self::New) -> ::core::option::Option<Self> {
        ::core::option::Option::None
    }
    fn fact_text(new: &Self::New, own: usize) -> ::std::string::String {
        match own {
            0 => ::onward::__private::text(&new.0),
            _ => ::std::string::String::new(),
        }
    }
    fn serialize_facts<M: ::onward::__private::serde::ser::SerializeMap>(
        &self,
        map: &mut M,
    ) -> ::core::result::Result<(), M::Error> {
        map.serialize_entry("trade_no", &self.trade_no)?;
        map.serialize_entry("paid_at", &self.paid_at)?;
        map.serialize_entry("tracking_no", &self.tracking_no)
    }
}
#[automatically_derived]
impl ::onward::State for Completed {
    type Any = AnyOrder;
    type Handle = Order<Self>;
    type New = ();
    const STATUS: OrderStatus = OrderStatus::Completed;
    const INDEX: usize = 3;
    fn row(&self) -> &OrderRow {
        &self.row
    }
    fn wrap(snapshot: ::onward::__private::Snapshot<Self>) -> Order<Self> {
        Order(snapshot)
    }
    fn view(any: &AnyOrder) -> ::core::option::Option<&Order<Self>> {
        match any {
            AnyOrder::Completed(order) => ::core::option::Option::Some(order),
            _ => ::core::option::Option::None,
        }
    }
    fn narrow(any: AnyOrder) -> ::core::result::Result<Order<Self>, AnyOrder> {
        match any {
            AnyOrder::Completed(order) => ::core::result::Result::Ok(order),
            other => ::core::result::Result::Err(other),
        }
    }
    fn widen(order: Order<Self>) -> AnyOrder {
        AnyOrder::Completed(order)
    }
    fn land(from: AnyOrder, (): Self::New) -> ::core::option::Option<Self> {
        match from {
            AnyOrder::Shipped(order) => {
                let known = order.0.into_data();
                ::core::option::Option::Some(Completed {
                    trade_no: known.trade_no,
                    paid_at: known.paid_at,
                    tracking_no: known.tracking_no,
                    row: known.row,
                })
            }
            _ => ::core::option::Option::None,
        }
    }
    fn start(_: OrderRow, (): Self::New) -> ::core::option::Option<Self> {
        ::core::option::Option::None
    }
    fn fact_text((): &Self::New, _: usize) -> ::std::string::String {
        ::std::string::String::new()
    }
    fn serialize_facts<M: ::onward::__private::serde::ser::SerializeMap>(
        &self,
        map: &mut M,
    ) -> ::core::result::Result<(), M::Error> {
        map.serialize_entry("trade_no", &self.trade_no)?;
        map.serialize_entry("paid_at", &self.paid_at)?;
        map.serialize_entry("tracking_no", &self.tracking_no)
    }
}
#[automatically_derived]
impl ::onward::State for Refunded {
    type Any = AnyOrder;
    type Handle = Order<Self>;
    type New = (String,);
    const STATUS: OrderStatus = OrderStatus::Refunded;
    const INDEX: usize = 4;
    fn row(&self) -> &OrderRow {
        &self.row
    }
    fn wrap(snapshot: ::onward::__private::Snapshot<Self>) -> Order<Self> {
        Order(snapshot)
    }
    fn view(any: &AnyOrder) -> ::core::option::Option<&Order<Self>> {
        match any {
            AnyOrder::Refunded(order) => ::core::option::Option::Some(order),
            _ => ::core::option::Option::None,
        }
    }
    fn narrow(any: AnyOrder) -> ::core::result::Result<Order<Self>, AnyOrder> {
        match any {
            AnyOrder::Refunded(order) => ::core::result::Result::Ok(order),
            other => ::core::result::Result::Err(other),
        }
    }
    fn widen(order: Order<Self>) -> AnyOrder {
        AnyOrder::Refunded(order)
    }
    fn land(from: AnyOrder, new: Self::New) -> ::core::option::Option<Self> {
        match from {
            AnyOrder::Paid(order) => {
                let known = order.0.into_data();
                ::core::option::Option::Some(Refunded {
                    trade_no: known.trade_no,
                    paid_at: known.paid_at,
                    refund_no: new.0,
                    row: known.row,
                })
            }
            AnyOrder::Shipped(order) => {
                let known = order.0.into_data();
                ::core::option::Option::Some(Refunded {
                    trade_no: known.trade_no,
                    paid_at: known.paid_at,
                    refund_no: new.0,
                    row: known.row,
                })
            }
            _ => ::core::option::Option::None,
        }
    }
    fn start(_: OrderRow, _: Self::New) -> ::core::option::Option<Self> {
        ::core::option::Option::None
    }
    fn fact_text(new: &Self::New, own: usize) -> ::std::string::String {
        match own {
            0 => ::onward::__private::text(&new.0),
            _ => ::std::string::String::new(),
        }
    }
    fn serialize_facts<M: ::onward::__private::serde::ser::SerializeMap>(
        &self,
        map: &mut M,
    ) -> ::core::result::Result<(), M::Error> {
        map.serialize_entry("trade_no", &self.trade_no)?;
        map.serialize_entry("paid_at", &self.paid_at)?;
        map.serialize_entry("refund_no", &self.refund_no)
    }
}
#[automatically_derived]
impl ::onward::State for Cancelled {
    type Any = AnyOrder;
    type Handle = Order<Self>;
    type New = ();
    const STATUS: OrderStatus = OrderStatus::Cancelled;
    const INDEX: usize = 5;
    fn row(&self) -> &OrderRow {
        &self.row
    }
    fn wrap(snapshot: ::onward::__private::Snapshot<Self>) -> Order<Self> {
        Order(snapshot)
    }
    fn view(any: &AnyOrder) -> ::core::option::Option<&Order<Self>> {
        match any {
            AnyOrder::Cancelled(order) => ::core::option::Option::Some(order),
            _ => ::core::option::Option::None,
        }
    }
    fn narrow(any: AnyOrder) -> ::core::result::Result<Order<Self>, AnyOrder> {
        match any {
            AnyOrder::Cancelled(order) => ::core::result::Result::Ok(order),
            other => ::core::result::Result::Err(other),
        }
    }
    fn widen(order: Order<Self>) -> AnyOrder {
        AnyOrder::Cancelled(order)
    }
    fn land(from: AnyOrder, (): Self::New) -> ::core::option::Option<Self> {
        match from {
            AnyOrder::Pending(order) => {
                let known = order.0.into_data();
                ::core::option::Option::Some(Cancelled { row: known.row })
            }
            _ => ::core::option::Option::None,
        }
    }
    fn start(_: OrderRow, (): Self::New) -> ::core::option::Option<Self> {
        ::core::option::Option::None
    }
    fn fact_text((): &Self::New, _: usize) -> ::std::string::String {
        ::std::string::String::new()
    }
    fn serialize_facts<M: ::onward::__private::serde::ser::SerializeMap>(
        &self,
        _: &mut M,
    ) -> ::core::result::Result<(), M::Error> {
        ::core::result::Result::Ok(())
    }
}
#[automatically_derived]
impl<B: ::onward::Backend> ::onward::__private::StoredState<B> for Pending
where
    AnyOrder: ::onward::__private::Stored<B>,
{
    fn bind_new(
        _: &mut B::Arguments,
        (): &Self::New,
        own: usize,
    ) -> ::core::result::Result<(), ::onward::BoxError> {
        ::core::result::Result::Err(::onward::__private::no_such_fact(own))
    }
    fn same_fact(
        _: &::onward::__private::Columns<'_, B, AnyOrder>,
        (): &Self::New,
        _: usize,
    ) -> ::core::result::Result<::core::option::Option<bool>, ::onward::Error> {
        ::core::result::Result::Ok(::core::option::Option::None)
    }
}
#[automatically_derived]
impl<B: ::onward::Backend> ::onward::__private::StoredState<B> for Paid
where
    AnyOrder: ::onward::__private::Stored<B>,
    B: ::onward::Supports<String> + ::onward::Supports<DateTime<Utc>>,
{
    fn bind_new(
        arguments: &mut B::Arguments,
        new: &Self::New,
        own: usize,
    ) -> ::core::result::Result<(), ::onward::BoxError> {
        match own {
            0 => <B as ::onward::Supports<String>>::bind(arguments, &new.0),
            1 => <B as ::onward::Supports<DateTime<Utc>>>::bind(arguments, &new.1),
            _ => ::core::result::Result::Err(::onward::__private::no_such_fact(own)),
        }
    }
    fn same_fact(
        columns: &::onward::__private::Columns<'_, B, AnyOrder>,
        new: &Self::New,
        own: usize,
    ) -> ::core::result::Result<::core::option::Option<bool>, ::onward::Error> {
        match own {
            0 => columns.same_fact::<String>(0, &new.0),
            _ => ::core::result::Result::Ok(::core::option::Option::None),
        }
    }
}
#[automatically_derived]
impl<B: ::onward::Backend> ::onward::__private::StoredState<B> for Shipped
where
    AnyOrder: ::onward::__private::Stored<B>,
    B: ::onward::Supports<String>,
{
    fn bind_new(
        arguments: &mut B::Arguments,
        new: &Self::New,
        own: usize,
    ) -> ::core::result::Result<(), ::onward::BoxError> {
        match own {
            0 => <B as ::onward::Supports<String>>::bind(arguments, &new.0),
            _ => ::core::result::Result::Err(::onward::__private::no_such_fact(own)),
        }
    }
    fn same_fact(
        columns: &::onward::__private::Columns<'_, B, AnyOrder>,
        new: &Self::New,
        own: usize,
    ) -> ::core::result::Result<::core::option::Option<bool>, ::onward::Error> {
        match own {
            0 => columns.same_fact::<String>(2, &new.0),
            _ => ::core::result::Result::Ok(::core::option::Option::None),
        }
    }
}
#[automatically_derived]
impl<B: ::onward::Backend> ::onward::__private::StoredState<B> for Completed
where
    AnyOrder: ::onward::__private::Stored<B>,
{
    fn bind_new(
        _: &mut B::Arguments,
        (): &Self::New,
        own: usize,
    ) -> ::core::result::Result<(), ::onward::BoxError> {
        ::core::result::Result::Err(::onward::__private::no_such_fact(own))
    }
    fn same_fact(
        _: &::onward::__private::Columns<'_, B, AnyOrder>,
        (): &Self::New,
        _: usize,
    ) -> ::core::result::Result<::core::option::Option<bool>, ::onward::Error> {
        ::core::result::Result::Ok(::core::option::Option::None)
    }
}
#[automatically_derived]
impl<B: ::onward::Backend> ::onward::__private::StoredState<B> for Refunded
where
    AnyOrder: ::onward::__private::Stored<B>,
    B: ::onward::Supports<String>,
{
    fn bind_new(
        arguments: &mut B::Arguments,
        new: &Self::New,
        own: usize,
    ) -> ::core::result::Result<(), ::onward::BoxError> {
        match own {
            0 => <B as ::onward::Supports<String>>::bind(arguments, &new.0),
            _ => ::core::result::Result::Err(::onward::__private::no_such_fact(own)),
        }
    }
    fn same_fact(
        columns: &::onward::__private::Columns<'_, B, AnyOrder>,
        new: &Self::New,
        own: usize,
    ) -> ::core::result::Result<::core::option::Option<bool>, ::onward::Error> {
        match own {
            0 => columns.same_fact::<String>(3, &new.0),
            _ => ::core::result::Result::Ok(::core::option::Option::None),
        }
    }
}
#[automatically_derived]
impl<B: ::onward::Backend> ::onward::__private::StoredState<B> for Cancelled
where
    AnyOrder: ::onward::__private::Stored<B>,
{
    fn bind_new(
        _: &mut B::Arguments,
        (): &Self::New,
        own: usize,
    ) -> ::core::result::Result<(), ::onward::BoxError> {
        ::core::result::Result::Err(::onward::__private::no_such_fact(own))
    }
    fn same_fact(
        _: &::onward::__private::Columns<'_, B, AnyOrder>,
        (): &Self::New,
        _: usize,
    ) -> ::core::result::Result<::core::option::Option<bool>, ::onward::Error> {
        ::core::result::Result::Ok(::core::option::Option::None)
    }
}
#[automatically_derived]
impl<B: ::onward::Backend> ::onward::__private::Stored<B> for AnyOrder
where
    B: ::onward::Supports<i64> + ::onward::Supports<String> + ::onward::Supports<i32>
        + ::onward::Supports<DateTime<Utc>>,
{
    fn decode(
        columns: &::onward::__private::Columns<'_, B, Self>,
    ) -> ::core::result::Result<Self, ::onward::Error> {
        let status = columns.status()?;
        let row = OrderRow {
            id: columns.required::<i64>(0)?,
            order_no: columns.required::<String>(1)?,
            tenant_id: columns.required::<i64>(2)?,
            customer_id: columns.required::<i64>(3)?,
            amount_cents: columns.required::<i64>(4)?,
            note: columns.optional::<String>(5)?,
        };
        ::core::result::Result::Ok(
            match status {
                OrderStatus::Pending => AnyOrder::Pending(columns.seal(Pending { row })?),
                OrderStatus::Paid => {
                    AnyOrder::Paid(
                        columns
                            .seal(Paid {
                                trade_no: columns.required::<String>(8)?,
                                paid_at: columns.required::<DateTime<Utc>>(9)?,
                                row,
                            })?,
                    )
                }
                OrderStatus::Shipped => {
                    AnyOrder::Shipped(
                        columns
                            .seal(Shipped {
                                trade_no: columns.required::<String>(8)?,
                                paid_at: columns.required::<DateTime<Utc>>(9)?,
                                tracking_no: columns.required::<String>(10)?,
                                row,
                            })?,
                    )
                }
                OrderStatus::Completed => {
                    AnyOrder::Completed(
                        columns
                            .seal(Completed {
                                trade_no: columns.required::<String>(8)?,
                                paid_at: columns.required::<DateTime<Utc>>(9)?,
                                tracking_no: columns.required::<String>(10)?,
                                row,
                            })?,
                    )
                }
                OrderStatus::Refunded => {
                    AnyOrder::Refunded(
                        columns
                            .seal(Refunded {
                                trade_no: columns.required::<String>(8)?,
                                paid_at: columns.required::<DateTime<Utc>>(9)?,
                                refund_no: columns.required::<String>(11)?,
                                row,
                            })?,
                    )
                }
                OrderStatus::Cancelled => {
                    AnyOrder::Cancelled(columns.seal(Cancelled { row })?)
                }
            },
        )
    }
    fn decode_key(
        columns: &::onward::__private::Columns<'_, B, Self>,
    ) -> ::core::result::Result<i64, ::onward::Error> {
        columns.required::<i64>(0)
    }
    fn decode_state(
        columns: &::onward::__private::Columns<'_, B, Self>,
    ) -> ::core::result::Result<usize, ::onward::Error> {
        columns.text_state()
    }
    fn decode_version(
        columns: &::onward::__private::Columns<'_, B, Self>,
    ) -> ::core::result::Result<i64, ::onward::Error> {
        columns.version::<i32>()
    }
    fn bind_key(
        arguments: &mut B::Arguments,
        key: &i64,
    ) -> ::core::result::Result<(), ::onward::BoxError> {
        <B as ::onward::Supports<i64>>::bind(arguments, key)
    }
    fn bind_guard(
        arguments: &mut B::Arguments,
        guards: &Self::Guards,
        guard: usize,
    ) -> ::core::result::Result<(), ::onward::BoxError> {
        match guard {
            0 => <B as ::onward::Supports<i64>>::bind(arguments, &guards.0),
            _ => ::core::result::Result::Err(::onward::__private::no_such_fact(guard)),
        }
    }
    fn bind_column(
        arguments: &mut B::Arguments,
        row: &OrderRow,
        column: usize,
    ) -> ::core::result::Result<(), ::onward::BoxError> {
        match column {
            0 => <B as ::onward::Supports<i64>>::bind(arguments, &row.id),
            1 => <B as ::onward::Supports<String>>::bind(arguments, &row.order_no),
            2 => <B as ::onward::Supports<i64>>::bind(arguments, &row.tenant_id),
            3 => <B as ::onward::Supports<i64>>::bind(arguments, &row.customer_id),
            4 => <B as ::onward::Supports<i64>>::bind(arguments, &row.amount_cents),
            5 => <B as ::onward::Supports<String>>::bind_option(arguments, &row.note),
            _ => ::core::result::Result::Err(::onward::__private::no_such_fact(column)),
        }
    }
    fn bind_status(
        arguments: &mut B::Arguments,
        state: usize,
    ) -> ::core::result::Result<(), ::onward::BoxError> {
        ::onward::__private::bind_text::<B, Self>(arguments, state)
    }
    fn bind_version(
        arguments: &mut B::Arguments,
        version: i64,
    ) -> ::core::result::Result<(), ::onward::BoxError> {
        ::onward::__private::bind_version::<B, i32>(arguments, version)
    }
    fn version_limit() -> i64 {
        <i32 as ::onward::__private::Version>::LIMIT
    }
}
#[automatically_derived]
impl<'r, R> ::onward::__private::sqlx::FromRow<'r, R> for AnyOrder
where
    R: ::onward::__private::sqlx::Row<Database: ::onward::Backend<Row = R>>,
    AnyOrder: ::onward::__private::Stored<R::Database>,
{
    fn from_row(
        row: &'r R,
    ) -> ::core::result::Result<Self, ::onward::__private::sqlx::Error> {
        ::onward::__private::from_row::<R::Database, Self>(row)
    }
}
