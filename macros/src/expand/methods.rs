//! One method per transition, on each state that it may leave and on the enum of handles; and `create`.

use super::attributes::documented;
use super::fields::{parameters, text};
use super::words::Words;
use crate::model::{Declaration, Field, Transition};
use proc_macro2::{Literal, TokenStream};

/// More parameters than that, and clippy finds them too many.
const MANY: usize = 7;

pub(super) fn methods(declaration: &Declaration, words: &Words<'_>) -> TokenStream {
    let Words { order, any, .. } = words;
    let methods: Vec<TokenStream> = declaration
        .transitions
        .iter()
        .enumerate()
        .map(|(place, step)| method(declaration, words, place, step))
        .collect();
    let of_states = declaration.states.iter().enumerate().filter_map(|(index, state)| {
        let create = (index == 0).then(|| create(declaration, words));
        let leaves = |step: &Transition| step.sources.iter().any(|source| source.index == index);
        let steps = declaration.transitions.iter().zip(&methods).filter(|(step, _)| leaves(step));
        let methods: Vec<&TokenStream> = create.iter().chain(steps.map(|(_, method)| method)).collect();
        let name = &state.name;
        (!methods.is_empty()).then(|| {
            generate! { words =>
                #[allow(dead_code)]
                impl #order<#name> { #(#methods)* }
            }
        })
    });
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

fn method(declaration: &Declaration, words: &Words<'_>, place: usize, step: &Transition) -> TokenStream {
    let krate = words.krate;
    let target = &declaration.states[step.target.index];
    let sources: Vec<String> =
        step.sources.iter().map(|source| format!("`{}`", text(&source.word))).collect();
    let otherwise = format!(
        "The transition `{}`: from {} to `{}`.",
        text(&step.name),
        either(&sources),
        text(&target.name),
    );
    let attributes = documented(&step.attrs, &otherwise);
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

/// The new facts as a tuple.
fn new(words: &Words<'_>, facts: &[Field]) -> TokenStream {
    let names = facts.iter().map(|fact| &fact.name);
    generate!(words => (#(#names,)*))
}

fn many(words: &Words<'_>, facts: &[Field]) -> Option<TokenStream> {
    // Beside the facts stands the row, or the handle.
    (facts.len() + 1 > MANY).then(|| generate!(words => #[allow(clippy::too_many_arguments)]))
}

/// `a`, `a or b`, `a, b or c`
fn either(names: &[String]) -> String {
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => names.concat(),
    }
}
