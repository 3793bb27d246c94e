//! The attempt at a new row. Its key comes from the caller, and the unique key decides, not a prior read.

use crate::{
    attempt::Attempt,
    backend::Backend,
    error::{Error, ErrorKind},
    handle::Snapshot,
    holders::{unique_columns, unique_facts},
    journal::{CREATE, Logged, Stamp},
    lifecycle::{Lifecycle, State},
    outcome::{Clash, Conflict, Loss},
    plan::{Plan, PlanOn, Prepared, Ready, Ruling, Verdict},
    row::{Columns, Stored, StoredState, arguments, locate},
    statement::Bind,
};

/// What `create` makes an [`Attempt`] of: a row in its first state, `S`.
pub struct Creation<'c, S: State> {
    row: <S::Any as Lifecycle>::Row,
    new: S::New,
    same: Option<Same<'c, S>>,
}

type Same<'c, S> =
    Box<dyn Fn(&<S as State>::Any, &<<S as State>::Any as Lifecycle>::Row) -> bool + Send + 'c>;

impl<'c, S: State> Attempt<Creation<'c, S>> {
    #[doc(hidden)]
    pub fn creation(row: <S::Any as Lifecycle>::Row, new: S::New) -> Self {
        Self::new(Creation { row, new, same: None })
    }

    /// Whether a row with the same key is a repeat of this one: `.same(|there, new| …)`. If it says no, the outcome is
    /// a conflict, [`Clash::OtherContent`].
    ///
    /// By default the key alone decides: values change through amendments, decimals and time zones.
    pub fn same(mut self, same: impl Fn(&S::Any, &<S::Any as Lifecycle>::Row) -> bool + Send + 'c) -> Self {
        self.plan.same = Some(Box::new(same));
        self
    }
}

fn begun<S: State>(row: <S::Any as Lifecycle>::Row, new: S::New) -> Result<S::Handle, Error> {
    let start = S::start(row, new);
    let start = start.ok_or_else(|| Error::new(ErrorKind::NoEffect, S::Any::DESCRIPTION.table))?;
    Ok(S::wrap(Snapshot::new(start, 0)))
}

impl<S: State> Plan for Creation<'_, S> {
    type Any = S::Any;
    type Won = S::Handle;
    type Back = <S::Any as Lifecycle>::Row;
    const CREATES: bool = true;

    fn name(&self) -> &'static str {
        CREATE
    }

    fn key(&self) -> &<S::Any as Lifecycle>::Key {
        S::Any::key_of(&self.row)
    }

    fn row(&self) -> &<S::Any as Lifecycle>::Row {
        &self.row
    }

    fn cause(&self) -> Option<(String, bool)> {
        None
    }

    fn logged(&self, stamp: &Stamp) -> Logged {
        let cause = stamp.cause.clone().map(|cause| (cause, true));
        Logged { transition: CREATE, from: None, to: S::INDEX, version: 0, cause }
    }

    fn ready(&self) -> Ready {
        Ready::Go
    }

    fn adopt(&mut self, found: S::Any) -> Result<(), S::Any> {
        Err(found)
    }

    fn retries(&self, _: &Conflict<S::Any>) -> bool {
        false
    }

    fn may_be_ours(&self, loss: &Loss<S::Any>) -> bool {
        // A row of ours would be found by its key; if it was amended since, `same` may not know it. Where there is none,
        // what refused this one may have gone when the first one arrives.
        matches!(loss, Loss::Conflict(_))
    }

    fn won(&self) -> Result<S::Handle, Error> {
        begun::<S>(self.row.clone(), self.new.clone())
    }

    fn into_won(self) -> Result<S::Handle, Error> {
        begun::<S>(self.row, self.new)
    }

    fn back(self) -> Result<Self::Back, Error> {
        Ok(self.row)
    }

    fn refused(self) -> Loss<S::Any> {
        // There is no guard that could say no.
        Loss::NotFound
    }
}

impl<B: Backend, S: StoredState<B>> PlanOn<B> for Creation<'_, S> {
    fn write(&mut self, stamp: &Stamp) -> Result<Prepared<B>, Error> {
        let statement = &S::Any::statements(B::DIALECT).insert;
        let logged = Logged::kept(self, stamp);
        let arguments = arguments::<B>(statement, |arguments, bind| match bind {
            Bind::Column(column) => S::Any::bind_column(arguments, &self.row, column),
            Bind::Status => S::Any::bind_status(arguments, S::INDEX),
            Bind::FirstVersion => S::Any::bind_version(arguments, 0),
            Bind::New(own) => S::bind_new(arguments, &self.new, own),
            bind => Logged::bind_kept::<B, S::Any>(logged.as_ref(), arguments, bind, &self.row, stamp),
        })?;
        Ok((&statement.sql, arguments))
    }

    fn reread(&self, locked: bool) -> Result<Prepared<B>, Error> {
        locate::<B, S::Any>(&self.row, locked)
    }

    fn judge(&self, row: &B::Row) -> Result<Verdict<S::Any>, Error> {
        let found = S::Any::decode(&Columns::selected(row))?;
        // A case-insensitive collation finds keys that are not the same.
        let same = found.key() == S::Any::key_of(&self.row)
            && self.same.as_ref().is_none_or(|same| same(&found, &self.row));
        let ruling = if same { Ruling::Duplicate } else { Ruling::Clash(Clash::OtherContent) };
        Ok(Verdict { found, ruling })
    }

    fn holders(&self) -> Result<Vec<(Clash, Prepared<B>)>, Error> {
        let mut lookups = unique_columns::<B, S::Any>(&self.row)?;
        lookups.extend(unique_facts::<B, S>(&self.new, &self.row)?);
        Ok(lookups)
    }
}
