//! Names of states, transitions and generated types, and what the table holds for a state.

use crate::model::{Declaration, Transition, Value, same_name};
use crate::report::Report;
use heck::ToSnakeCase;
use syn::Ident;
use syn::ext::IdentExt;

/// Facts that a step brings, and guards, are tuples; Rust's own traits end at this length.
const MOST_TOGETHER: usize = 12;

/// A set of states, or of transitions, is a 64-bit mask in the main crate.
const MOST: usize = 64;

/// Methods that a transition must not be named after, and what each of them is.
#[rustfmt::skip]
const RESERVED: [(&str, &[&str]); 6] = [
    ("a method of the generated types", &[
        "allows", "amend", "columns", "create", "facts", "find", "from_row", "history", "key", "list", "load", "lock", "row", "status",
        "transitions", "version",
    ]),
    ("what is done with an attempt", &[
        "apply", "apply_in", "apply_with", "begin", "check", "policy", "same",
    ]),
    ("a method of Rust's own traits, which a transition would hide", &[
        "as_mut", "as_ref", "borrow", "borrow_mut", "clone", "clone_from", "cmp", "default", "deref", "deref_mut", "drop", "eq",
        "fmt", "from", "hash", "into", "ne", "partial_cmp", "to_owned", "to_string", "try_from", "try_into", "type_id",
    ]),
    ("a method of serde's traits, which a transition would hide", &["deserialize", "serialize"]),
    ("what the journal calls an entry of its own", &["fence"]),
    ("what a constructor is called, and a handle has none", &["new"]),
];

pub(crate) fn names(declaration: &Declaration, report: &mut Report) {
    limits(declaration, report);
    stored_values(declaration, report);
    shown_texts(declaration, report);
    for (place, step) in declaration.transitions.iter().enumerate() {
        transition(declaration, &declaration.transitions[..place], step, report);
    }
    generated_types(declaration, report);
}

fn limits(declaration: &Declaration, report: &mut Report) {
    if let Some(state) = declaration.states.get(MOST) {
        report.at(
            &state.name,
            format!("a lifecycle has at most {MOST} states; split it into several, or merge some"),
        );
    }
    if let Some(step) = declaration.transitions.get(MOST) {
        let message = format!(
            "a lifecycle has at most {MOST} transitions; one may leave several states: `a | \
             b -> c`"
        );
        report.at(&step.name, message);
    }
    for state in &declaration.states {
        if let Some(fact) = state.facts.get(MOST_TOGETHER) {
            let message = format!(
                "a state adds at most {MOST_TOGETHER} facts; put more in a column of a composite type (JSON), \
                 or make some columns of the row"
            );
            report.at(&fact.name, message);
        }
    }
    let mut guards = declaration.row.columns.iter().filter(|column| column.guard);
    if let Some(guard) = guards.nth(MOST_TOGETHER) {
        report.at(&guard.name, format!("a row has at most {MOST_TOGETHER} guards; take `guard` out"));
    }
}

/// Statuses are told apart by what is stored. Databases may compare texts without case, and without blanks at
/// the end.
fn stored_values(declaration: &Declaration, report: &mut Report) {
    let mut seen: Vec<(String, &Ident)> = Vec::new();
    for state in &declaration.states {
        let (stored, shown) = match &state.value {
            Value::Text(text) => (text.value().trim_end().to_lowercase(), format!("{:?}", text.value())),
            Value::Integer(number, _) => (number.to_string(), number.to_string()),
        };
        match seen.iter().find(|(earlier, _)| *earlier == stored) {
            // Two states of one name have been told so.
            Some((_, earlier)) if same_name(earlier, &state.name) => {}
            Some((_, earlier)) => {
                let message = format!(
                    "`{shown}` is already stored for `{earlier}`, and a database may not \
                         tell the two apart; store another value for `{}`",
                    state.name,
                );
                match &state.value {
                    Value::Text(text) => report.at(text, message),
                    Value::Integer(_, word) => report.at(word, message),
                }
            }
            None => seen.push((stored, &state.name)),
        }
    }
}

/// Where integers are stored, statuses are shown and serialized as texts all the same.
fn shown_texts(declaration: &Declaration, report: &mut Report) {
    let integers = declaration.states.iter().filter(|state| matches!(state.value, Value::Integer(..)));
    let mut seen: Vec<(String, &Ident)> = Vec::new();
    for (text, name) in integers.map(|state| (state.text(), &state.name)) {
        match seen.iter().find(|(earlier, _)| *earlier == text) {
            // Two states of one name have been told so.
            Some((_, earlier)) if same_name(earlier, name) => {}
            Some((_, earlier)) => {
                report.at(name, format!("`{name}` and `{earlier}` are both `{text}` as text; rename one"));
            }
            None => seen.push((text, name)),
        }
    }
}

fn transition(declaration: &Declaration, earlier: &[Transition], step: &Transition, report: &mut Report) {
    let name = &step.name;
    let plain = name.unraw().to_string();
    let variant = step.variant_text();
    if let Some((what, _)) = RESERVED.iter().find(|(_, names)| names.contains(&plain.as_str())) {
        let lifecycle = declaration.lifecycle.name.unraw().to_string().to_snake_case();
        report.at(
            name,
            format!(
                "`{plain}` is {what}, so a transition can not have this name; name it after \
                 what happens, for example `{plain}_{lifecycle}`"
            ),
        );
    } else if earlier.iter().any(|other| same_name(&other.name, name)) {
        report.at(
            name,
            format!(
                "there are two transitions named `{name}`; a transition may leave several \
                 states (`A | B -> C`), else rename one"
            ),
        );
    } else if variant == "Self" || syn::parse_str::<Ident>(&variant).is_err() {
        report.at(
            name,
            format!(
                "`{name}` can not be turned into the name of a variant of `{}`; choose a \
                 name of letters, such as `pay`",
                declaration.transition_enum(),
            ),
        );
    } else if let Some(other) = earlier.iter().find(|other| other.variant_text() == variant) {
        report.at(
            name,
            format!(
                "`{name}` and `{}` are both `{variant}` in `{}`; rename one",
                other.name,
                declaration.transition_enum(),
            ),
        );
    }
}

/// All types of a lifecycle stand in one module.
fn generated_types(declaration: &Declaration, report: &mut Report) {
    let Declaration { lifecycle, row, any, states, .. } = declaration;
    let lifecycle = &lifecycle.name;
    let mut seen = vec![
        (declaration.transition_enum(), "the generated enum of transitions"),
        (declaration.facts_struct(), "the generated struct of facts"),
        (lifecycle.clone(), "the lifecycle"),
    ];
    let named =
        [(&row.name, "the row"), (&any.name, "the enum of handles"), (&any.status, "the enum of statuses")];
    for (name, what) in named.into_iter().chain(states.iter().map(|state| (&state.name, "a state"))) {
        match seen.iter().find(|(other, _)| same_name(other, name)) {
            // Two states of one name have been told so.
            Some((_, "a state")) => {}
            Some((_, other)) => {
                report.at(name, format!("`{name}` is the name of {other} already; {what} needs another one"));
            }
            None => seen.push((name.clone(), what)),
        }
    }
}
