//! What the main crate asks of each state.

use super::fields::{matched, serialized, typed};
use super::words::Words;
use crate::model::{Declaration, Field, State};
use proc_macro2::TokenStream;
use std::collections::BTreeSet;
use syn::Index;

pub(super) fn states(declaration: &Declaration, words: &Words<'_>) -> TokenStream {
    let states = declaration.states.iter().enumerate();
    states.map(|(index, state)| implementation(declaration, words, index, state)).collect()
}

fn implementation(declaration: &Declaration, words: &Words<'_>, index: usize, state: &State) -> TokenStream {
    let name = &state.name;
    let words = &words.at(name);
    let Words { krate, order, row, any, status, m, .. } = words;
    let place = Index::from(index);
    let new = state.facts.iter().map(|fact| typed(words, fact));
    // Where there is but one state, nothing is left for a second arm.
    let several = declaration.states.len() > 1;
    let none = several.then(|| generate!(words => _ => ::core::option::Option::None,));
    let other = several.then(|| generate!(words => other => ::core::result::Result::Err(other),));
    let land = land(declaration, words, index, state);
    let start = start(words, index, state);
    let fact_text = fact_text(declaration, words, index);
    let known = declaration.known(index);
    let map = if known.is_empty() { generate!(words => _) } else { generate!(words => map) };
    let entries = serialized(words, "self", known);
    generate! { words =>
        #[automatically_derived]
        impl #krate::State for #name {
            type Any = #any;
            type Handle = #order<Self>;
            type New = (#(#new,)*);
            const STATUS: #status = #status::#name;
            const INDEX: usize = #place;

            fn row(&self) -> &#row {
                &self.row
            }

            fn wrap(snapshot: #krate::__private::Snapshot<Self>) -> #order<Self> {
                #order(snapshot)
            }

            fn view(any: &#any) -> ::core::option::Option<&#order<Self>> {
                match any {
                    #any::#name(order) => ::core::option::Option::Some(order),
                    #none
                }
            }

            fn narrow(any: #any) -> ::core::result::Result<#order<Self>, #any> {
                match any {
                    #any::#name(order) => ::core::result::Result::Ok(order),
                    #other
                }
            }

            fn widen(order: #order<Self>) -> #any {
                #any::#name(order)
            }

            #land
            #start
            #fact_text

            fn serialize_facts<#m: #krate::__private::serde::ser::SerializeMap>(
                &self,
                #map: &mut #m,
            ) -> ::core::result::Result<(), #m::Error> {
                #entries
            }
        }
    }
}

/// What is known after a step into this state: what its base knew, from any source, and the new facts.
fn land(declaration: &Declaration, words: &Words<'_>, index: usize, state: &State) -> TokenStream {
    let Words { any, .. } = words;
    let into = declaration.transitions.iter().filter(|step| step.target.index == index);
    let sources: BTreeSet<usize> = into.flat_map(|step| &step.sources).map(|source| source.index).collect();
    if sources.is_empty() {
        let new = unused(words, &state.facts);
        return generate! { words =>
            fn land(_: #any, #new: Self::New) -> ::core::option::Option<Self> {
                ::core::option::Option::None
            }
        };
    }
    let name = &state.name;
    let known = match &state.base {
        Some(base) => declaration.known(base.index),
        None => Vec::new(),
    };
    let kept: Vec<_> = known.into_iter().map(|fact| &fact.name).collect();
    let arms = sources.into_iter().map(|source| {
        let source = &declaration.states[source].name;
        let new = new_fields(words, &state.facts);
        generate! { words =>
            #any::#source(order) => {
                let known = order.0.into_data();
                ::core::option::Option::Some(#name {
                    #(#kept: known.#kept,)*
                    #new
                    row: known.row,
                })
            }
        }
    });
    let new = if state.facts.is_empty() { unused(words, &state.facts) } else { generate!(words => new) };
    // A state is never its own source, so there is another.
    generate! { words =>
        fn land(from: #any, #new: Self::New) -> ::core::option::Option<Self> {
            match from {
                #(#arms)*
                _ => ::core::option::Option::None,
            }
        }
    }
}

/// The first state is the only one in which a row comes to be.
fn start(words: &Words<'_>, index: usize, state: &State) -> TokenStream {
    let Words { row, .. } = words;
    let none = unused(words, &state.facts);
    if index > 0 {
        return generate! { words =>
            fn start(_: #row, #none: Self::New) -> ::core::option::Option<Self> {
                ::core::option::Option::None
            }
        };
    }
    let (name, fields) = (&state.name, new_fields(words, &state.facts));
    let new = if state.facts.is_empty() { none } else { generate!(words => new) };
    generate! { words =>
        fn start(row: #row, #new: Self::New) -> ::core::option::Option<Self> {
            ::core::option::Option::Some(#name { #fields row })
        }
    }
}

/// A cause as text; other facts are never asked for.
fn fact_text(declaration: &Declaration, words: &Words<'_>, index: usize) -> TokenStream {
    let Words { krate, .. } = words;
    let arms: Vec<(usize, TokenStream)> = declaration
        .causes(index)
        .into_iter()
        .map(|fact| {
            let place = Index::from(fact);
            (fact, generate!(words => #krate::__private::text(&new.#place)))
        })
        .collect();
    let (new, own) = match arms.as_slice() {
        [] => (unused(words, &declaration.states[index].facts), generate!(words => _)),
        _ => (generate!(words => new), generate!(words => own)),
    };
    let text = matched(words, &own, &arms, &generate!(words => ::std::string::String::new()));
    generate! { words =>
        fn fact_text(#new: &Self::New, #own: usize) -> ::std::string::String {
            #text
        }
    }
}

/// `tracking_no: new.0,`. The facts are taken by their places, since a variable could be called as they are.
fn new_fields(words: &Words<'_>, facts: &[Field]) -> TokenStream {
    let names = facts.iter().map(|fact| &fact.name);
    let places = (0..facts.len()).map(Index::from);
    generate!(words => #(#names: new.#places,)*)
}

/// The pattern for new facts that nobody needs.
pub(super) fn unused(words: &Words<'_>, facts: &[Field]) -> TokenStream {
    if facts.is_empty() { generate!(words => ()) } else { generate!(words => _) }
}
