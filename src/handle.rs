//! Rows become sealed handles: read, locked, listed.

use crate::{
    backend::Backend,
    error::{BoxError, Error, ErrorKind},
    fault::Fault,
    lifecycle::{Lifecycle, State},
    row::{Columns, Stored, arguments, unbound},
    session::{Access, Session},
    statement::{Bind, Dialect, quoted, selected},
};
use sqlx::Database;
use sqlx_core::transaction::TransactionManager;
use std::{fmt, future::Future};

/// Something that stands for a row: `Order<S>`, `AnyOrder`, or a guard on one.
pub trait Handle {
    /// The enum of all handles of its lifecycle, `AnyOrder`.
    type Any: Lifecycle;
}

/// What a row was when it was read or written. Only this crate makes one, so only a row, or a transition that took
/// effect, gives an `Order<Paid>`.
#[doc(hidden)]
pub struct Snapshot<S> {
    data: S,
    version: i64,
}

/// Shown by this crate alone, to generated code that goes on from one snapshot to the next.
#[doc(hidden)]
pub struct Seal(pub(crate) ());

impl<S> Snapshot<S> {
    pub(crate) fn new(data: S, version: i64) -> Self {
        Self { data, version }
    }

    /// The snapshot after a write that changed the data like this.
    pub fn next(self, change: impl FnOnce(S) -> S, _: Seal) -> Self {
        Self::new(change(self.data), self.version + 1)
    }

    pub fn copy(&self, _: Seal) -> Self
    where
        S: Clone,
    {
        Self::new(self.data.clone(), self.version)
    }

    pub fn into_data(self) -> S {
        self.data
    }

    pub fn data(&self) -> &S {
        &self.data
    }

    pub fn version(&self) -> i64 {
        self.version
    }
}

/// What a handle shows of itself in logs: no facts.
#[doc(hidden)]
pub fn debug_handle<A: Lifecycle>(
    f: &mut fmt::Formatter<'_>,
    state: usize,
    row: &A::Row,
    version: i64,
) -> fmt::Result {
    let description = A::DESCRIPTION;
    let info = &description.states[state];
    f.debug_struct(description.name)
        .field("key", A::key_of(row))
        .field("status", &info.text)
        .field("version", &version)
        .finish()
}

/// The row with this key, in whatever state it is.
#[doc(hidden)]
pub fn find<'a, A, D>(
    db: D,
    key: A::Key,
    guards: A::Guards,
) -> impl Future<Output = Result<Option<A>, Error>> + Send
where
    D: Access<'a>,
    A: Stored<D::Db>,
{
    let db = db.access();
    async move {
        let statement = &A::statements(D::Db::DIALECT).find;
        let arguments = arguments::<D::Db>(statement, bind_place::<_, A>(&key, &guards))?;
        let rows = db.fetch(&statement.sql, arguments).await;
        one::<D::Db, A>(&rows.map_err(|fault| read_error::<A>(fault, &key))?)
    }
}

/// The row with this key, in this state.
#[doc(hidden)]
pub fn load<'a, S, D>(
    db: D,
    key: <S::Any as Lifecycle>::Key,
    guards: <S::Any as Lifecycle>::Guards,
) -> impl Future<Output = Result<S::Handle, Error>> + Send
where
    D: Access<'a>,
    S: State,
    S::Any: Stored<D::Db>,
{
    let found = find::<S::Any, D>(db, key.clone(), guards);
    async move {
        let d = S::Any::DESCRIPTION;
        let wrong = |kind| Error::new(kind, d.table).step("load").key(&key);
        let Some(any) = found.await? else {
            return Err(wrong(ErrorKind::NotFound));
        };
        S::narrow(any).map_err(|any| {
            let at = any.state();
            let kind = if d.reaches(at, S::INDEX) {
                ErrorKind::Behind
            } else if d.reaches(S::INDEX, at) {
                ErrorKind::Past
            } else {
                ErrorKind::Aside
            };
            let (is, wanted) = (d.states[at].text, d.states[S::INDEX].text);
            wrong(kind).note(format!("it is `{is}` at version {}, not `{wanted}`", any.version()))
        })
    }
}

/// The row with this key, locked until the caller's transaction ends.
#[doc(hidden)]
pub async fn lock<A, S>(tx: &mut S, key: A::Key, guards: A::Guards) -> Result<Option<A>, Error>
where
    S: Session,
    A: Stored<S::Db>,
{
    let connection = tx.connection();
    let failed = |fault: Fault| {
        fault.into_error(ErrorKind::RestartTransaction, A::DESCRIPTION.table).step("lock").key(&key)
    };
    if <<S::Db as Database>::TransactionManager as TransactionManager>::get_transaction_depth(connection) == 0
    {
        return Err(Error::new(ErrorKind::NotInTransaction, A::DESCRIPTION.table).step("lock").key(&key));
    }
    let statements = A::statements(S::Db::DIALECT);
    if S::Db::DIALECT == Dialect::Sqlite {
        // No row is touched, but the transaction becomes a writing one, or learns now that it cannot.
        let taken =
            S::Db::execute(connection, &statements.lock_file, <S::Db as Database>::Arguments::default())
                .await;
        taken.map_err(Fault::of::<S::Db>).map_err(failed)?;
    }
    let arguments = arguments::<S::Db>(&statements.lock, bind_place::<_, A>(&key, &guards))?;
    let rows = S::Db::fetch(connection, &statements.lock.sql, arguments).await;
    one::<S::Db, A>(&rows.map_err(Fault::of::<S::Db>).map_err(failed)?)
}

/// One page of a listing.
#[derive(Debug)]
#[non_exhaustive]
pub struct Page<T, K> {
    /// The rows in the order of their keys. One that this build cannot read is an error in its place
    /// ([`ErrorKind::Unreadable`]) and hides no other.
    pub rows: Vec<Result<T, Error>>,
    /// The last key of this page, to be given as `after` for the next one; `None` at the end.
    pub next: Option<K>,
}

/// The rows in this state, in the order of their keys.
#[doc(hidden)]
#[allow(clippy::type_complexity)]
pub fn list<'a, S, D>(
    db: D,
    guards: <S::Any as Lifecycle>::Guards,
    after: Option<<S::Any as Lifecycle>::Key>,
    limit: u32,
) -> impl Future<Output = Result<Page<S::Handle, <S::Any as Lifecycle>::Key>, Error>> + Send
where
    D: Access<'a>,
    S: State,
    S::Any: Stored<D::Db>,
{
    let db = db.access();
    async move {
        let statement = &S::Any::statements(D::Db::DIALECT).list[usize::from(after.is_some())];
        let arguments = arguments::<D::Db>(statement, |arguments, bind| match (bind, &after) {
            (Bind::Status, _) => S::Any::bind_status(arguments, S::INDEX),
            (Bind::Place(0), Some(key)) => S::Any::bind_key(arguments, key),
            (Bind::Place(part), _) if part > 0 => S::Any::bind_guard(arguments, &guards, part - 1),
            (Bind::Limit, _) => <D::Db as crate::Supports<i64>>::bind(arguments, &i64::from(limit)),
            _ => Err(unbound(bind)),
        })?;
        let rows = db.fetch(&statement.sql, arguments).await;
        let rows =
            rows.map_err(|fault| fault.into_error(ErrorKind::Busy, S::Any::DESCRIPTION.table).step("list"))?;
        // A last key that cannot be read is passed over, so that the next page begins with that row.
        let keys = || rows.iter().rev().map(|row| S::Any::decode_key(&Columns::selected(row)));
        let next = if limit == 0 || rows.len() < limit as usize { None } else { keys().find_map(Result::ok) };
        if next.is_none()
            && rows.len() == limit as usize
            && let Some(error) = keys().find_map(Result::err)
        {
            // There would be no way past this page.
            return Err(error);
        }
        let decoded = rows.iter().map(|row| {
            let any = S::Any::decode(&Columns::selected(row))?;
            S::narrow(any).map_err(|any| {
                Error::new(ErrorKind::Unreadable, S::Any::DESCRIPTION.table)
                    .key(any.key())
                    .note("its status was matched by the database but is another one; is the column case-insensitive?")
            })
        });
        Ok(Page { rows: decoded.collect(), next })
    }
}

/// A row of the user's own SELECT.
#[doc(hidden)]
pub fn from_row<B: Backend, A: Stored<B>>(row: &B::Row) -> Result<A, sqlx::Error> {
    A::decode(&Columns::named(row)?).map_err(|error| sqlx::Error::Decode(error.into()))
}

/// Every column, quoted for this database, with the table's name or alias before each if one is given.
#[doc(hidden)]
pub fn columns<B: Backend, A: Lifecycle>(alias: &str) -> String {
    let mut text = String::new();
    for column in selected(A::DESCRIPTION) {
        if !text.is_empty() {
            text.push_str(", ");
        }
        if !alias.is_empty() {
            text.push_str(&quoted(B::DIALECT, alias));
            text.push('.');
        }
        text.push_str(&quoted(B::DIALECT, column));
    }
    text
}

fn bind_place<'r, B: Backend, A: Stored<B>>(
    key: &'r A::Key,
    guards: &'r A::Guards,
) -> impl Fn(&mut B::Arguments, Bind) -> Result<(), BoxError> + 'r {
    move |arguments, bind| match bind {
        Bind::Place(0) => A::bind_key(arguments, key),
        Bind::Place(part) => A::bind_guard(arguments, guards, part - 1),
        _ => Err(unbound(bind)),
    }
}

fn one<B: Backend, A: Stored<B>>(rows: &[B::Row]) -> Result<Option<A>, Error> {
    rows.first().map(|row| A::decode(&Columns::selected(row))).transpose()
}

fn read_error<A: Lifecycle>(fault: Fault, key: &A::Key) -> Error {
    fault.into_error(ErrorKind::Busy, A::DESCRIPTION.table).step("find").key(key)
}
