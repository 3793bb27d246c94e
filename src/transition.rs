//! The attempt at a declared transition, and what a row that is found says about it.

use crate::{
    amendment::narrow,
    attempt::Attempt,
    backend::Backend,
    error::{Error, ErrorKind},
    handle::{Seal, Snapshot},
    holders::{same_facts, unique_facts},
    journal::{Logged, Stamp, joined},
    lifecycle::{Lifecycle, Source, State, TransitionInfo},
    outcome::{Clash, Conflict, Loss},
    plan::{Check, Plan, PlanOn, Prepared, Ready, Ruling, Verdict, asked, worth_another_try},
    row::{Columns, Stored, StoredState, arguments, locate},
    statement::Bind,
};

/// What a transition's method makes an [`Attempt`] of: from `F` (`Order<Pending>` or `AnyOrder`) into state `T`.
pub struct Transition<'c, F: Source, T: State> {
    from: F::Any,
    new: T::New,
    index: usize,
    check: Option<Check<'c, F>>,
    facts: Option<Facts<'c, F, T>>,
}

type Facts<'c, F, T> = Box<dyn Fn(&F) -> <T as State>::New + Send + 'c>;

impl<'c, F, T> Attempt<Transition<'c, F, T>>
where
    F: Source<Any = T::Any>,
    T: State,
{
    #[doc(hidden)]
    pub fn transition(from: F, transition: usize, new: T::New) -> Self {
        Self::new(Transition { from: from.widen(), new, index: transition, check: None, facts: None })
    }

    /// A guard: the step is taken only if it says yes to the row, as it is at every try.
    ///
    /// It is asked only where the step is possible. When it says no, the row is read again: a repeat is still a
    /// [`Duplicate`](crate::Outcome::Duplicate), and only a no to the fresh row is [`Refused`](crate::Outcome::Refused).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/order.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), onward::BoxError> {
    /// # let (db, order) = example().await?;
    /// let outcome = order.pay("T-1".into()).check(|order| order.amount_cents == 499).apply(&db).await?;
    /// assert_eq!(outcome.as_str(), "refused");
    /// # Ok(())
    /// # }
    /// ```
    pub fn check(mut self, check: impl Fn(&F) -> bool + Send + 'c) -> Self {
        self.plan.check = Some(Box::new(check));
        self
    }

    /// Computes the new facts from the row as it is at every try, as a tuple in the order of the method's arguments;
    /// it replaces the facts that were given to the method.
    ///
    /// Facts computed before the attempt would be stale when a policy tries again.
    pub fn facts_from(mut self, facts: impl Fn(&F) -> T::New + Send + 'c) -> Self {
        self.plan.facts = Some(Box::new(facts));
        self
    }
}

impl<F, T> Transition<'_, F, T>
where
    F: Source<Any = T::Any>,
    T: State,
{
    fn info(&self) -> &'static TransitionInfo {
        &T::Any::DESCRIPTION.transitions[self.index]
    }

    fn leaves(&self, state: usize) -> bool {
        self.info().from.contains(&state)
    }

    /// Whether a row that is now in `found` is known to have taken this step.
    fn took_it(&self, found: usize, cause_stored: bool) -> bool {
        let d = T::Any::DESCRIPTION;
        let at = self.from.state();
        let to = T::INDEX;
        let passed = |start, state| d.must_have_passed(start, state, to);
        let by_path = if self.leaves(at) {
            passed(at, found)
        } else {
            // Nobody saw it in a source: only what holds for every row counts, for what we hold or for what is there.
            passed(0, found) || passed(0, at)
        };
        let cause: Vec<usize> = d.cause(self.index).collect();
        by_path || (cause_stored && !d.stored_elsewhere(&cause, to, found))
    }
}

fn landed<T: State>(from: T::Any, new: T::New) -> Result<T::Handle, Error> {
    let version = from.version() + 1;
    let landed = T::land(from, new);
    let landed = landed.ok_or_else(|| Error::new(ErrorKind::NoEffect, T::Any::DESCRIPTION.table))?;
    Ok(T::wrap(Snapshot::new(landed, version)))
}

impl<F, T> Plan for Transition<'_, F, T>
where
    F: Source<Any = T::Any>,
    T: State,
{
    type Any = T::Any;
    type Won = T::Handle;
    type Back = F;
    const CREATES: bool = false;

    fn name(&self) -> &'static str {
        self.info().name
    }

    fn key(&self) -> &<T::Any as Lifecycle>::Key {
        self.from.key()
    }

    fn row(&self) -> &<T::Any as Lifecycle>::Row {
        self.from.row()
    }

    fn cause(&self) -> Option<(String, bool)> {
        let by = self.info().by.iter();
        let texts: Vec<String> = by.map(|own| T::fact_text(&self.new, *own)).collect();
        joined(&texts).map(|text| (text, !self.info().shared))
    }

    fn logged(&self, stamp: &Stamp) -> Logged {
        Logged {
            transition: self.info().name,
            from: Some(self.from.state()),
            to: T::INDEX,
            version: self.from.version() + 1,
            cause: self.cause().or_else(|| stamp.cause.clone().map(|cause| (cause, true))),
        }
    }

    fn prepare(&mut self) {
        if let (Some(facts), Some(from)) = (&self.facts, F::view(&self.from)) {
            self.new = facts(from);
        }
    }

    fn ready(&self) -> Ready {
        if !self.leaves(self.from.state()) {
            return Ready::Elsewhere;
        }
        asked::<F>(&self.from, self.check.as_ref())
    }

    fn adopt(&mut self, found: T::Any) -> Result<(), T::Any> {
        if self.leaves(found.state()) && F::view(&found).is_some() {
            self.from = found;
            Ok(())
        } else {
            Err(found)
        }
    }

    fn retries(&self, conflict: &Conflict<T::Any>) -> bool {
        worth_another_try::<F>(conflict)
    }

    fn may_be_ours(&self, loss: &Loss<T::Any>) -> bool {
        match loss {
            Loss::Duplicate(_) | Loss::Refused(_) => false,
            Loss::NotFound => true,
            Loss::Conflict(conflict) => match conflict.clash {
                Clash::OtherCause => false,
                // What refused this write may have gone when the first one arrives.
                Clash::CauseTaken | Clash::UniqueTaken(_) => conflict.found.version() <= self.from.version(),
                Clash::Behind if conflict.found.version() < self.from.version() => true,
                _ => T::Any::DESCRIPTION.reaches(T::INDEX, conflict.found.state()),
            },
        }
    }

    fn won(&self) -> Result<T::Handle, Error> {
        landed::<T>(self.from.copy(Seal(())), self.new.clone())
    }

    fn into_won(self) -> Result<T::Handle, Error> {
        landed::<T>(self.from, self.new)
    }

    fn back(self) -> Result<F, Error> {
        narrow(self.from)
    }

    fn refused(self) -> Loss<T::Any> {
        Loss::Refused(self.from)
    }
}

impl<B, F, T> PlanOn<B> for Transition<'_, F, T>
where
    B: Backend,
    F: Source<Any = T::Any>,
    T: StoredState<B>,
{
    fn write(&mut self, stamp: &Stamp) -> Result<Prepared<B>, Error> {
        let version = self.from.version();
        if version >= T::Any::version_limit() {
            return Err(Error::new(ErrorKind::VersionLimit, T::Any::DESCRIPTION.table));
        }
        let statement = &T::Any::statements(B::DIALECT).update[T::INDEX];
        let logged = Logged::kept(self, stamp);
        let arguments = arguments::<B>(statement, |arguments, bind| match bind {
            Bind::Status => T::Any::bind_status(arguments, T::INDEX),
            Bind::New(own) => T::bind_new(arguments, &self.new, own),
            Bind::Column(column) => T::Any::bind_column(arguments, self.from.row(), column),
            Bind::Expected => T::Any::bind_status(arguments, self.from.state()),
            Bind::Version => T::Any::bind_version(arguments, version),
            bind => Logged::bind_kept::<B, T::Any>(logged.as_ref(), arguments, bind, self.from.row(), stamp),
        })?;
        Ok((&statement.sql, arguments))
    }

    fn reread(&self, locked: bool) -> Result<Prepared<B>, Error> {
        locate::<B, T::Any>(self.from.row(), locked)
    }

    fn judge(&self, row: &B::Row) -> Result<Verdict<T::Any>, Error> {
        let d = T::Any::DESCRIPTION;
        let columns = Columns::selected(row);
        let found = T::Any::decode(&columns)?;
        let (now, version) = (found.state(), found.version());
        let (at, known) = (self.from.state(), self.from.version());

        let by = self.info().by.iter().map(|own| T::same_fact(&columns, &self.new, *own));
        let same: Vec<Option<bool>> = by.collect::<Result<_, _>>()?;
        let stored = !same.is_empty() && same.iter().all(Option::is_some);

        let behind = version < known || (now != at && d.reaches(now, at));
        let ruling = if behind {
            Ruling::Clash(Clash::Behind)
        } else if self.took_it(now, stored) {
            match (stored || same.is_empty(), same.iter().all(|same| *same == Some(true))) {
                (true, true) => Ruling::Duplicate,
                (true, false) => Ruling::Clash(Clash::OtherCause),
                // The step was taken, but nobody can say for which cause.
                (false, _) => Ruling::Clash(Clash::Aside),
            }
        } else if self.leaves(now) && now == at {
            if version == known { Ruling::Unmoved } else { Ruling::Clash(Clash::Stale) }
        } else if self.leaves(now) {
            Ruling::Clash(Clash::Moved)
        } else if self.info().from.iter().any(|source| d.reaches(now, *source)) {
            Ruling::Clash(Clash::Behind)
        } else {
            Ruling::Clash(Clash::Aside)
        };
        Ok(Verdict { found, ruling })
    }

    fn holders(&self) -> Result<Vec<(Clash, Prepared<B>)>, Error> {
        let (new, row) = (&self.new, self.from.row());
        let mut lookups = Vec::new();
        if let Some(cause) = &T::Any::statements(B::DIALECT).cause[self.index] {
            lookups.push((Clash::CauseTaken, same_facts::<B, T>(cause, new, row)?));
        }
        lookups.extend(unique_facts::<B, T>(new, row)?);
        Ok(lookups)
    }
}
