//! One row of the database, as it is decoded: by the place of its columns, and with errors that name them.
#![allow(clippy::missing_errors_doc)] // Called by generated code only.

use crate::{
    backend::{Backend, Supports},
    error::{BoxError, Error, ErrorKind},
    handle::Snapshot,
    lifecycle::{Lifecycle, State, Version},
    plan::Prepared,
    statement::{Bind, Dialect, Statement, selected},
};
use sqlx::{Column as _, Row as _};
use std::marker::PhantomData;
use strum::VariantArray as _;

/// What `lifecycle!` implements for the enum of all handles on every database that has its column types.
#[doc(hidden)]
pub trait Stored<B: Backend>: Lifecycle {
    fn decode(columns: &Columns<'_, B, Self>) -> Result<Self, Error>;
    fn decode_key(columns: &Columns<'_, B, Self>) -> Result<Self::Key, Error>;
    fn decode_state(columns: &Columns<'_, B, Self>) -> Result<usize, Error>;
    fn decode_version(columns: &Columns<'_, B, Self>) -> Result<i64, Error>;
    fn bind_key(arguments: &mut B::Arguments, key: &Self::Key) -> Result<(), BoxError>;
    fn bind_guard(arguments: &mut B::Arguments, guards: &Self::Guards, guard: usize) -> Result<(), BoxError>;
    fn bind_column(arguments: &mut B::Arguments, row: &Self::Row, column: usize) -> Result<(), BoxError>;
    fn bind_status(arguments: &mut B::Arguments, state: usize) -> Result<(), BoxError>;
    fn bind_version(arguments: &mut B::Arguments, version: i64) -> Result<(), BoxError>;
    /// The largest value of the version's type.
    fn version_limit() -> i64;
}

/// What `lifecycle!` implements for each state, likewise.
#[doc(hidden)]
pub trait StoredState<B: Backend>: State<Any: Stored<B>> {
    fn bind_new(arguments: &mut B::Arguments, new: &Self::New, own: usize) -> Result<(), BoxError>;
    /// Whether the row stores this own fact with the same value; `None` if it stores none.
    fn same_fact(
        columns: &Columns<'_, B, Self::Any>,
        new: &Self::New,
        own: usize,
    ) -> Result<Option<bool>, Error>;
}

/// The columns of one row.
#[doc(hidden)]
pub struct Columns<'r, B: Backend, A> {
    row: &'r B::Row,
    /// Where each selected column is in a row that somebody else selected; else they are in order.
    places: Option<Vec<usize>>,
    of: PhantomData<A>,
}

impl<'r, B: Backend, A: Stored<B>> Columns<'r, B, A> {
    /// A row of our own SELECT.
    pub(crate) fn selected(row: &'r B::Row) -> Self {
        Self { row, places: None, of: PhantomData }
    }

    /// A row of any SELECT that has all columns, by their names.
    pub(crate) fn named(row: &'r B::Row) -> Result<Self, sqlx::Error> {
        let place = |name: &str| {
            let columns = row.columns().iter().enumerate();
            let mut found = columns.filter(|(_, column)| column.name().eq_ignore_ascii_case(name));
            match (found.next(), found.next()) {
                (Some((place, _)), None) => Ok(place),
                (None, _) => Err(sqlx::Error::ColumnNotFound(name.into())),
                (Some(_), Some(_)) => Err(sqlx::Error::Decode(
                    format!("the column `{name}` is there twice; name the other one `AS` something").into(),
                )),
            }
        };
        let places = selected(A::DESCRIPTION).map(place).collect::<Result<_, _>>()?;
        Ok(Self { row, places: Some(places), of: PhantomData })
    }

    fn place(&self, column: usize) -> usize {
        self.places.as_ref().and_then(|places| places.get(column).copied()).unwrap_or(column)
    }

    /// A column that may be null.
    pub fn optional<T>(&self, column: usize) -> Result<Option<T>, Error>
    where
        B: Supports<T>,
    {
        <B as Supports<T>>::get(self.row, self.place(column))
            .map_err(|error| self.unreadable(column, &format!("cannot be read: {error}")).source(error))
    }

    /// A column that must have a value.
    pub fn required<T>(&self, column: usize) -> Result<T, Error>
    where
        B: Supports<T>,
    {
        self.optional(column)?.ok_or_else(|| self.unreadable(column, "must not be null here"))
    }

    /// Whether a fact is stored with this value; `None` if none is stored. Compared as the database returned it.
    pub fn same_fact<T: PartialEq>(&self, fact: usize, value: &T) -> Result<Option<bool>, Error>
    where
        B: Supports<T>,
    {
        let stored = self.optional::<T>(A::DESCRIPTION.columns.len() + 2 + fact)?;
        Ok(stored.map(|stored| stored == *value))
    }

    pub fn status(&self) -> Result<A::Status, Error> {
        let state = A::decode_state(self)?;
        let status = A::Status::VARIANTS.get(state).copied();
        status.ok_or_else(|| self.unreadable(A::DESCRIPTION.columns.len(), "is no known status"))
    }

    pub fn text_state(&self) -> Result<usize, Error> {
        let column = A::DESCRIPTION.columns.len();
        let text = B::get_text(self.row, self.place(column))
            .map_err(|error| self.unreadable(column, "cannot be read").source(error))?
            .ok_or_else(|| self.unreadable(column, "must not be null"))?;
        let state = A::DESCRIPTION.states.iter().position(|state| state.text == text);
        state.ok_or_else(|| self.unreadable(column, "is no known status"))
    }

    pub fn code_state<T: Into<i64>>(&self) -> Result<usize, Error>
    where
        B: Supports<T>,
    {
        let column = A::DESCRIPTION.columns.len();
        let code = Some(self.required::<T>(column)?.into());
        let state = A::DESCRIPTION.states.iter().position(|state| state.code == code);
        state.ok_or_else(|| self.unreadable(column, "is no known status"))
    }

    pub fn version<V: Version>(&self) -> Result<i64, Error>
    where
        B: Supports<V>,
    {
        let column = A::DESCRIPTION.columns.len() + 1;
        let version = self.required::<V>(column)?.to_i64();
        version.ok_or_else(|| self.unreadable(column, "is out of range"))
    }

    /// Turns decoded data into the handle that only a row can give.
    pub fn seal<S: State<Any = A>>(&self, data: S) -> Result<S::Handle, Error> {
        Ok(S::wrap(Snapshot::new(data, A::decode_version(self)?)))
    }

    fn unreadable(&self, column: usize, what: &str) -> Error {
        let name = selected(A::DESCRIPTION).nth(column).unwrap_or_default();
        let note = format!("column `{name}`, which holds {}, {what}", self.shown(column));
        let mut error = Error::new(ErrorKind::Unreadable, A::DESCRIPTION.table).note(note);
        if column > 0
            && let Ok(key) = A::decode_key(self)
        {
            error = error.key(&key);
        }
        error
    }

    /// A value of unknown type, for the message.
    fn shown(&self, column: usize) -> String {
        let place = self.place(column);
        match <B as Supports<String>>::get(self.row, place) {
            Ok(None) => return "NULL".into(),
            Ok(Some(text)) => return format!("{text:?}"),
            Err(_) => {}
        }
        if let Ok(Some(text)) = B::get_text(self.row, place)
            && !text.is_empty()
            && text.chars().all(|c| !c.is_control())
        {
            return format!("{text:?}");
        }
        macro_rules! number {
            ($($t:ty),*) => { $(
                if let Ok(Some(number)) = <B as Supports<$t>>::get(self.row, place) {
                    return number.to_string();
                }
            )* };
        }
        number!(i64, i32, i16, f64);
        let kind = self.row.columns().get(place).map(|column| column.type_info().to_string());
        format!("a value of type {}", kind.unwrap_or_default())
    }
}

/// Bytes that a value takes on its way to a server, as a guess.
const TYPICAL: usize = 12;

/// The values of a statement, in its order.
pub(crate) fn arguments<B: Backend>(
    statement: &Statement,
    mut bind: impl FnMut(&mut B::Arguments, Bind) -> Result<(), BoxError>,
) -> Result<B::Arguments, Error> {
    let mut arguments = B::Arguments::default();
    let values = statement.binds.len();
    sqlx::Arguments::reserve(&mut arguments, values, values * TYPICAL);
    for place in &statement.binds {
        bind(&mut arguments, *place)
            .map_err(|error| Error::new(ErrorKind::Database, "").source(sqlx::Error::Encode(error)))?;
    }
    Ok(arguments)
}

/// The statement that reads a row at hand again.
pub(crate) fn locate<B: Backend, A: Stored<B>>(row: &A::Row, locked: bool) -> Result<Prepared<B>, Error> {
    let statements = A::statements(B::DIALECT);
    let statement = match B::DIALECT {
        Dialect::Postgres | Dialect::MySql if locked => &statements.lock,
        _ => &statements.find,
    };
    let place: Vec<usize> = A::DESCRIPTION.place().collect();
    let arguments = arguments::<B>(statement, |arguments, bind| match bind {
        Bind::Place(part) => A::bind_column(arguments, row, place[part]),
        _ => Err(unbound(bind)),
    })?;
    Ok((&statement.sql, arguments))
}

/// The statement that reads the row with another key, under the guards of a row at hand.
pub(crate) fn at_key<B: Backend, A: Stored<B>>(key: &A::Key, row: &A::Row) -> Result<Prepared<B>, Error> {
    let statement = &A::statements(B::DIALECT).find;
    let place: Vec<usize> = A::DESCRIPTION.place().collect();
    let arguments = arguments::<B>(statement, |arguments, bind| match bind {
        Bind::Place(0) => A::bind_key(arguments, key),
        Bind::Place(part) => A::bind_column(arguments, row, place[part]),
        _ => Err(unbound(bind)),
    })?;
    Ok((&statement.sql, arguments))
}

/// A placeholder that the statement at hand should not have.
pub(crate) fn unbound(bind: Bind) -> BoxError {
    format!("there is nothing to bind to {bind:?}").into()
}

/// A place that the declaration does not have.
#[doc(hidden)]
pub fn no_such_fact(place: usize) -> BoxError {
    format!("the declaration has nothing in place {place}").into()
}

/// A status stored as text.
#[doc(hidden)]
pub fn bind_text<B: Backend, A: Lifecycle>(
    arguments: &mut B::Arguments,
    state: usize,
) -> Result<(), BoxError> {
    B::bind_text(arguments, A::DESCRIPTION.states[state].text)
}

/// A status stored as an integer.
#[doc(hidden)]
pub fn bind_code<B, A, T>(arguments: &mut B::Arguments, state: usize) -> Result<(), BoxError>
where
    B: Backend + Supports<T>,
    A: Lifecycle,
    T: TryFrom<i64>,
{
    let info = &A::DESCRIPTION.states[state];
    match info.code.map(T::try_from) {
        Some(Ok(code)) => <B as Supports<T>>::bind(arguments, &code),
        _ => Err(format!("the status `{}` has no code in the range of its type", info.text).into()),
    }
}

#[doc(hidden)]
pub fn bind_version<B, V>(arguments: &mut B::Arguments, version: i64) -> Result<(), BoxError>
where
    B: Backend + Supports<V>,
    V: Version,
{
    let version =
        V::from_i64(version).ok_or_else(|| format!("version {version} is out of the range of its type"))?;
    <B as Supports<V>>::bind(arguments, &version)
}
