//! The declaration as data, from which the main crate derives everything else, and the trait that carries it.

use super::fields::{guards, serialized, text, typed};
use super::words::Words;
use crate::model::{Declaration, Field, State, Stored, Transition, Value};
use crate::report::written;
use proc_macro2::{Literal, TokenStream};

pub(super) fn describe(declaration: &Declaration, words: &Words<'_>) -> TokenStream {
    let Words { krate, row, any, status, transition, m, .. } = words;
    let (key, key_type) = (&declaration.key().name, typed(words, declaration.key()));
    let guard_names: Vec<_> = guards(declaration).map(|guard| &guard.name).collect();
    let guard_types = guards(declaration).map(|guard| typed(words, guard));
    let description = description(declaration, words);
    let copy = copy(declaration, words);
    let with_row = with_row(declaration, words);
    let entries = serialized(words, "row", &declaration.row.columns);
    generate! { words =>
        #[automatically_derived]
        impl #krate::Lifecycle for #any {
            type Key = #key_type;
            type Row = #row;
            type Status = #status;
            type Transition = #transition;
            type Guards = (#(#guard_types,)*);

            const DESCRIPTION: &'static #krate::Description = &#description;

            fn status(&self) -> #status {
                #any::status(self)
            }

            fn version(&self) -> i64 {
                #any::version(self)
            }

            fn row(&self) -> &#row {
                self
            }

            fn key(&self) -> &#key_type {
                &self.#key
            }

            fn state(&self) -> usize {
                #any::status(self) as usize
            }

            fn key_of(row: &#row) -> &#key_type {
                &row.#key
            }

            fn same_place(a: &#row, b: &#row) -> bool {
                a.#key == b.#key #(&& a.#guard_names == b.#guard_names)*
            }

            fn place_of(row: &#row) -> ::std::vec::Vec<::std::string::String> {
                ::std::vec![
                    #krate::__private::text(&row.#key),
                    #(#krate::__private::text(&row.#guard_names),)*
                ]
            }

            fn copy(&self, seal: #krate::__private::Seal) -> Self {
                #copy
            }

            fn with_row(self, row: #row, seal: #krate::__private::Seal) -> Self {
                #with_row
            }

            fn statements(
                dialect: #krate::__private::Dialect,
            ) -> &'static #krate::__private::Statements {
                static STATEMENTS: #krate::__private::StatementCache = #krate::__private::StatementCache::new();
                STATEMENTS.get(<Self as #krate::Lifecycle>::DESCRIPTION, dialect)
            }

            fn serialize_row<#m: #krate::__private::serde::ser::SerializeMap>(
                row: &#row,
                map: &mut #m,
            ) -> ::core::result::Result<(), #m::Error> {
                #entries
            }
        }
    }
}

fn description(declaration: &Declaration, words: &Words<'_>) -> TokenStream {
    let krate = words.krate;
    let lifecycle = &declaration.lifecycle;
    let (name, table) = (text(&lifecycle.name), &lifecycle.table);
    let (status, version) = (&lifecycle.status, &lifecycle.version.column);
    let status_type = match &declaration.any.stored {
        Stored::Text => generate!(words => Text),
        Stored::Integer(ty) => {
            let ty = written(ty);
            generate!(words => Integer(#ty))
        }
        Stored::Enum(name) => generate!(words => Enum(#name)),
    };
    let updated_at = optional(words, lifecycle.updated_at.as_ref());
    let journal = optional(words, declaration.journal.as_ref());
    let columns = declaration.row.columns.iter().map(|column| self::column(words, column));
    let facts = declaration.fact_columns().into_iter().map(|fact| self::fact(words, fact));
    let infos = declaration.states.iter().enumerate();
    let infos = infos.map(|(index, state)| self::state(declaration, words, index, state));
    let transitions = declaration.transitions.iter().map(|step| transition(words, step));
    generate! { words =>
        #krate::Description {
            name: #name,
            table: #table,
            columns: &[#(#columns),*],
            status: #status,
            status_type: #krate::StatusType::#status_type,
            version: #version,
            updated_at: #updated_at,
            facts: &[#(#facts),*],
            states: &[#(#infos),*],
            transitions: &[#(#transitions),*],
            journal: #journal,
        }
    }
}

fn column(words: &Words<'_>, field: &Field) -> TokenStream {
    let krate = words.krate;
    let (name, column, ty) = (text(&field.name), &field.column, written(&field.ty));
    let (unique, guard) = (field.unique, field.guard);
    generate!(words => #krate::Column { field: #name, column: #column, rust_type: #ty, unique: #unique, guard: #guard })
}

fn fact(words: &Words<'_>, field: &Field) -> TokenStream {
    let krate = words.krate;
    let (name, column, ty) = (text(&field.name), &field.column, written(&field.ty));
    let (optional, unique) = (field.optional(), field.unique);
    generate!(words => #krate::Fact { field: #name, column: #column, rust_type: #ty, optional: #optional, unique: #unique })
}

fn state(declaration: &Declaration, words: &Words<'_>, index: usize, state: &State) -> TokenStream {
    let krate = words.krate;
    let (name, stored) = (text(&state.name), state.text());
    let code = match &state.value {
        Value::Text(_) => None,
        Value::Integer(number, _) => Some(Literal::i128_unsuffixed(*number)),
    };
    let code = optional(words, code);
    let place = |fact: &Field| Literal::usize_unsuffixed(declaration.fact_column(fact));
    let own = state.facts.iter().map(place);
    let known = declaration.known(index).into_iter().map(place);
    generate!(words => #krate::StateInfo { name: #name, text: #stored, code: #code, own: &[#(#own),*], known: &[#(#known),*] })
}

fn transition(words: &Words<'_>, step: &Transition) -> TokenStream {
    let krate = words.krate;
    let name = text(&step.name);
    let from = step.sources.iter().map(|source| Literal::usize_unsuffixed(source.index));
    let to = Literal::usize_unsuffixed(step.target.index);
    let by = step.cause.iter().flat_map(|cause| &cause.facts);
    let by = by.map(|fact| Literal::usize_unsuffixed(fact.index));
    let shared = step.cause.as_ref().is_some_and(|cause| cause.shared);
    generate!(words => #krate::TransitionInfo { name: #name, from: &[#(#from),*], to: #to, by: &[#(#by),*], shared: #shared })
}

fn optional(words: &Words<'_>, value: Option<impl quote::ToTokens>) -> TokenStream {
    if let Some(value) = value {
        generate!(words => ::core::option::Option::Some(#value))
    } else {
        generate!(words => ::core::option::Option::None)
    }
}

/// The same handle again, for an attempt that may still need its own.
fn copy(declaration: &Declaration, words: &Words<'_>) -> TokenStream {
    let Words { order, any, .. } = words;
    let arms = declaration.states.iter().map(|state| {
        let name = &state.name;
        generate!(words => #any::#name(order) => #any::#name(#order(order.0.copy(seal))),)
    });
    generate!(words => match self { #(#arms)* })
}

/// The handle after its row was amended.
fn with_row(declaration: &Declaration, words: &Words<'_>) -> TokenStream {
    let Words { order, any, .. } = words;
    let arms = declaration.states.iter().enumerate().map(|(index, state)| {
        let name = &state.name;
        // All that a state without facts has is the row.
        let change = if declaration.known(index).is_empty() {
            generate!(words => |_| #name { row })
        } else {
            generate!(words => |data| #name { row, ..data })
        };
        generate!(words => #any::#name(order) => #any::#name(#order(order.0.next(#change, seal))),)
    });
    generate!(words => match self { #(#arms)* })
}
