/// A row of the table `approvals`, known to be in the state `S1`.
struct Approval<S1>(::onward::__private::Snapshot<S1>);
/// What every row of the table `approvals` has.
#[derive(Eq, Debug)]
#[derive(::core::clone::Clone, ::core::cmp::PartialEq)]
struct ApprovalRow {
    /// The column `id`, the key.
    pub id: Uuid,
    /// The column `type`.
    pub r#type: String,
}
/// The state `Draft` of [`Approval`].
#[derive(::core::fmt::Debug, ::core::clone::Clone, ::core::cmp::PartialEq)]
struct Draft {
    /// The fact `from`.
    pub from: String,
    /// The columns that every row has.
    pub row: ApprovalRow,
}
/// Somebody asked for it.
#[derive(serde::Deserialize)]
#[derive(::core::fmt::Debug, ::core::clone::Clone, ::core::cmp::PartialEq)]
struct Requested {
    /// The fact `from`.
    pub from: String,
    /// The fact `channel`.
    pub channel: String,
    /// The fact `new`.
    pub new: i64,
    /// The fact `amount`.
    pub amount: ::core::option::Option<Decimal>,
    /// The columns that every row has.
    pub row: ApprovalRow,
}
/// The state `Approved` of [`Approval`].
#[derive(::core::fmt::Debug, ::core::clone::Clone, ::core::cmp::PartialEq)]
struct Approved {
    /// The fact `from`.
    pub from: String,
    /// The fact `channel`.
    pub channel: String,
    /// The fact `new`.
    pub new: i64,
    /// The fact `amount`.
    pub amount: ::core::option::Option<Decimal>,
    /// The fact `by`.
    pub by: String,
    /// The fact `comment`.
    pub comment: ::core::option::Option<String>,
    /// The columns that every row has.
    pub row: ApprovalRow,
}
/// The state `Rejected` of [`Approval`].
#[derive(::core::fmt::Debug, ::core::clone::Clone, ::core::cmp::PartialEq)]
struct Rejected {
    /// The fact `from`.
    pub from: String,
    /// The fact `comment`.
    pub comment: ::core::option::Option<String>,
    /// The columns that every row has.
    pub row: ApprovalRow,
}
/// The state `S` of [`Approval`].
#[derive(::core::fmt::Debug, ::core::clone::Clone, ::core::cmp::PartialEq)]
struct S {
    /// The columns that every row has.
    pub row: ApprovalRow,
}
/// [`Approval`] in whatever state it is.
#[allow(clippy::large_enum_variant)]
enum AnyApproval {
    /// In the state `Draft`.
    Draft(Approval<Draft>),
    /// Somebody asked for it.
    Requested(Approval<Requested>),
    /// In the state `Approved`.
    Approved(Approval<Approved>),
    /// In the state `Rejected`.
    Rejected(Approval<Rejected>),
    /// In the state `S`.
    S(Approval<S>),
}
/// The facts of [`Approval`], as far as they are known in its state.
#[derive(
    ::core::fmt::Debug,
    ::core::clone::Clone,
    ::core::marker::Copy,
    ::core::cmp::PartialEq,
)]
#[allow(dead_code)]
struct ApprovalFacts<'a> {
    /// The fact `from`.
    pub from: ::core::option::Option<&'a String>,
    /// The fact `channel`.
    pub channel: ::core::option::Option<&'a String>,
    /// The fact `new`.
    pub new: ::core::option::Option<&'a i64>,
    /// The fact `amount`.
    pub amount: ::core::option::Option<&'a Decimal>,
    /// The fact `by`.
    pub by: ::core::option::Option<&'a String>,
    /// The fact `comment`.
    pub comment: ::core::option::Option<&'a String>,
}
#[allow(dead_code)]
impl Approval<Draft> {
    /// A new row in the first state, about to be inserted.
    pub fn create<'c>(
        row: ApprovalRow,
        from: String,
    ) -> ::onward::Attempt<::onward::Creation<'c, Draft>> {
        ::onward::Attempt::creation(row, (from,))
    }
    /// The transition `request`: from `Draft` to `Requested`, caused by `channel` and `new`.
    pub fn request<'c>(
        self,
        channel: String,
        new: i64,
        amount: ::core::option::Option<Decimal>,
    ) -> ::onward::Attempt<::onward::Transition<'c, Self, Requested>> {
        ::onward::Attempt::transition(self, 0, (channel, new, amount))
    }
    /// The transition `reject`: from `Draft`, `Requested` or `Approved` to `Rejected`.
    ///
    /// It has no cause, so every later attempt is taken for a repeat.
    pub fn reject<'c>(
        self,
        comment: ::core::option::Option<String>,
    ) -> ::onward::Attempt<::onward::Transition<'c, Self, Rejected>> {
        ::onward::Attempt::transition(self, 2, (comment,))
    }
    /// The transition `try`: from `Draft` to `S`.
    #[deprecated]
    pub fn r#try<'c>(self) -> ::onward::Attempt<::onward::Transition<'c, Self, S>> {
        ::onward::Attempt::transition(self, 3, ())
    }
}
#[allow(dead_code)]
impl Approval<Requested> {
    /// The transition `approve`: from `Requested` to `Approved`, caused by `by`.
    pub fn approve<'c>(
        self,
        by: String,
        comment: ::core::option::Option<String>,
    ) -> ::onward::Attempt<::onward::Transition<'c, Self, Approved>> {
        ::onward::Attempt::transition(self, 1, (by, comment))
    }
    /// The transition `reject`: from `Draft`, `Requested` or `Approved` to `Rejected`.
    ///
    /// It has no cause, so every later attempt is taken for a repeat.
    pub fn reject<'c>(
        self,
        comment: ::core::option::Option<String>,
    ) -> ::onward::Attempt<::onward::Transition<'c, Self, Rejected>> {
        ::onward::Attempt::transition(self, 2, (comment,))
    }
}
#[allow(dead_code)]
impl Approval<Approved> {
    /// The transition `reject`: from `Draft`, `Requested` or `Approved` to `Rejected`.
    ///
    /// It has no cause, so every later attempt is taken for a repeat.
    pub fn reject<'c>(
        self,
        comment: ::core::option::Option<String>,
    ) -> ::onward::Attempt<::onward::Transition<'c, Self, Rejected>> {
        ::onward::Attempt::transition(self, 2, (comment,))
    }
}
#[allow(dead_code)]
impl AnyApproval {
    /// The transition `request`: from `Draft` to `Requested`, caused by `channel` and `new`.
    ///
    /// From any other state nothing is written; the outcome says what the row is.
    pub fn request<'c>(
        self,
        channel: String,
        new: i64,
        amount: ::core::option::Option<Decimal>,
    ) -> ::onward::Attempt<::onward::Transition<'c, Self, Requested>> {
        ::onward::Attempt::transition(self, 0, (channel, new, amount))
    }
    /// The transition `approve`: from `Requested` to `Approved`, caused by `by`.
    ///
    /// From any other state nothing is written; the outcome says what the row is.
    pub fn approve<'c>(
        self,
        by: String,
        comment: ::core::option::Option<String>,
    ) -> ::onward::Attempt<::onward::Transition<'c, Self, Approved>> {
        ::onward::Attempt::transition(self, 1, (by, comment))
    }
    /// The transition `reject`: from `Draft`, `Requested` or `Approved` to `Rejected`.
    ///
    /// It has no cause, so every later attempt is taken for a repeat.
    ///
    /// From any other state nothing is written; the outcome says what the row is.
    pub fn reject<'c>(
        self,
        comment: ::core::option::Option<String>,
    ) -> ::onward::Attempt<::onward::Transition<'c, Self, Rejected>> {
        ::onward::Attempt::transition(self, 2, (comment,))
    }
    /// The transition `try`: from `Draft` to `S`.
    ///
    /// From any other state nothing is written; the outcome says what the row is.
    #[deprecated]
    pub fn r#try<'c>(self) -> ::onward::Attempt<::onward::Transition<'c, Self, S>> {
        ::onward::Attempt::transition(self, 3, ())
    }
}
impl<S1: ::onward::State<Any = AnyApproval, Handle = Self>> Approval<S1> {
    /// Reads the row with this key, which must be in this state.
    ///
    /// # Errors
    ///
    /// A row in another state is an error that says where it is: `Behind`, `Past` or `Aside`; no row
    /// is `NotFound`.
    pub fn load<'a, D>(
        db: D,
        id: impl ::core::convert::Into<Uuid>,
    ) -> impl ::core::future::Future<
        Output = ::core::result::Result<Self, ::onward::Error>,
    > + ::core::marker::Send
    where
        D: ::onward::Access<'a>,
        AnyApproval: ::onward::__private::Stored<D::Db>,
    {
        ::onward::__private::load::<S1, D>(db, ::core::convert::Into::into(id), ())
    }
    /// Reads the rows in this state in the order of their keys: at most `limit`, those after the key
    /// `after`.
    ///
    /// # Errors
    ///
    /// Those of the database. A row that cannot be read is an error in its place.
    pub fn list<'a, D>(
        db: D,
        after: ::core::option::Option<Uuid>,
        limit: u32,
    ) -> impl ::core::future::Future<
        Output = ::core::result::Result<::onward::Page<Self, Uuid>, ::onward::Error>,
    > + ::core::marker::Send
    where
        D: ::onward::Access<'a>,
        AnyApproval: ::onward::__private::Stored<D::Db>,
    {
        ::onward::__private::list::<S1, D>(db, (), after, limit)
    }
    /// Changes columns of the row: the state stays, the version rises. The closure runs again on a
    /// fresh row when the policy tries again.
    pub fn amend<'c>(
        self,
        edit: impl ::core::ops::Fn(&mut ApprovalRow) + ::core::marker::Send + 'c,
    ) -> ::onward::Attempt<::onward::Amendment<'c, Self>> {
        ::onward::Attempt::amendment(self, edit)
    }
    /// The row's version when it was read or written.
    pub fn version(&self) -> i64 {
        self.0.version()
    }
    /// Where it stands.
    pub fn status(&self) -> ApprovalStatus {
        S1::STATUS
    }
}
impl AnyApproval {
    /// The columns that are read, for SELECTs of one's own; they are decoded by name (`sqlx::FromRow`).
    pub const COLUMNS: &'static [&'static str] = &[
        "id",
        "type",
        "status",
        "version",
        "from",
        "channel",
        "request_no",
        "amount",
        "by",
        "comment",
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
        id: impl ::core::convert::Into<Uuid>,
    ) -> impl ::core::future::Future<
        Output = ::core::result::Result<::core::option::Option<Self>, ::onward::Error>,
    > + ::core::marker::Send
    where
        D: ::onward::Access<'a>,
        AnyApproval: ::onward::__private::Stored<D::Db>,
    {
        ::onward::__private::find::<Self, D>(db, ::core::convert::Into::into(id), ())
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
        id: impl ::core::convert::Into<Uuid>,
    ) -> impl ::core::future::Future<
        Output = ::core::result::Result<::core::option::Option<Self>, ::onward::Error>,
    > + ::core::marker::Send
    where
        D: ::onward::Session,
        AnyApproval: ::onward::__private::Stored<D::Db>,
    {
        ::onward::__private::lock::<Self, D>(tx, ::core::convert::Into::into(id), ())
    }
    /// Changes columns of the row, in whatever state it is: the state stays, the version rises.
    pub fn amend<'c>(
        self,
        edit: impl ::core::ops::Fn(&mut ApprovalRow) + ::core::marker::Send + 'c,
    ) -> ::onward::Attempt<::onward::Amendment<'c, Self>> {
        ::onward::Attempt::amendment(self, edit)
    }
    /// Where it stands.
    pub fn status(&self) -> ApprovalStatus {
        match self {
            AnyApproval::Draft(_) => ApprovalStatus::Draft,
            AnyApproval::Requested(_) => ApprovalStatus::Requested,
            AnyApproval::Approved(_) => ApprovalStatus::Approved,
            AnyApproval::Rejected(_) => ApprovalStatus::Rejected,
            AnyApproval::S(_) => ApprovalStatus::S,
        }
    }
    /// The row's version when it was read or written.
    pub fn version(&self) -> i64 {
        match self {
            AnyApproval::Draft(order) => order.0.version(),
            AnyApproval::Requested(order) => order.0.version(),
            AnyApproval::Approved(order) => order.0.version(),
            AnyApproval::Rejected(order) => order.0.version(),
            AnyApproval::S(order) => order.0.version(),
        }
    }
    /// The facts that are known in its state.
    pub fn facts(&self) -> ApprovalFacts<'_> {
        let mut facts = ApprovalFacts {
            from: ::core::option::Option::None,
            channel: ::core::option::Option::None,
            new: ::core::option::Option::None,
            amount: ::core::option::Option::None,
            by: ::core::option::Option::None,
            comment: ::core::option::Option::None,
        };
        match self {
            AnyApproval::Draft(order) => {
                facts.from = ::core::option::Option::Some(&order.from);
            }
            AnyApproval::Requested(order) => {
                facts.from = ::core::option::Option::Some(&order.from);
                facts.channel = ::core::option::Option::Some(&order.channel);
                facts.new = ::core::option::Option::Some(&order.new);
                facts.amount = order.amount.as_ref();
            }
            AnyApproval::Approved(order) => {
                facts.from = ::core::option::Option::Some(&order.from);
                facts.channel = ::core::option::Option::Some(&order.channel);
                facts.new = ::core::option::Option::Some(&order.new);
                facts.amount = order.amount.as_ref();
                facts.by = ::core::option::Option::Some(&order.by);
                facts.comment = order.comment.as_ref();
            }
            AnyApproval::Rejected(order) => {
                facts.from = ::core::option::Option::Some(&order.from);
                facts.comment = order.comment.as_ref();
            }
            AnyApproval::S(_) => {}
        }
        facts
    }
    /// Whether this transition is possible from its state; [`ApprovalTransition`] has them all.
    pub fn allows(&self, transition: ApprovalTransition) -> bool {
        <Self as ::onward::Lifecycle>::DESCRIPTION
            .transitions[transition as usize]
            .from
            .contains(&(self.status() as usize))
    }
}
/// The status of [`Approval`].
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
enum ApprovalStatus {
    /// Stored as `0`.
    Draft,
    /// Stored as `10`.
    Requested,
    /// Stored as `20`.
    Approved,
    /// Stored as `-1`.
    Rejected,
    /// Stored as `30`.
    S,
}
impl ApprovalStatus {
    /// The status as text.
    pub const fn as_str(self) -> &'static str {
        match self {
            ApprovalStatus::Draft => "draft",
            ApprovalStatus::Requested => "requested",
            ApprovalStatus::Approved => "approved",
            ApprovalStatus::Rejected => "rejected",
            ApprovalStatus::S => "s",
        }
    }
}
#[automatically_derived]
impl ::onward::__private::strum::VariantArray for ApprovalStatus {
    const VARIANTS: &'static [Self] = &[
        ApprovalStatus::Draft,
        ApprovalStatus::Requested,
        ApprovalStatus::Approved,
        ApprovalStatus::Rejected,
        ApprovalStatus::S,
    ];
}
#[automatically_derived]
impl ::core::fmt::Display for ApprovalStatus {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        f.pad(self.as_str())
    }
}
impl ApprovalStatus {
    /// The status as it is stored.
    pub const fn code(self) -> i16 {
        match self {
            ApprovalStatus::Draft => 0,
            ApprovalStatus::Requested => 10,
            ApprovalStatus::Approved => 20,
            ApprovalStatus::Rejected => -1,
            ApprovalStatus::S => 30,
        }
    }
}
#[automatically_derived]
impl ::core::convert::AsRef<str> for ApprovalStatus {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}
#[automatically_derived]
impl ::core::convert::From<ApprovalStatus> for &'static str {
    fn from(status: ApprovalStatus) -> Self {
        status.as_str()
    }
}
#[automatically_derived]
impl ::core::str::FromStr for ApprovalStatus {
    type Err = ::onward::__private::strum::ParseError;
    fn from_str(text: &str) -> ::core::result::Result<Self, Self::Err> {
        match text {
            "draft" => ::core::result::Result::Ok(ApprovalStatus::Draft),
            "requested" => ::core::result::Result::Ok(ApprovalStatus::Requested),
            "approved" => ::core::result::Result::Ok(ApprovalStatus::Approved),
            "rejected" => ::core::result::Result::Ok(ApprovalStatus::Rejected),
            "s" => ::core::result::Result::Ok(ApprovalStatus::S),
            _ => {
                ::core::result::Result::Err(
                    ::onward::__private::strum::ParseError::VariantNotFound,
                )
            }
        }
    }
}
#[automatically_derived]
impl ::onward::__private::serde::Serialize for ApprovalStatus {
    fn serialize<Z: ::onward::__private::serde::Serializer>(
        &self,
        serializer: Z,
    ) -> ::core::result::Result<Z::Ok, Z::Error> {
        serializer.serialize_str(self.as_str())
    }
}
#[automatically_derived]
impl<'de> ::onward::__private::serde::Deserialize<'de> for ApprovalStatus {
    fn deserialize<Z: ::onward::__private::serde::Deserializer<'de>>(
        deserializer: Z,
    ) -> ::core::result::Result<Self, Z::Error> {
        ::onward::__private::deserialize_name(deserializer)
    }
}
#[allow(dead_code)]
/// A transition of [`Approval`].
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
enum ApprovalTransition {
    /// `request`
    Request,
    /// `approve`
    Approve,
    /// `reject`
    Reject,
    /// `try`
    Try,
}
impl ApprovalTransition {
    /// The name of the transition.
    pub const fn as_str(self) -> &'static str {
        match self {
            ApprovalTransition::Request => "request",
            ApprovalTransition::Approve => "approve",
            ApprovalTransition::Reject => "reject",
            ApprovalTransition::Try => "try",
        }
    }
}
#[automatically_derived]
impl ::onward::__private::strum::VariantArray for ApprovalTransition {
    const VARIANTS: &'static [Self] = &[
        ApprovalTransition::Request,
        ApprovalTransition::Approve,
        ApprovalTransition::Reject,
        ApprovalTransition::Try,
    ];
}
#[automatically_derived]
impl ::core::fmt::Display for ApprovalTransition {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        f.pad(self.as_str())
    }
}
#[automatically_derived]
impl<S1> ::core::ops::Deref for Approval<S1> {
    type Target = S1;
    fn deref(&self) -> &S1 {
        self.0.data()
    }
}
#[automatically_derived]
impl ::core::ops::Deref for Draft {
    type Target = ApprovalRow;
    fn deref(&self) -> &ApprovalRow {
        &self.row
    }
}
#[automatically_derived]
impl ::core::ops::Deref for Requested {
    type Target = ApprovalRow;
    fn deref(&self) -> &ApprovalRow {
        &self.row
    }
}
#[automatically_derived]
impl ::core::ops::Deref for Approved {
    type Target = ApprovalRow;
    fn deref(&self) -> &ApprovalRow {
        &self.row
    }
}
#[automatically_derived]
impl ::core::ops::Deref for Rejected {
    type Target = ApprovalRow;
    fn deref(&self) -> &ApprovalRow {
        &self.row
    }
}
#[automatically_derived]
impl ::core::ops::Deref for S {
    type Target = ApprovalRow;
    fn deref(&self) -> &ApprovalRow {
        &self.row
    }
}
#[automatically_derived]
impl ::core::ops::Deref for AnyApproval {
    type Target = ApprovalRow;
    fn deref(&self) -> &ApprovalRow {
        match self {
            AnyApproval::Draft(order) => &order.row,
            AnyApproval::Requested(order) => &order.row,
            AnyApproval::Approved(order) => &order.row,
            AnyApproval::Rejected(order) => &order.row,
            AnyApproval::S(order) => &order.row,
        }
    }
}
#[automatically_derived]
impl<S1: ::onward::State<Any = AnyApproval>> ::core::fmt::Debug for Approval<S1> {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        ::onward::__private::debug_handle::<
            AnyApproval,
        >(f, S1::INDEX, self.0.data().row(), self.0.version())
    }
}
#[automatically_derived]
impl ::core::fmt::Debug for AnyApproval {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        ::onward::__private::debug_handle::<
            AnyApproval,
        >(f, self.status() as usize, self, self.version())
    }
}
#[automatically_derived]
impl<
    S1: ::onward::State<Any = AnyApproval, Handle = Self>,
> ::onward::__private::serde::Serialize for Approval<S1> {
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
impl ::onward::__private::serde::Serialize for AnyApproval {
    fn serialize<Z: ::onward::__private::serde::Serializer>(
        &self,
        serializer: Z,
    ) -> ::core::result::Result<Z::Ok, Z::Error> {
        match self {
            AnyApproval::Draft(order) => {
                ::onward::__private::serde::Serialize::serialize(order, serializer)
            }
            AnyApproval::Requested(order) => {
                ::onward::__private::serde::Serialize::serialize(order, serializer)
            }
            AnyApproval::Approved(order) => {
                ::onward::__private::serde::Serialize::serialize(order, serializer)
            }
            AnyApproval::Rejected(order) => {
                ::onward::__private::serde::Serialize::serialize(order, serializer)
            }
            AnyApproval::S(order) => {
                ::onward::__private::serde::Serialize::serialize(order, serializer)
            }
        }
    }
}
#[automatically_derived]
impl<
    S1: ::onward::State<Any = AnyApproval, Handle = Approval<S1>>,
> ::core::convert::From<Approval<S1>> for AnyApproval {
    fn from(order: Approval<S1>) -> Self {
        S1::widen(order)
    }
}
#[automatically_derived]
impl<
    S1: ::onward::State<Any = AnyApproval, Handle = Approval<S1>>,
> ::core::convert::TryFrom<AnyApproval> for Approval<S1> {
    type Error = AnyApproval;
    fn try_from(any: AnyApproval) -> ::core::result::Result<Self, AnyApproval> {
        S1::narrow(any)
    }
}
#[automatically_derived]
impl<S1: ::onward::State<Any = AnyApproval, Handle = Self>> ::onward::Handle
for Approval<S1> {
    type Any = AnyApproval;
}
#[automatically_derived]
impl ::onward::Handle for AnyApproval {
    type Any = Self;
}
#[automatically_derived]
impl<S1: ::onward::State<Any = AnyApproval, Handle = Self>> ::onward::__private::Source
for Approval<S1> {
    fn stands(&self) -> (&ApprovalRow, i64) {
        (self.0.data().row(), self.0.version())
    }
    fn view(any: &AnyApproval) -> ::core::option::Option<&Self> {
        S1::view(any)
    }
    fn narrow(any: AnyApproval) -> ::core::result::Result<Self, AnyApproval> {
        S1::narrow(any)
    }
    fn widen(self) -> AnyApproval {
        S1::widen(self)
    }
}
#[automatically_derived]
impl ::onward::__private::Source for AnyApproval {
    fn stands(&self) -> (&ApprovalRow, i64) {
        (self, AnyApproval::version(self))
    }
    fn view(any: &AnyApproval) -> ::core::option::Option<&Self> {
        ::core::option::Option::Some(any)
    }
    fn narrow(any: AnyApproval) -> ::core::result::Result<Self, AnyApproval> {
        ::core::result::Result::Ok(any)
    }
    fn widen(self) -> AnyApproval {
        self
    }
}
#[automatically_derived]
impl ::onward::Lifecycle for AnyApproval {
    type Key = Uuid;
    type Row = ApprovalRow;
    type Status = ApprovalStatus;
    type Transition = ApprovalTransition;
    type Guards = ();
    const DESCRIPTION: &'static ::onward::Description = &::onward::Description {
        name: "Approval",
        table: "approvals",
        columns: &[
            ::onward::Column {
                field: "id",
                column: "id",
                rust_type: "Uuid",
                unique: false,
                guard: false,
            },
            ::onward::Column {
                field: "type",
                column: "type",
                rust_type: "String",
                unique: false,
                guard: false,
            },
        ],
        status: "status",
        status_type: ::onward::StatusType::Integer("i16"),
        version: "version",
        updated_at: ::core::option::Option::None,
        facts: &[
            ::onward::Fact {
                field: "from",
                column: "from",
                rust_type: "String",
                optional: false,
                unique: false,
            },
            ::onward::Fact {
                field: "channel",
                column: "channel",
                rust_type: "String",
                optional: false,
                unique: false,
            },
            ::onward::Fact {
                field: "new",
                column: "request_no",
                rust_type: "i64",
                optional: false,
                unique: false,
            },
            ::onward::Fact {
                field: "amount",
                column: "amount",
                rust_type: "Option<Decimal>",
                optional: true,
                unique: false,
            },
            ::onward::Fact {
                field: "by",
                column: "by",
                rust_type: "String",
                optional: false,
                unique: false,
            },
            ::onward::Fact {
                field: "comment",
                column: "comment",
                rust_type: "Option<String>",
                optional: true,
                unique: false,
            },
        ],
        states: &[
            ::onward::StateInfo {
                name: "Draft",
                text: "draft",
                code: ::core::option::Option::Some(0),
                own: &[0],
                known: &[0],
            },
            ::onward::StateInfo {
                name: "Requested",
                text: "requested",
                code: ::core::option::Option::Some(10),
                own: &[1, 2, 3],
                known: &[0, 1, 2, 3],
            },
            ::onward::StateInfo {
                name: "Approved",
                text: "approved",
                code: ::core::option::Option::Some(20),
                own: &[4, 5],
                known: &[0, 1, 2, 3, 4, 5],
            },
            ::onward::StateInfo {
                name: "Rejected",
                text: "rejected",
                code: ::core::option::Option::Some(-1),
                own: &[5],
                known: &[0, 5],
            },
            ::onward::StateInfo {
                name: "S",
                text: "s",
                code: ::core::option::Option::Some(30),
                own: &[],
                known: &[],
            },
        ],
        transitions: &[
            ::onward::TransitionInfo {
                name: "request",
                from: &[0],
                to: 1,
                by: &[0, 1],
                shared: false,
            },
            ::onward::TransitionInfo {
                name: "approve",
                from: &[1],
                to: 2,
                by: &[0],
                shared: true,
            },
            ::onward::TransitionInfo {
                name: "reject",
                from: &[0, 1, 2],
                to: 3,
                by: &[],
                shared: false,
            },
            ::onward::TransitionInfo {
                name: "try",
                from: &[0],
                to: 4,
                by: &[],
                shared: false,
            },
        ],
        journal: ::core::option::Option::None,
    };
    fn status(&self) -> ApprovalStatus {
        AnyApproval::status(self)
    }
    fn version(&self) -> i64 {
        AnyApproval::version(self)
    }
    fn row(&self) -> &ApprovalRow {
        self
    }
    fn key(&self) -> &Uuid {
        &self.id
    }
    fn state(&self) -> usize {
        AnyApproval::status(self) as usize
    }
    fn key_of(row: &ApprovalRow) -> &Uuid {
        &row.id
    }
    fn same_place(a: &ApprovalRow, b: &ApprovalRow) -> bool {
        a.id == b.id
    }
    fn place_of(row: &ApprovalRow) -> ::std::vec::Vec<::std::string::String> {
        ::std::vec![::onward::__private::text(& row.id),]
    }
    fn copy(&self, seal: ::onward::__private::Seal) -> Self {
        match self {
            AnyApproval::Draft(order) => AnyApproval::Draft(Approval(order.0.copy(seal))),
            AnyApproval::Requested(order) => {
                AnyApproval::Requested(Approval(order.0.copy(seal)))
            }
            AnyApproval::Approved(order) => {
                AnyApproval::Approved(Approval(order.0.copy(seal)))
            }
            AnyApproval::Rejected(order) => {
                AnyApproval::Rejected(Approval(order.0.copy(seal)))
            }
            AnyApproval::S(order) => AnyApproval::S(Approval(order.0.copy(seal))),
        }
    }
    fn with_row(self, row: ApprovalRow, seal: ::onward::__private::Seal) -> Self {
        match self {
            AnyApproval::Draft(order) => {
                AnyApproval::Draft(
                    Approval(order.0.next(|data| Draft { row, ..data }, seal)),
                )
            }
            AnyApproval::Requested(order) => {
                AnyApproval::Requested(
                    Approval(order.0.next(|data| Requested { row, ..data }, seal)),
                )
            }
            AnyApproval::Approved(order) => {
                AnyApproval::Approved(
                    Approval(order.0.next(|data| Approved { row, ..data }, seal)),
                )
            }
            AnyApproval::Rejected(order) => {
                AnyApproval::Rejected(
                    Approval(order.0.next(|data| Rejected { row, ..data }, seal)),
                )
            }
            AnyApproval::S(order) => {
                AnyApproval::S(Approval(order.0.next(|_| S { row }, seal)))
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
        row: &ApprovalRow,
        map: &mut M,
    ) -> ::core::result::Result<(), M::Error> {
        map.serialize_entry("id", &row.id)?;
        map.serialize_entry("type", &row.r#type)
    }
}
#[automatically_derived]
impl ::onward::State for Draft {
    type Any = AnyApproval;
    type Handle = Approval<Self>;
    type New = (String,);
    const STATUS: ApprovalStatus = ApprovalStatus::Draft;
    const INDEX: usize = 0;
    fn row(&self) -> &ApprovalRow {
        &self.row
    }
    fn wrap(snapshot: ::onward::__private::Snapshot<Self>) -> Approval<Self> {
        Approval(snapshot)
    }
    fn view(any: &AnyApproval) -> ::core::option::Option<&Approval<Self>> {
        match any {
            AnyApproval::Draft(order) => ::core::option::Option::Some(order),
            _ => ::core::option::Option::None,
        }
    }
    fn narrow(any: AnyApproval) -> ::core::result::Result<Approval<Self>, AnyApproval> {
        match any {
            AnyApproval::Draft(order) => ::core::result::Result::Ok(order),
            other => ::core::result::Result::Err(other),
        }
    }
    fn widen(order: Approval<Self>) -> AnyApproval {
        AnyApproval::Draft(order)
    }
    fn land(_: AnyApproval, _: Self::New) -> ::core::option::Option<Self> {
        ::core::option::Option::None
    }
    fn start(row: ApprovalRow, new: Self::New) -> ::core::option::Option<Self> {
        ::core::option::Option::Some(Draft { from: new.0, row })
    }
    fn fact_text(_: &Self::New, _: usize) -> ::std::string::String {
        ::std::string::String::new()
    }
    fn serialize_facts<M: ::onward::__private::serde::ser::SerializeMap>(
        &self,
        map: &mut M,
    ) -> ::core::result::Result<(), M::Error> {
        map.serialize_entry("from", &self.from)
    }
}
#[automatically_derived]
impl ::onward::State for Requested {
    type Any = AnyApproval;
    type Handle = Approval<Self>;
    type New = (String, i64, ::core::option::Option<Decimal>);
    const STATUS: ApprovalStatus = ApprovalStatus::Requested;
    const INDEX: usize = 1;
    fn row(&self) -> &ApprovalRow {
        &self.row
    }
    fn wrap(snapshot: ::onward::__private::Snapshot<Self>) -> Approval<Self> {
        Approval(snapshot)
    }
    fn view(any: &AnyApproval) -> ::core::option::Option<&Approval<Self>> {
        match any {
            AnyApproval::Requested(order) => ::core::option::Option::Some(order),
            _ => ::core::option::Option::None,
        }
    }
    fn narrow(any: AnyApproval) -> ::core::result::Result<Approval<Self>, AnyApproval> {
        match any {
            AnyApproval::Requested(order) => ::core::result::Result::Ok(order),
            other => ::core::result::Result::Err(other),
        }
    }
    fn widen(order: Approval<Self>) -> AnyApproval {
        AnyApproval::Requested(order)
    }
    fn land(from: AnyApproval, new: Self::New) -> ::core::option::Option<Self> {
        match from {
            AnyApproval::Draft(order) => {
                let known = order.0.into_data();
                ::core::option::Option::Some(Requested {
                    from: known.from,
                    channel: new.0,
                    new: new.1,
                    amount: new.2,
                    row: known.row,
                })
            }
            _ => ::core::option::Option::None,
        }
    }
    fn start(_: ApprovalRow, _: Self::New) -> ::core::option::Option<Self> {
        ::core::option::Option::None
    }
    fn fact_text(new: &Self::New, own: usize) -> ::std::string::String {
        match own {
            0 => ::onward::__private::text(&new.0),
            1 => ::onward::__private::text(&new.1),
            _ => ::std::string::String::new(),
        }
    }
    fn serialize_facts<M: ::onward::__private::serde::ser::SerializeMap>(
        &self,
        map: &mut M,
    ) -> ::core::result::Result<(), M::Error> {
        map.serialize_entry("from", &self.from)?;
        map.serialize_entry("channel", &self.channel)?;
        map.serialize_entry("new", &self.new)?;
        map.serialize_entry("amount", &self.amount)
    }
}
#[automatically_derived]
impl ::onward::State for Approved {
    type Any = AnyApproval;
    type Handle = Approval<Self>;
    type New = (String, ::core::option::Option<String>);
    const STATUS: ApprovalStatus = ApprovalStatus::Approved;
    const INDEX: usize = 2;
    fn row(&self) -> &ApprovalRow {
        &self.row
    }
    fn wrap(snapshot: ::onward::__private::Snapshot<Self>) -> Approval<Self> {
        Approval(snapshot)
    }
    fn view(any: &AnyApproval) -> ::core::option::Option<&Approval<Self>> {
        match any {
            AnyApproval::Approved(order) => ::core::option::Option::Some(order),
            _ => ::core::option::Option::None,
        }
    }
    fn narrow(any: AnyApproval) -> ::core::result::Result<Approval<Self>, AnyApproval> {
        match any {
            AnyApproval::Approved(order) => ::core::result::Result::Ok(order),
            other => ::core::result::Result::Err(other),
        }
    }
    fn widen(order: Approval<Self>) -> AnyApproval {
        AnyApproval::Approved(order)
    }
    fn land(from: AnyApproval, new: Self::New) -> ::core::option::Option<Self> {
        match from {
            AnyApproval::Requested(order) => {
                let known = order.0.into_data();
                ::core::option::Option::Some(Approved {
                    from: known.from,
                    channel: known.channel,
                    new: known.new,
                    amount: known.amount,
                    by: new.0,
                    comment: new.1,
                    row: known.row,
                })
            }
            _ => ::core::option::Option::None,
        }
    }
    fn start(_: ApprovalRow, _: Self::New) -> ::core::option::Option<Self> {
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
        map.serialize_entry("from", &self.from)?;
        map.serialize_entry("channel", &self.channel)?;
        map.serialize_entry("new", &self.new)?;
        map.serialize_entry("amount", &self.amount)?;
        map.serialize_entry("by", &self.by)?;
        map.serialize_entry("comment", &self.comment)
    }
}
#[automatically_derived]
impl ::onward::State for Rejected {
    type Any = AnyApproval;
    type Handle = Approval<Self>;
    type New = (::core::option::Option<String>,);
    const STATUS: ApprovalStatus = ApprovalStatus::Rejected;
    const INDEX: usize = 3;
    fn row(&self) -> &ApprovalRow {
        &self.row
    }
    fn wrap(snapshot: ::onward::__private::Snapshot<Self>) -> Approval<Self> {
        Approval(snapshot)
    }
    fn view(any: &AnyApproval) -> ::core::option::Option<&Approval<Self>> {
        match any {
            AnyApproval::Rejected(order) => ::core::option::Option::Some(order),
            _ => ::core::option::Option::None,
        }
    }
    fn narrow(any: AnyApproval) -> ::core::result::Result<Approval<Self>, AnyApproval> {
        match any {
            AnyApproval::Rejected(order) => ::core::result::Result::Ok(order),
            other => ::core::result::Result::Err(other),
        }
    }
    fn widen(order: Approval<Self>) -> AnyApproval {
        AnyApproval::Rejected(order)
    }
    fn land(from: AnyApproval, new: Self::New) -> ::core::option::Option<Self> {
        match from {
            AnyApproval::Draft(order) => {
                let known = order.0.into_data();
                ::core::option::Option::Some(Rejected {
                    from: known.from,
                    comment: new.0,
                    row: known.row,
                })
            }
            AnyApproval::Requested(order) => {
                let known = order.0.into_data();
                ::core::option::Option::Some(Rejected {
                    from: known.from,
                    comment: new.0,
                    row: known.row,
                })
            }
            AnyApproval::Approved(order) => {
                let known = order.0.into_data();
                ::core::option::Option::Some(Rejected {
                    from: known.from,
                    comment: new.0,
                    row: known.row,
                })
            }
            _ => ::core::option::Option::None,
        }
    }
    fn start(_: ApprovalRow, _: Self::New) -> ::core::option::Option<Self> {
        ::core::option::Option::None
    }
    fn fact_text(_: &Self::New, _: usize) -> ::std::string::String {
        ::std::string::String::new()
    }
    fn serialize_facts<M: ::onward::__private::serde::ser::SerializeMap>(
        &self,
        map: &mut M,
    ) -> ::core::result::Result<(), M::Error> {
        map.serialize_entry("from", &self.from)?;
        map.serialize_entry("comment", &self.comment)
    }
}
#[automatically_derived]
impl ::onward::State for S {
    type Any = AnyApproval;
    type Handle = Approval<Self>;
    type New = ();
    const STATUS: ApprovalStatus = ApprovalStatus::S;
    const INDEX: usize = 4;
    fn row(&self) -> &ApprovalRow {
        &self.row
    }
    fn wrap(snapshot: ::onward::__private::Snapshot<Self>) -> Approval<Self> {
        Approval(snapshot)
    }
    fn view(any: &AnyApproval) -> ::core::option::Option<&Approval<Self>> {
        match any {
            AnyApproval::S(order) => ::core::option::Option::Some(order),
            _ => ::core::option::Option::None,
        }
    }
    fn narrow(any: AnyApproval) -> ::core::result::Result<Approval<Self>, AnyApproval> {
        match any {
            AnyApproval::S(order) => ::core::result::Result::Ok(order),
            other => ::core::result::Result::Err(other),
        }
    }
    fn widen(order: Approval<Self>) -> AnyApproval {
        AnyApproval::S(order)
    }
    fn land(from: AnyApproval, (): Self::New) -> ::core::option::Option<Self> {
        match from {
            AnyApproval::Draft(order) => {
                let known = order.0.into_data();
                ::core::option::Option::Some(S { row: known.row })
            }
            _ => ::core::option::Option::None,
        }
    }
    fn start(_: ApprovalRow, (): Self::New) -> ::core::option::Option<Self> {
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
impl<B: ::onward::Backend> ::onward::__private::StoredState<B> for Draft
where
    AnyApproval: ::onward::__private::Stored<B>,
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
        _: &::onward::__private::Columns<'_, B, AnyApproval>,
        _: &Self::New,
        _: usize,
    ) -> ::core::result::Result<::core::option::Option<bool>, ::onward::Error> {
        ::core::result::Result::Ok(::core::option::Option::None)
    }
}
#[automatically_derived]
impl<B: ::onward::Backend> ::onward::__private::StoredState<B> for Requested
where
    AnyApproval: ::onward::__private::Stored<B>,
    B: ::onward::Supports<String> + ::onward::Supports<i64>
        + ::onward::Supports<Decimal>,
{
    fn bind_new(
        arguments: &mut B::Arguments,
        new: &Self::New,
        own: usize,
    ) -> ::core::result::Result<(), ::onward::BoxError> {
        match own {
            0 => <B as ::onward::Supports<String>>::bind(arguments, &new.0),
            1 => <B as ::onward::Supports<i64>>::bind(arguments, &new.1),
            2 => <B as ::onward::Supports<Decimal>>::bind_option(arguments, &new.2),
            _ => ::core::result::Result::Err(::onward::__private::no_such_fact(own)),
        }
    }
    fn same_fact(
        columns: &::onward::__private::Columns<'_, B, AnyApproval>,
        new: &Self::New,
        own: usize,
    ) -> ::core::result::Result<::core::option::Option<bool>, ::onward::Error> {
        match own {
            0 => columns.same_fact::<String>(1, &new.0),
            1 => columns.same_fact::<i64>(2, &new.1),
            _ => ::core::result::Result::Ok(::core::option::Option::None),
        }
    }
}
#[automatically_derived]
impl<B: ::onward::Backend> ::onward::__private::StoredState<B> for Approved
where
    AnyApproval: ::onward::__private::Stored<B>,
    B: ::onward::Supports<String>,
{
    fn bind_new(
        arguments: &mut B::Arguments,
        new: &Self::New,
        own: usize,
    ) -> ::core::result::Result<(), ::onward::BoxError> {
        match own {
            0 => <B as ::onward::Supports<String>>::bind(arguments, &new.0),
            1 => <B as ::onward::Supports<String>>::bind_option(arguments, &new.1),
            _ => ::core::result::Result::Err(::onward::__private::no_such_fact(own)),
        }
    }
    fn same_fact(
        columns: &::onward::__private::Columns<'_, B, AnyApproval>,
        new: &Self::New,
        own: usize,
    ) -> ::core::result::Result<::core::option::Option<bool>, ::onward::Error> {
        match own {
            0 => columns.same_fact::<String>(4, &new.0),
            _ => ::core::result::Result::Ok(::core::option::Option::None),
        }
    }
}
#[automatically_derived]
impl<B: ::onward::Backend> ::onward::__private::StoredState<B> for Rejected
where
    AnyApproval: ::onward::__private::Stored<B>,
    B: ::onward::Supports<String>,
{
    fn bind_new(
        arguments: &mut B::Arguments,
        new: &Self::New,
        own: usize,
    ) -> ::core::result::Result<(), ::onward::BoxError> {
        match own {
            0 => <B as ::onward::Supports<String>>::bind_option(arguments, &new.0),
            _ => ::core::result::Result::Err(::onward::__private::no_such_fact(own)),
        }
    }
    fn same_fact(
        _: &::onward::__private::Columns<'_, B, AnyApproval>,
        _: &Self::New,
        _: usize,
    ) -> ::core::result::Result<::core::option::Option<bool>, ::onward::Error> {
        ::core::result::Result::Ok(::core::option::Option::None)
    }
}
#[automatically_derived]
impl<B: ::onward::Backend> ::onward::__private::StoredState<B> for S
where
    AnyApproval: ::onward::__private::Stored<B>,
{
    fn bind_new(
        _: &mut B::Arguments,
        (): &Self::New,
        own: usize,
    ) -> ::core::result::Result<(), ::onward::BoxError> {
        ::core::result::Result::Err(::onward::__private::no_such_fact(own))
    }
    fn same_fact(
        _: &::onward::__private::Columns<'_, B, AnyApproval>,
        (): &Self::New,
        _: usize,
    ) -> ::core::result::Result<::core::option::Option<bool>, ::onward::Error> {
        ::core::result::Result::Ok(::core::option::Option::None)
    }
}
#[automatically_derived]
impl<B: ::onward::Backend> ::onward::__private::Stored<B> for AnyApproval
where
    B: ::onward::Supports<Uuid> + ::onward::Supports<String> + ::onward::Supports<i64>
        + ::onward::Supports<i16> + ::onward::Supports<Decimal>,
{
    fn decode(
        columns: &::onward::__private::Columns<'_, B, Self>,
    ) -> ::core::result::Result<Self, ::onward::Error> {
        let status = columns.status()?;
        let row = ApprovalRow {
            id: columns.required::<Uuid>(0)?,
            r#type: columns.required::<String>(1)?,
        };
        ::core::result::Result::Ok(
            match status {
                ApprovalStatus::Draft => {
                    AnyApproval::Draft(
                        columns
                            .seal(Draft {
                                from: columns.required::<String>(4)?,
                                row,
                            })?,
                    )
                }
                ApprovalStatus::Requested => {
                    AnyApproval::Requested(
                        columns
                            .seal(Requested {
                                from: columns.required::<String>(4)?,
                                channel: columns.required::<String>(5)?,
                                new: columns.required::<i64>(6)?,
                                amount: columns.optional::<Decimal>(7)?,
                                row,
                            })?,
                    )
                }
                ApprovalStatus::Approved => {
                    AnyApproval::Approved(
                        columns
                            .seal(Approved {
                                from: columns.required::<String>(4)?,
                                channel: columns.required::<String>(5)?,
                                new: columns.required::<i64>(6)?,
                                amount: columns.optional::<Decimal>(7)?,
                                by: columns.required::<String>(8)?,
                                comment: columns.optional::<String>(9)?,
                                row,
                            })?,
                    )
                }
                ApprovalStatus::Rejected => {
                    AnyApproval::Rejected(
                        columns
                            .seal(Rejected {
                                from: columns.required::<String>(4)?,
                                comment: columns.optional::<String>(9)?,
                                row,
                            })?,
                    )
                }
                ApprovalStatus::S => AnyApproval::S(columns.seal(S { row })?),
            },
        )
    }
    fn decode_key(
        columns: &::onward::__private::Columns<'_, B, Self>,
    ) -> ::core::result::Result<Uuid, ::onward::Error> {
        columns.required::<Uuid>(0)
    }
    fn decode_state(
        columns: &::onward::__private::Columns<'_, B, Self>,
    ) -> ::core::result::Result<usize, ::onward::Error> {
        columns.code_state::<i16>()
    }
    fn decode_version(
        columns: &::onward::__private::Columns<'_, B, Self>,
    ) -> ::core::result::Result<i64, ::onward::Error> {
        columns.version::<i64>()
    }
    fn bind_key(
        arguments: &mut B::Arguments,
        key: &Uuid,
    ) -> ::core::result::Result<(), ::onward::BoxError> {
        <B as ::onward::Supports<Uuid>>::bind(arguments, key)
    }
    fn bind_guard(
        _: &mut B::Arguments,
        (): &Self::Guards,
        guard: usize,
    ) -> ::core::result::Result<(), ::onward::BoxError> {
        ::core::result::Result::Err(::onward::__private::no_such_fact(guard))
    }
    fn bind_column(
        arguments: &mut B::Arguments,
        row: &ApprovalRow,
        column: usize,
    ) -> ::core::result::Result<(), ::onward::BoxError> {
        match column {
            0 => <B as ::onward::Supports<Uuid>>::bind(arguments, &row.id),
            1 => <B as ::onward::Supports<String>>::bind(arguments, &row.r#type),
            _ => ::core::result::Result::Err(::onward::__private::no_such_fact(column)),
        }
    }
    fn bind_status(
        arguments: &mut B::Arguments,
        state: usize,
    ) -> ::core::result::Result<(), ::onward::BoxError> {
        ::onward::__private::bind_code::<B, Self, i16>(arguments, state)
    }
    fn bind_version(
        arguments: &mut B::Arguments,
        version: i64,
    ) -> ::core::result::Result<(), ::onward::BoxError> {
        ::onward::__private::bind_version::<B, i64>(arguments, version)
    }
    fn version_limit() -> i64 {
        <i64 as ::onward::__private::Version>::LIMIT
    }
}
#[automatically_derived]
impl<'r, R> ::onward::__private::sqlx::FromRow<'r, R> for AnyApproval
where
    R: ::onward::__private::sqlx::Row<Database: ::onward::Backend<Row = R>>,
    AnyApproval: ::onward::__private::Stored<R::Database>,
{
    fn from_row(
        row: &'r R,
    ) -> ::core::result::Result<Self, ::onward::__private::sqlx::Error> {
        ::onward::__private::from_row::<R::Database, Self>(row)
    }
}
