//! One method per transition, on each state that it may leave and on the enum of handles; and `create`.

use super::attributes::documented;
use super::fields::{parameters, text};
use super::words::Words;
use crate::model::{Declaration, Field, State, Transition};
use crate::report::series;
use proc_macro2::{Literal, TokenStream};

/// More parameters than that, and clippy finds them too many.
const MANY: usize = 7;

/// What a transition of the enum of handles does besides.
const ELSEWHERE: &str = "\n\nFrom any other state nothing is written; the outcome says what the row is.";

pub(super) fn methods(declaration: &Declaration, words: &Words<'_>) -> TokenStream {
    let Words { order, any, .. } = words;
    let steps = || declaration.transitions.iter().enumerate();
    let of_states = declaration.states.iter().enumerate().filter_map(|(index, state)| {
        let create = (index == 0).then(|| create(declaration, words));
        let leaving = steps().filter(|(_, step)| step.sources.iter().any(|source| source.index == index));
        let steps = leaving.map(|(place, step)| method(declaration, words, place, step, ""));
        let methods: Vec<TokenStream> = create.into_iter().chain(steps).collect();
        let name = &state.name;
        (!methods.is_empty()).then(|| {
            generate! { words =>
                #[allow(dead_code)]
                impl #order<#name> { #(#methods)* }
            }
        })
    });
    let methods = steps().map(|(place, step)| method(declaration, words, place, step, ELSEWHERE));
    generate! { words =>
        #(#of_states)*

        #[allow(dead_code)]
        impl #any { #(#methods)* }
    }
}

/// The first state is the only one in which a row comes to be.
fn create(declaration: &Declaration, words: &Words<'_>) -> TokenStream {
    let Words { krate, row, .. } = words;
    let first = &declaration.states[0];
    let (name, parameters) = (&first.name, parameters(words, &first.facts));
    let (facts, many) = (new(words, &first.facts), many(words, &first.facts));
    generate! { words =>
        /// A new row in the first state, about to be inserted.
        #many
        pub fn create<'c>(row: #row, #parameters) -> #krate::Attempt<#krate::Creation<'c, #name>> {
            #krate::Attempt::creation(row, #facts)
        }
    }
}

fn method(
    declaration: &Declaration,
    words: &Words<'_>,
    place: usize,
    step: &Transition,
    elsewhere: &str,
) -> TokenStream {
    let krate = words.krate;
    let target = &declaration.states[step.target.index];
    let attributes = documented(&step.attrs, &format!("{}{elsewhere}", documentation(step, target)));
    let (name, to, parameters) = (&step.name, &target.name, parameters(words, &target.facts));
    let (facts, many) = (new(words, &target.facts), many(words, &target.facts));
    let place = Literal::usize_unsuffixed(place);
    generate! { words =>
        #attributes
        #many
        pub fn #name<'c>(self, #parameters) -> #krate::Attempt<#krate::Transition<'c, Self, #to>> {
            #krate::Attempt::transition(self, #place, #facts)
        }
    }
}

/// What a transition does, if the user does not say it.
fn documentation(step: &Transition, target: &State) -> String {
    let sources: Vec<String> = step.sources.iter().map(|source| text(&source.word)).collect();
    let (name, sources, to) = (text(&step.name), series(&sources, "or"), text(&target.name));
    let step_itself = format!("The transition `{name}`: from {sources} to `{to}`");
    match &step.cause {
        Some(cause) => {
            let facts: Vec<String> = cause.facts.iter().map(|fact| text(&fact.word)).collect();
            format!("{step_itself}, caused by {}.", series(&facts, "and"))
        }
        None if target.facts.is_empty() => format!("{step_itself}."),
        None => {
            format!("{step_itself}.\n\nIt has no cause, so every later attempt is taken for a repeat.")
        }
    }
}

/// The new facts as a tuple.
fn new(words: &Words<'_>, facts: &[Field]) -> TokenStream {
    let names = facts.iter().map(|fact| &fact.name);
    generate!(words => (#(#names,)*))
}

fn many(words: &Words<'_>, facts: &[Field]) -> Option<TokenStream> {
    // Beside the facts stands the row, or the handle.
    (facts.len() + 1 > MANY).then(|| generate!(words => #[allow(clippy::too_many_arguments)]))
}
