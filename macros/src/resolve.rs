//! Syntax to [`Declaration`]: looks up every name, and fills in what was left unsaid.
//!
//! A name that means nothing is reported, and what needs it is left out.

use crate::integer;
use crate::model::{
    Cause, Declaration, Field, Named, Row, State, Stored, Transition, Value, same_name, snake_case,
};
use crate::parse::{CauseSyntax, StateSyntax, Syntax, TransitionSyntax};
use crate::report::{Report, known_names, written};
use syn::{Ident, LitStr};

pub(crate) fn resolve(syntax: Syntax, report: &mut Report) -> Declaration {
    let Syntax { krate, lifecycle, row, any, states, transitions, journal } = syntax;
    let names: Vec<Ident> = states.iter().map(|state| state.name.clone()).collect();
    let lookup = Lookup(&names);
    lookup.unique(report);
    let states: Vec<State> = states
        .into_iter()
        .enumerate()
        .map(|(index, state)| State {
            value: value(&state, &any.stored, report),
            base: state.base.and_then(|word| lookup.base(index, word, report)),
            attrs: state.attrs,
            name: state.name,
            facts: state.facts,
        })
        .collect();
    let transitions =
        transitions.into_iter().filter_map(|step| transition(step, &lookup, &row, &states, report)).collect();
    Declaration { krate, lifecycle, row, any, states, transitions, journal }
}

/// The states' names.
struct Lookup<'a>(&'a [Ident]);

impl Lookup<'_> {
    /// Of two states with one name, only the first can be found.
    fn unique(&self, report: &mut Report) {
        for (place, name) in self.0.iter().enumerate() {
            if self.0[..place].iter().any(|earlier| same_name(earlier, name)) {
                report.at(name, format!("there are two states named `{name}`; rename one, or take one out"));
            }
        }
    }

    fn state(&self, word: Ident, report: &mut Report) -> Option<Named> {
        let found = self.0.iter().position(|name| same_name(name, &word));
        if found.is_none() {
            report
                .at(&word, format!("`{word}` is no state of this lifecycle; {}", known_names(&word, self.0)));
        }
        found.map(|index| Named { index, word })
    }

    /// A base stands above what builds on it, so that a chain of them ends.
    fn base(&self, index: usize, word: Ident, report: &mut Report) -> Option<Named> {
        let base = self.state(word, report)?;
        let (name, word) = (&self.0[index], &base.word);
        let message = if index == base.index {
            format!(
                "`{name}` can not build on itself; name a state above it, or take `: {word}` \
                 out"
            )
        } else if index == 0 {
            format!("`{name}` is the first state, and nothing comes before it; take `: {word}` out")
        } else if base.index > index {
            format!(
                "`{name}` builds on `{word}`, which is declared below it; declare `{word}` \
                 above `{name}`, since it comes first"
            )
        } else {
            return Some(base);
        };
        report.at(word, message);
        None
    }
}

/// What the table holds for a state, which must be of the kind that `as` says.
fn value(state: &StateSyntax, stored: &Stored, report: &mut Report) -> Value {
    let name = &state.name;
    match (stored, &state.value) {
        (Stored::Integer(_), Some(Value::Integer(number, word))) => Value::Integer(*number, word.clone()),
        // A type that is no integer is a mistake of its own.
        (Stored::Integer(ty), _) if integer::code_limits(ty).is_none() => Value::Text(default_text(name)),
        (Stored::Integer(ty), Some(Value::Text(text))) => {
            let ty = written(ty);
            report.at(
                text,
                format!(
                    "statuses are stored as `{ty}` here; give `{name}` a number: `{name} = 1`, \
                 or take `as {ty}` out"
                ),
            );
            Value::Text(text.clone())
        }
        (Stored::Integer(_), None) => {
            let message = format!(
                "give `{name}` its number: `{name} = 1`; it is what the table holds, so it \
                 must not follow from the order of the states"
            );
            report.at(name, message);
            Value::Text(default_text(name))
        }
        (_, Some(Value::Text(text))) => {
            if text.value().is_empty() {
                report.at(text, format!("a status is never empty; write what the table holds for `{name}`"));
            }
            Value::Text(text.clone())
        }
        (_, Some(Value::Integer(number, word))) => {
            report.at(
                word,
                format!(
                    "statuses are stored as texts here: `{name} = \"{number}\"`; for integers \
                 write `as i16` behind the name of the enum of statuses"
                ),
            );
            Value::Text(default_text(name))
        }
        (_, None) => Value::Text(default_text(name)),
    }
}

fn default_text(name: &Ident) -> LitStr {
    LitStr::new(&snake_case(name), name.span())
}

fn transition(
    step: TransitionSyntax,
    lookup: &Lookup<'_>,
    row: &Row,
    states: &[State],
    report: &mut Report,
) -> Option<Transition> {
    let TransitionSyntax { attrs, name, sources, target, cause } = step;
    let sources = sources.into_iter().filter_map(|word| lookup.state(word, report)).collect();
    let target = lookup.state(target, report)?;
    let cause = cause.map(|CauseSyntax { facts, shared }| {
        let mut found = Vec::new();
        for word in facts {
            match own_fact(&word, &target, states) {
                Some(index) => found.push(Named { index, word }),
                None => report.at(&word, no_cause(&word, &name, &target, row, states)),
            }
        }
        Cause { facts: found, shared }
    });
    Some(Transition { attrs, name, sources, target, cause })
}

/// A cause is what *this* step brings, so it is a fact that the target itself declares.
fn own_fact(word: &Ident, target: &Named, states: &[State]) -> Option<usize> {
    states[target.index].facts.iter().position(|fact| same_name(&fact.name, word))
}

/// Why `word` can not be the cause of a step to `target`.
fn no_cause(word: &Ident, step: &Ident, target: &Named, row: &Row, states: &[State]) -> String {
    let has = |fields: &[Field]| fields.iter().any(|field| same_name(&field.name, word));
    let base = |state: &&State| state.base.as_ref().map(|base| &states[base.index]);
    let state = &states[target.index];
    let mut earlier = std::iter::successors(base(&state), base);
    let known_since = if has(&row.columns) {
        Some(format!("a column of `{}`", row.name))
    } else {
        earlier.find(|state| has(&state.facts)).map(|state| format!("known since `{}`", state.name))
    };
    let target = &target.word;
    match known_since {
        Some(is) => format!(
            "`{word}` is {is}, so it can not tell who asks for \
                 `{step}`; a cause is brought by the step itself: declare it as a fact of \
                 `{target}`"
        ),
        None if state.facts.is_empty() => format!(
            "`{target}` has no facts; declare the cause there: `{target} {{ {word}: \
                 String }}`, or take `by {word}` out"
        ),
        None => {
            let known = known_names(word, state.facts.iter().map(|fact| &fact.name));
            format!("`{word}` is no fact of `{target}`; {known}")
        }
    }
}
