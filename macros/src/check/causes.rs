//! What asks for a transition, and whether it can still be told later.

use crate::model::{Cause, Declaration, Field, Transition, last_segment, same_column};
use crate::report::Report;

pub(crate) fn causes(declaration: &Declaration, report: &mut Report) {
    let mut overwritten = Vec::new();
    for step in &declaration.transitions {
        if let Some(cause) = &step.cause {
            written(declaration, step, cause, report);
            kept(declaration, step, cause, &mut overwritten, report);
        }
    }
}

/// A cause is never null, or two rows without one would be taken for one cause, or none; and it comes back as it
/// went in.
fn written(declaration: &Declaration, step: &Transition, cause: &Cause, report: &mut Report) {
    let facts = &declaration.states[step.target.index].facts;
    for (place, named) in cause.facts.iter().enumerate() {
        let (word, target) = (&named.word, &step.target.word);
        if cause.facts[..place].iter().any(|earlier| earlier.index == named.index) {
            report.at(word, format!("`{word}` is named twice; keep one"));
        } else if facts[named.index].optional() {
            report.at(
                word,
                format!(
                    "`{word}` may be null, and then nobody can tell whether `{}` was already \
                     taken for it; take the `Option` off `{word}` in `{target}`, or name \
                     another fact",
                    step.name,
                ),
            );
        } else if let Some(what) = rounded(&facts[named.index]) {
            report.at(
                word,
                format!(
                    "`{word}` is {what}, which a column may round, and then a repeat would look \
                     like another cause; name a fact that comes back unchanged: a text, an \
                     integer or a Uuid"
                ),
            );
        }
    }
}

/// What a fact is whose value a column may round: the cause is compared as the database returned it.
fn rounded(fact: &Field) -> Option<&'static str> {
    match last_segment(&fact.ty)?.ident.to_string().as_str() {
        "f32" | "f64" => Some("a floating-point number"),
        "DateTime" | "NaiveDateTime" | "OffsetDateTime" | "PrimitiveDateTime" | "SystemTime" | "Instant" => {
            Some("a point in time")
        }
        "NaiveTime" | "Time" => Some("a time of day"),
        _ => None,
    }
}

/// Whether `step` was already taken is told by the stored cause, so nothing that may come later writes there.
fn kept(
    declaration: &Declaration,
    step: &Transition,
    cause: &Cause,
    overwritten: &mut Vec<(usize, usize)>,
    report: &mut Report,
) {
    let target = step.target.index;
    let reachable = declaration.reachable(target);
    for named in &cause.facts {
        let fact = &declaration.states[target].facts[named.index];
        for (later, state) in declaration.states.iter().enumerate() {
            // A state that builds on the target and repeats its fact has been told so.
            if !reachable[later] || declaration.builds_on(later, target) {
                continue;
            }
            for (place, other) in state.facts.iter().enumerate() {
                // Several steps into one state have the same cause; one mistake is told once.
                if same_column(&other.column, &fact.column) && !overwritten.contains(&(later, place)) {
                    overwritten.push((later, place));
                    report.at(
                        &other.name,
                        format!(
                            "`{}` tells whether `{}` was already taken, and `{}` would \
                             overwrite it; give it a column of its own",
                            fact.column.value(),
                            step.name,
                            state.name,
                        ),
                    );
                }
            }
        }
    }
}
