//! How rows and facts go into a database and come out of it, on every database that has their types.

use super::fields::{bound, guards, matched, typed};
use super::state::unused;
use super::words::Words;
use crate::model::{Declaration, Field, State, Stored, same_type};
use proc_macro2::TokenStream;
use syn::{Index, Type};

pub(super) fn stored(declaration: &Declaration, words: &Words<'_>) -> TokenStream {
    let states = declaration.states.iter().enumerate();
    let states = states.map(|(index, state)| of_state(declaration, words, index, state));
    let lifecycle = of_lifecycle(declaration, words);
    let from_row = from_row(words);
    generate!(words => #(#states)* #lifecycle #from_row)
}

fn of_state(declaration: &Declaration, words: &Words<'_>, index: usize, state: &State) -> TokenStream {
    let name = &state.name;
    let words = &words.at(name);
    let Words { krate, any, b, .. } = words;
    let supported = supported(words, state.facts.iter().map(Field::inner));
    let values = (0..state.facts.len()).map(Index::from).map(|place| generate!(words => new.#place));
    let binds = state.facts.iter().zip(values).map(|(fact, value)| bound(words, fact, &value));
    let binds: Vec<(usize, TokenStream)> = binds.enumerate().collect();
    let absent = absent(words, &generate!(words => own));
    let bind_new = matched(words, &generate!(words => own), &binds, &absent);
    let (arguments, new) = match binds.as_slice() {
        [] => (generate!(words => _), unused(words, &state.facts)),
        _ => (generate!(words => arguments), generate!(words => new)),
    };
    let same_fact = same_fact(declaration, words, index);
    generate! { words =>
        #[automatically_derived]
        impl<#b: #krate::Backend> #krate::__private::StoredState<#b> for #name
        where
            #any: #krate::__private::Stored<#b>,
            #supported
        {
            fn bind_new(
                #arguments: &mut #b::Arguments,
                #new: &Self::New,
                own: usize,
            ) -> ::core::result::Result<(), #krate::BoxError> {
                #bind_new
            }

            #same_fact
        }
    }
}

/// Whether a row has the cause of this attempt; other facts are never compared.
fn same_fact(declaration: &Declaration, words: &Words<'_>, index: usize) -> TokenStream {
    let Words { krate, any, b, .. } = words;
    let facts = &declaration.states[index].facts;
    let arms: Vec<(usize, TokenStream)> = declaration
        .causes(index)
        .into_iter()
        .map(|own| {
            let (ty, place) = (facts[own].inner(), Index::from(own));
            let column = Index::from(declaration.fact_column(&facts[own]));
            (own, generate!(words => columns.same_fact::<#ty>(#column, &new.#place)))
        })
        .collect();
    let (columns, new, own) = match arms.as_slice() {
        [] => (generate!(words => _), unused(words, facts), generate!(words => _)),
        _ => (generate!(words => columns), generate!(words => new), generate!(words => own)),
    };
    let compared = matched(
        words,
        &own,
        &arms,
        &generate!(words => ::core::result::Result::Ok(::core::option::Option::None)),
    );
    generate! { words =>
        fn same_fact(
            #columns: &#krate::__private::Columns<'_, #b, #any>,
            #new: &Self::New,
            #own: usize,
        ) -> ::core::result::Result<::core::option::Option<bool>, #krate::Error> {
            #compared
        }
    }
}

fn of_lifecycle(declaration: &Declaration, words: &Words<'_>) -> TokenStream {
    let Words { krate, any, b, .. } = words;
    let version = &declaration.lifecycle.version.ty;
    let columns = declaration.row.columns.iter().map(Field::inner);
    let code = match &declaration.any.stored {
        Stored::Integer(ty) => Some(&**ty),
        _ => None,
    };
    let facts = declaration.facts().map(|(_, fact)| fact.inner());
    let supported = supported(words, columns.chain([version]).chain(code).chain(facts));
    let decode = decode(declaration, words);
    let (decode_state, bind_status) = match code {
        None => (generate!(words => columns.text_state()), generate!(words => bind_text::<#b, Self>)),
        Some(ty) => {
            (generate!(words => columns.code_state::<#ty>()), generate!(words => bind_code::<#b, Self, #ty>))
        }
    };
    let (key, key_type) = (declaration.key(), typed(words, declaration.key()));
    let bind_key = generate!(words => <#b as #krate::Supports<#key_type>>::bind(arguments, key));
    let decode_key = required(words, key, 0);
    let bind_guard = bind_guard(declaration, words);
    let bind_column = bind_column(declaration, words);
    generate! { words =>
        #[automatically_derived]
        impl<#b: #krate::Backend> #krate::__private::Stored<#b> for #any
        where
            #supported
        {
            fn decode(
                columns: &#krate::__private::Columns<'_, #b, Self>,
            ) -> ::core::result::Result<Self, #krate::Error> {
                #decode
            }

            fn decode_key(
                columns: &#krate::__private::Columns<'_, #b, Self>,
            ) -> ::core::result::Result<#key_type, #krate::Error> {
                #decode_key
            }

            fn decode_state(
                columns: &#krate::__private::Columns<'_, #b, Self>,
            ) -> ::core::result::Result<usize, #krate::Error> {
                #decode_state
            }

            fn decode_version(
                columns: &#krate::__private::Columns<'_, #b, Self>,
            ) -> ::core::result::Result<i64, #krate::Error> {
                columns.version::<#version>()
            }

            fn bind_key(
                arguments: &mut #b::Arguments,
                key: &#key_type,
            ) -> ::core::result::Result<(), #krate::BoxError> {
                #bind_key
            }

            #bind_guard
            #bind_column

            fn bind_status(
                arguments: &mut #b::Arguments,
                state: usize,
            ) -> ::core::result::Result<(), #krate::BoxError> {
                #krate::__private::#bind_status(arguments, state)
            }

            fn bind_version(
                arguments: &mut #b::Arguments,
                version: i64,
            ) -> ::core::result::Result<(), #krate::BoxError> {
                #krate::__private::bind_version::<#b, #version>(arguments, version)
            }

            fn version_limit() -> i64 {
                <#version as #krate::__private::Version>::LIMIT
            }
        }
    }
}

/// The row first, then the facts that its status calls for, behind the columns, the status and the version.
fn decode(declaration: &Declaration, words: &Words<'_>) -> TokenStream {
    let Words { row, any, status, .. } = words;
    let columns = &declaration.row.columns;
    let names = columns.iter().map(|column| &column.name);
    let values = columns.iter().enumerate().map(|(place, column)| required(words, column, place));
    let arms = declaration.states.iter().enumerate().map(|(index, state)| {
        let name = &state.name;
        let known = declaration.known(index);
        let facts = known.iter().map(|fact| &fact.name);
        let values =
            known.iter().map(|fact| required(words, fact, columns.len() + 2 + declaration.fact_column(fact)));
        generate! { words =>
            #status::#name => #any::#name(columns.seal(#name { #(#facts: #values?,)* row })?),
        }
    });
    generate! { words =>
        let status = columns.status()?;
        let row = #row { #(#names: #values?,)* };
        ::core::result::Result::Ok(match status { #(#arms)* })
    }
}

fn required(words: &Words<'_>, field: &Field, place: usize) -> TokenStream {
    let (inner, place) = (field.inner(), Index::from(place));
    let read = if field.optional() { generate!(words => optional) } else { generate!(words => required) };
    generate!(words => columns.#read::<#inner>(#place))
}

fn bind_guard(declaration: &Declaration, words: &Words<'_>) -> TokenStream {
    let Words { krate, b, .. } = words;
    let arms: Vec<(usize, TokenStream)> = guards(declaration)
        .enumerate()
        .map(|(place, guard)| {
            let value = Index::from(place);
            (place, bound(words, guard, &generate!(words => guards.#value)))
        })
        .collect();
    let (arguments, guards) = match arms.as_slice() {
        [] => (generate!(words => _), generate!(words => ())),
        _ => (generate!(words => arguments), generate!(words => guards)),
    };
    let bind = matched(words, &generate!(words => guard), &arms, &absent(words, &generate!(words => guard)));
    generate! { words =>
        fn bind_guard(
            #arguments: &mut #b::Arguments,
            #guards: &Self::Guards,
            guard: usize,
        ) -> ::core::result::Result<(), #krate::BoxError> {
            #bind
        }
    }
}

fn bind_column(declaration: &Declaration, words: &Words<'_>) -> TokenStream {
    let Words { krate, row, b, .. } = words;
    let columns = declaration.row.columns.iter().map(|column| {
        let name = &column.name;
        bound(words, column, &generate!(words => row.#name))
    });
    let columns: Vec<(usize, TokenStream)> = columns.enumerate().collect();
    let bind =
        matched(words, &generate!(words => column), &columns, &absent(words, &generate!(words => column)));
    generate! { words =>
        fn bind_column(
            arguments: &mut #b::Arguments,
            row: &#row,
            column: usize,
        ) -> ::core::result::Result<(), #krate::BoxError> {
            #bind
        }
    }
}

fn absent(words: &Words<'_>, place: &TokenStream) -> TokenStream {
    let krate = words.krate;
    generate!(words => ::core::result::Result::Err(#krate::__private::no_such_fact(#place)))
}

/// `B: Supports<i64> + Supports<String>,`, each type once.
fn supported<'a>(words: &Words<'_>, types: impl Iterator<Item = &'a Type>) -> Option<TokenStream> {
    let Words { krate, b, .. } = words;
    let mut distinct: Vec<&Type> = Vec::new();
    for ty in types {
        if !distinct.iter().any(|other| same_type(other, ty)) {
            distinct.push(ty);
        }
    }
    (!distinct.is_empty()).then(|| generate!(words => #b: #(#krate::Supports<#distinct>)+*,))
}

/// Users' own SELECTs.
fn from_row(words: &Words<'_>) -> TokenStream {
    let Words { krate, any, r, .. } = words;
    generate! { words =>
        #[automatically_derived]
        impl<'r, #r> #krate::__private::sqlx::FromRow<'r, #r> for #any
        where
            #r: #krate::__private::sqlx::Row<Database: #krate::Backend<Row = #r>>,
            #any: #krate::__private::Stored<#r::Database>,
        {
            fn from_row(row: &'r #r) -> ::core::result::Result<Self, #krate::__private::sqlx::Error> {
                #krate::__private::from_row::<#r::Database, Self>(row)
            }
        }
    }
}
