//! One round of a sweep: the keys in their order, and what becomes of each row.

use crate::{
    attempt::Attempt,
    backend::{Backend, Supports},
    clock,
    course::{Course, Decided},
    error::{Error, ErrorKind},
    fault::Fault,
    lifecycle::{Lifecycle, State},
    pause::ended,
    plan::{Plan, PlanOn},
    policy::restarts,
    row::{Columns, Stored, arguments, unbound},
    session::Db,
    statement::Bind,
    sweep::{Older, Sweep, Swept},
    transaction::Transaction,
    won::Won,
};
use backon::ExponentialBackoff;
use sqlx::Pool;
use std::{collections::VecDeque, error::Error as _, future::ready};

type Key<S> = <<S as State>::Any as Lifecycle>::Key;

pub(super) struct Round<'r, B: Backend, S: State> {
    sweep: Sweep<'r, S>,
    pool: &'r Pool<B>,
    statements: &'static Older,
    keys: VecDeque<Key<S>>,
    /// The last key of the page before; and whether there was a page before, and was the last.
    after: Option<Key<S>>,
    last_page: bool,
    swept: Swept,
    /// The delays that are left for the row at hand.
    restarts: ExponentialBackoff,
}

/// What a row's turn came to, before its commit.
pub(super) enum Turn<B: Backend, P: Plan> {
    Won(Box<Won<B, P>>),
    /// It is not in the state any more, or not old enough.
    Passed,
    Lost,
}

impl<'r, B: Backend, S: State> Round<'r, B, S>
where
    S::Any: Stored<B>,
{
    pub(super) fn new(sweep: Sweep<'r, S>, pool: &'r Pool<B>) -> Result<Self, Error> {
        let d = S::Any::DESCRIPTION;
        let undeclared = |note| Err(Error::new(ErrorKind::NotDeclared, d.table).step("sweep").note(note));
        if d.place().nth(1).is_some() && sweep.guards.is_none() {
            return undeclared("the lifecycle has guards: give their values with `within`".to_owned());
        }
        let statements = S::Any::statements(B::DIALECT);
        let statements = match sweep.since {
            Some(name) => statements.older(d, B::DIALECT, name),
            None => d.updated_at.and_then(|column| statements.older(d, B::DIALECT, column)),
        };
        let Some(statements) = statements else {
            return undeclared(match sweep.since {
                Some(name) => format!("there is no column or fact `{name}`"),
                None => "there is no `updated_at`: name a column with `since`".to_owned(),
            });
        };
        Ok(Self {
            sweep,
            pool,
            statements,
            keys: VecDeque::new(),
            after: None,
            last_page: false,
            swept: Swept::default(),
            restarts: restarts(),
        })
    }

    pub(super) fn swept(&self) -> Swept {
        self.swept
    }

    /// The next key, unless it is to stop.
    pub(super) async fn next(&mut self) -> Result<Option<Key<S>>, Error> {
        if let Some(stop) = &mut self.sweep.stop
            && ended(stop.as_mut(), ready(())).await
        {
            self.sweep.stop = None;
            self.last_page = true;
            self.keys.clear();
        }
        if self.keys.is_empty() && !self.last_page {
            self.read().await?;
        }
        self.restarts = restarts();
        Ok(self.keys.pop_front())
    }

    async fn read(&mut self) -> Result<(), Error> {
        let statement = &self.statements.keys[usize::from(self.after.is_some())];
        let age = -clock::millis(self.sweep.age);
        let arguments = arguments::<B>(statement, |arguments, bind| match (bind, &self.after) {
            (Bind::Status, _) => S::Any::bind_status(arguments, S::INDEX),
            (Bind::Age, _) => <B as Supports<i64>>::bind(arguments, &age),
            (Bind::Limit, _) => <B as Supports<i64>>::bind(arguments, &i64::from(self.sweep.page)),
            (Bind::Place(0), Some(key)) => S::Any::bind_key(arguments, key),
            (Bind::Place(part), _) => self.bind_guard(arguments, part),
            _ => Err(unbound(bind)),
        })?;
        let rows = Db::Pool(self.pool).fetch(&statement.sql, arguments).await;
        let rows =
            rows.map_err(|fault| fault.into_error(ErrorKind::Busy, S::Any::DESCRIPTION.table).step("sweep"))?;
        let keys = rows.iter().map(|row| S::Any::decode_key(&Columns::<B, S::Any>::selected(row)));
        let keys = keys.collect::<Vec<_>>();
        self.last_page = rows.len() < self.sweep.page as usize;
        // The next page begins behind the last key that can be read.
        let to = if self.last_page {
            keys.len()
        } else {
            keys.iter().rposition(Result::is_ok).map_or(0, |at| at + 1)
        };
        for (at, key) in keys.into_iter().enumerate() {
            match key {
                Ok(key) => self.keys.push_back(key),
                Err(error) if to == 0 => return Err(error.step("sweep")),
                Err(error) if at < to => self.failed(error.step("sweep"), None),
                Err(_) => {}
            }
        }
        self.after = self.keys.back().cloned();
        Ok(())
    }

    fn bind_guard(&self, arguments: &mut B::Arguments, part: usize) -> Result<(), crate::BoxError> {
        match &self.sweep.guards {
            Some(guards) if part > 0 => S::Any::bind_guard(arguments, guards, part - 1),
            _ => Err(unbound(Bind::Place(part))),
        }
    }

    /// Locks the row, if it still is to be moved, and moves it.
    pub(super) async fn win<P>(
        &mut self,
        key: &Key<S>,
        step: &mut (impl FnMut(S::Handle) -> Attempt<P> + Send),
    ) -> Result<Turn<B, P>, Error>
    where
        P: PlanOn<B, Any = S::Any>,
    {
        let begun = Transaction::begin(self.pool).await;
        // A file that somebody keeps locked is no fault of the row's.
        let busy = |fault: Fault| fault.into_error(ErrorKind::Busy, S::Any::DESCRIPTION.table).step("sweep");
        let mut transaction = begun.map_err(busy)?;
        let turn = match self.locked(&mut transaction, key).await {
            Ok(Some(order)) => {
                let mut course = Course::new(step(order));
                match Self::moved(&mut course, &mut transaction).await {
                    Ok(Some(next)) => {
                        let won = Won::new(self.pool.clone(), transaction, next, course);
                        return Ok(Turn::Won(Box::new(won)));
                    }
                    Ok(None) => Ok(Turn::Lost),
                    Err(error) => Err(error),
                }
            }
            Ok(None) => Ok(Turn::Passed),
            Err(error) => Err(error),
        };
        transaction.rollback().await;
        turn
    }

    async fn moved<P>(
        course: &mut Course<P>,
        transaction: &mut Transaction<B>,
    ) -> Result<Option<P::Won>, Error>
    where
        P: PlanOn<B, Any = S::Any>,
    {
        course.identify()?;
        match course.decide_in(transaction).await? {
            Decided::Won(()) => course.next().map(Some),
            Decided::WonBefore => Err(course.failed(Error::new(ErrorKind::CommitUnknown, ""))),
            Decided::Lost(_) => Ok(None),
            Decided::Refused => {
                course.told_refused();
                Ok(None)
            }
        }
    }

    async fn locked(
        &mut self,
        transaction: &mut Transaction<B>,
        key: &Key<S>,
    ) -> Result<Option<S::Handle>, Error> {
        let age = -clock::millis(self.sweep.age);
        let arguments = arguments::<B>(&self.statements.lock, |arguments, bind| match bind {
            Bind::Status => S::Any::bind_status(arguments, S::INDEX),
            Bind::Age => <B as Supports<i64>>::bind(arguments, &age),
            Bind::Place(0) => S::Any::bind_key(arguments, key),
            Bind::Place(part) => self.bind_guard(arguments, part),
            bind => Err(unbound(bind)),
        })?;
        let rows = B::fetch(transaction, &self.statements.lock.sql, arguments).await;
        let rows = rows.map_err(|error| Self::fault(Fault::of_read::<B>(error)))?;
        let Some(row) = rows.first() else { return Ok(None) };
        // A status that only the collation takes for this one is no reason to move it.
        Ok(S::narrow(S::Any::decode(&Columns::selected(row))?).ok())
    }

    pub(super) fn fault(fault: Fault) -> Error {
        fault.into_error(ErrorKind::RestartTransaction, S::Any::DESCRIPTION.table).step("sweep")
    }

    /// Counts it; `false` if the row is to be tried again. `None` is a row that was passed, `Some` says whether it moved.
    pub(super) async fn settled(
        &mut self,
        key: &Key<S>,
        done: Result<Option<bool>, Error>,
    ) -> Result<bool, Error> {
        match done {
            Ok(Some(true)) => self.swept.applied += 1,
            Ok(Some(false)) => self.swept.lost += 1,
            Ok(None) => self.swept.passed += 1,
            Err(error) => {
                if matches!(error.kind(), ErrorKind::RestartTransaction | ErrorKind::Busy)
                    && let Some(delay) = self.restarts.next()
                {
                    tokio::time::sleep(delay).await;
                    return Ok(false);
                }
                if is_down(&error) {
                    return Err(error);
                }
                self.failed(error.step("sweep").key(key), Some(key));
                return Ok(true);
            }
        }
        self.progress();
        Ok(true)
    }

    fn failed(&mut self, error: Error, key: Option<&Key<S>>) {
        let (lifecycle, outcome) = (S::Any::DESCRIPTION.name, error.kind().as_str());
        tracing::error!(target: "onward", lifecycle, key = key.map(tracing::field::debug), outcome);
        if let Some(failure) = &mut self.sweep.failure {
            failure(error);
        }
        self.swept.failed += 1;
        self.progress();
    }

    fn progress(&mut self) {
        if let Some(progress) = &mut self.sweep.progress {
            progress(self.swept);
        }
    }
}

/// Whether the next row would fare no better.
fn is_down(error: &Error) -> bool {
    if error.kind() == ErrorKind::Busy {
        return true;
    }
    let source = error.source().and_then(|source| source.downcast_ref());
    error.kind() == ErrorKind::Database
        && source.is_some_and(|source: &sqlx::Error| {
            !matches!(source, sqlx::Error::Database(_) | sqlx::Error::Encode(_) | sqlx::Error::Decode(_))
        })
}
