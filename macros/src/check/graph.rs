//! Where the transitions lead.

use crate::model::{Declaration, Transition};
use crate::report::{Report, list};

pub(crate) fn graph(declaration: &Declaration, report: &mut Report) {
    for step in &declaration.transitions {
        direction(step, report);
        sources(declaration, step, report);
    }
    unreached(declaration, report);
}

/// States are declared in the order in which they may be reached, so a transition points down.
fn direction(step: &Transition, report: &mut Report) {
    let (name, target) = (&step.name, &step.target);
    if target.index == 0 {
        let first = &target.word;
        let message = format!(
            "`{first}` is the first state, in which a row is created, so no transition \
                 leads to it. If another state comes first, declare that one first; for \
                 rework, create a new row that refers to the old one"
        );
        return report.at(first, message);
    }
    for source in &step.sources {
        let (from, to) = (&source.word, &target.word);
        if source.index == target.index {
            report.at(
                from,
                format!(
                    "`{name}` points from `{from}` to itself: a transition moves forward. To \
                     change columns without a new state, amend the row; if something has \
                     happened, give it a state of its own"
                ),
            );
        } else if source.index > target.index {
            report.at(
                to,
                format!(
                    "`{name}` points back from `{from}` to `{to}`: a lifecycle only moves \
                     forward. If `{from}` really comes first, declare it above `{to}`; for \
                     rework, create a new row that refers to the old one"
                ),
            );
        }
    }
}

/// Each source is named once, and has all that the target builds on.
fn sources(declaration: &Declaration, step: &Transition, report: &mut Report) {
    let (name, target) = (&step.name, &step.target.word);
    for (place, source) in step.sources.iter().enumerate() {
        let from = &source.word;
        if step.sources[..place].iter().any(|earlier| earlier.index == source.index) {
            report.at(from, format!("`{name}` names `{from}` twice; keep one"));
            continue;
        }
        let Some(base) = &declaration.states[step.target.index].base else {
            continue;
        };
        // A step that points the wrong way has been told so; what it lacks is of no interest.
        if source.index >= step.target.index || declaration.builds_on(source.index, base.index) {
            continue;
        }
        let known = declaration.branch(source.index);
        let lacking = declaration.branch(base.index).into_iter().filter(|state| !known.contains(state));
        let facts: Vec<_> =
            lacking.flat_map(|state| &declaration.states[state].facts).map(|fact| &fact.name).collect();
        let because = match facts.as_slice() {
            [] => String::new(),
            facts => format!(", and a row in `{from}` lacks {}", list(facts)),
        };
        let built_on = &base.word;
        let free = declaration.states[source.index].base.is_none() && source.index > base.index;
        let build = if free {
            format!("let `{from}` build on `{built_on}` too (`{from}: {built_on}`), ")
        } else {
            String::new()
        };
        let message = format!(
            "`{target}` builds on `{built_on}`, but `{from}` does not{because}. Take `{from}` \
             out of `{name}`, {build}or take `: {built_on}` off `{target}`"
        );
        report.at(from, message);
    }
}

/// All steps point down, so a state is reached if any step leads to it.
fn unreached(declaration: &Declaration, report: &mut Report) {
    for (index, state) in declaration.states.iter().enumerate().skip(1) {
        if !declaration.transitions.iter().any(|step| step.target.index == index) {
            let name = &state.name;
            let first = &declaration.states[0].name;
            report.at(
                name,
                format!(
                    "no transition leads to `{name}`; add one (`name: {first} -> {name};`), \
                     or take the state out"
                ),
            );
        }
    }
}
