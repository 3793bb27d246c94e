//! The attempt at changing columns of a row: the state stays, the version rises.

use crate::{
    attempt::Attempt,
    backend::Backend,
    error::{Error, ErrorKind},
    handle::Seal,
    holders::unique_columns,
    journal::{AMEND, Logged, Stamp},
    lifecycle::{Lifecycle, Source},
    outcome::{Clash, Conflict, Loss},
    plan::{Check, Plan, PlanOn, Prepared, Ready, Ruling, Verdict, asked, worth_another_try},
    row::{Columns, Stored, arguments, locate},
    statement::Bind,
};

/// What `amend` makes an [`Attempt`] of.
pub struct Amendment<'c, F: Source> {
    from: F::Any,
    edit: Edit<'c, F>,
    /// None until the first try.
    edited: Option<<F::Any as Lifecycle>::Row>,
    check: Option<Check<'c, F>>,
}

type Edit<'c, F> = Box<dyn Fn(&mut <<F as crate::Handle>::Any as Lifecycle>::Row) + Send + 'c>;

impl<'c, F: Source> Attempt<Amendment<'c, F>> {
    #[doc(hidden)]
    pub fn amendment(from: F, edit: impl Fn(&mut <F::Any as Lifecycle>::Row) + Send + 'c) -> Self {
        let from = from.widen();
        Self::new(Amendment { from, edit: Box::new(edit), edited: None, check: None })
    }

    /// A guard: the row is amended only if it says yes to it, as it is at every try.
    pub fn check(mut self, check: impl Fn(&F) -> bool + Send + 'c) -> Self {
        self.plan.check = Some(Box::new(check));
        self
    }
}

impl<F: Source> Amendment<'_, F> {
    fn edited(&self) -> &<F::Any as Lifecycle>::Row {
        self.edited.as_ref().unwrap_or(self.from.row())
    }
}

impl<F: Source> Plan for Amendment<'_, F> {
    type Any = F::Any;
    type Won = F;
    type Back = F;
    const CREATES: bool = false;

    fn name(&self) -> &'static str {
        AMEND
    }

    fn key(&self) -> &<F::Any as Lifecycle>::Key {
        self.from.key()
    }

    fn row(&self) -> &<F::Any as Lifecycle>::Row {
        self.from.row()
    }

    fn cause(&self) -> Option<(String, bool)> {
        None
    }

    fn logged(&self, stamp: &Stamp) -> Logged {
        let state = self.from.state();
        let cause = stamp.cause.clone().map(|cause| (cause, true));
        Logged { transition: AMEND, from: Some(state), to: state, version: self.from.version() + 1, cause }
    }

    fn prepare(&mut self) {
        let mut row = self.from.row().clone();
        (self.edit)(&mut row);
        self.edited = Some(row);
    }

    fn ready(&self) -> Ready {
        asked::<F>(&self.from, self.check.as_ref())
    }

    fn adopt(&mut self, found: F::Any) -> Result<(), F::Any> {
        if F::view(&found).is_some() {
            self.from = found;
            Ok(())
        } else {
            Err(found)
        }
    }

    fn retries(&self, conflict: &Conflict<F::Any>) -> bool {
        worth_another_try::<F>(conflict)
    }

    fn may_be_ours(&self, loss: &Loss<F::Any>) -> bool {
        match loss {
            // What refused this write may have gone when the first one arrives.
            Loss::Conflict(Conflict { clash: Clash::CauseTaken | Clash::UniqueTaken(_), found, .. }) => {
                found.version() <= self.from.version()
            }
            // Nothing in the row tells one amendment from another.
            _ => true,
        }
    }

    fn won(&self) -> Result<F, Error> {
        narrow(self.from.copy(Seal(())).with_row(self.edited().clone(), Seal(())))
    }

    fn into_won(mut self) -> Result<F, Error> {
        match self.edited.take() {
            Some(edited) => narrow(self.from.with_row(edited, Seal(()))),
            None => self.won(),
        }
    }

    fn back(self) -> Result<F, Error> {
        narrow(self.from)
    }

    fn refused(self) -> Loss<F::Any> {
        Loss::Refused(self.from)
    }
}

impl<B: Backend, F: Source<Any: Stored<B>>> PlanOn<B> for Amendment<'_, F> {
    fn write(&mut self, stamp: &Stamp) -> Result<Prepared<B>, Error> {
        let version = self.from.version();
        if version >= F::Any::version_limit() {
            return Err(Error::new(ErrorKind::VersionLimit, F::Any::DESCRIPTION.table));
        }
        if !F::Any::same_place(self.edited(), self.from.row()) {
            return Err(Error::new(ErrorKind::KeyChanged, F::Any::DESCRIPTION.table));
        }
        let statement = &F::Any::statements(B::DIALECT).amend;
        let logged = Logged::kept(self, stamp);
        let arguments = arguments::<B>(statement, |arguments, bind| match bind {
            Bind::Column(column) => F::Any::bind_column(arguments, self.edited(), column),
            Bind::Expected => F::Any::bind_status(arguments, self.from.state()),
            Bind::Version => F::Any::bind_version(arguments, version),
            bind => Logged::bind_kept::<B, F::Any>(logged.as_ref(), arguments, bind, self.edited(), stamp),
        })?;
        Ok((&statement.sql, arguments))
    }

    fn reread(&self, locked: bool) -> Result<Prepared<B>, Error> {
        locate::<B, F::Any>(self.from.row(), locked)
    }

    fn judge(&self, row: &B::Row) -> Result<Verdict<F::Any>, Error> {
        let found = F::Any::decode(&Columns::selected(row))?;
        let (now, version) = (found.state(), found.version());
        let (at, known) = (self.from.state(), self.from.version());
        let behind = version < known || (now != at && F::Any::DESCRIPTION.reaches(now, at));
        let ruling = if behind {
            Ruling::Clash(Clash::Behind)
        } else if now != at {
            Ruling::Clash(Clash::Moved)
        } else if version != known {
            Ruling::Clash(Clash::Stale)
        } else {
            Ruling::Unmoved
        };
        Ok(Verdict { found, ruling })
    }

    fn holders(&self) -> Result<Vec<(Clash, Prepared<B>)>, Error> {
        unique_columns::<B, F::Any>(self.edited())
    }
}

/// The handle that an attempt started from; what it goes on from is always of the same kind.
pub(crate) fn narrow<F: Source>(any: F::Any) -> Result<F, Error> {
    F::narrow(any).map_err(|any| Error::new(ErrorKind::NoEffect, F::Any::DESCRIPTION.table).key(any.key()))
}
