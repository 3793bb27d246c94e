//! Where to look for the row that has a value which a unique index has refused.

use crate::{
    backend::Backend,
    error::Error,
    lifecycle::Lifecycle,
    outcome::Clash,
    plan::Prepared,
    row::{Stored, StoredState, arguments, unbound},
    statement::{Bind, Statement},
};

/// Another row that has the same value in a column declared unique.
pub(crate) fn unique_columns<B: Backend, A: Stored<B>>(
    row: &A::Row,
) -> Result<Vec<(Clash, Prepared<B>)>, Error> {
    let lookups = A::statements(B::DIALECT).unique_column.iter().map(|(column, statement)| {
        let arguments = arguments::<B>(statement, |arguments, bind| match bind {
            Bind::Column(column) => A::bind_column(arguments, row, column),
            _ => Err(unbound(bind)),
        })?;
        let clash = Clash::UniqueTaken(Some(A::DESCRIPTION.columns[*column].field));
        Ok((clash, (statement.sql.as_str(), arguments)))
    });
    lookups.collect()
}

/// Another row that has one of these facts of its state, if they are declared unique.
pub(crate) fn unique_facts<B: Backend, S: StoredState<B>>(
    new: &S::New,
    row: &<S::Any as Lifecycle>::Row,
) -> Result<Vec<(Clash, Prepared<B>)>, Error> {
    let d = S::Any::DESCRIPTION;
    let lookups = S::Any::statements(B::DIALECT).unique_fact[S::INDEX].iter().map(|(own, statement)| {
        let fact = d.facts[d.states[S::INDEX].own[*own]];
        Ok((Clash::UniqueTaken(Some(fact.field)), same_facts::<B, S>(statement, new, row)?))
    });
    lookups.collect()
}

/// The lookup of another row that has the same facts.
pub(crate) fn same_facts<B: Backend, S: StoredState<B>>(
    statement: &'static Statement,
    new: &S::New,
    row: &<S::Any as Lifecycle>::Row,
) -> Result<Prepared<B>, Error> {
    let arguments = arguments::<B>(statement, |arguments, bind| match bind {
        Bind::New(own) => S::bind_new(arguments, new, own),
        Bind::Column(column) => S::Any::bind_column(arguments, row, column),
        _ => Err(unbound(bind)),
    })?;
    Ok((&statement.sql, arguments))
}
