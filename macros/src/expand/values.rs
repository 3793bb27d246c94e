//! Statuses and transitions as values.

use super::attributes::{doc, visibility};
use super::fields::text;
use super::words::Words;
use crate::model::{Declaration, Stored, Value};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote_spanned;

pub(super) fn values(declaration: &Declaration, words: &Words<'_>) -> TokenStream {
    let statuses = statuses(declaration, words);
    let transitions = transitions(declaration, words);
    generate!(words => #statuses #transitions)
}

fn statuses(declaration: &Declaration, words: &Words<'_>) -> TokenStream {
    let Words { krate, order, status, .. } = words;
    let summary = format!("The status of [`{}`].", text(order));
    let variants: Vec<(&Ident, String)> = declaration
        .states
        .iter()
        .map(|state| match &state.value {
            Value::Text(text) => (&state.name, format!("Stored as `{:?}`.", text.value())),
            Value::Integer(number, _) => (&state.name, format!("Stored as `{number}`.")),
        })
        .collect();
    let (names, texts): (Vec<&Ident>, Vec<String>) =
        declaration.states.iter().map(|state| (&state.name, state.text())).unzip();
    let definition = definition(declaration, status, &summary, &variants);
    let common = common(words, status, &names, &texts, "The status as text.");
    let code = code(declaration, words);
    generate! { words =>
        #definition
        #common
        #code

        #[automatically_derived]
        impl ::core::convert::AsRef<str> for #status {
            fn as_ref(&self) -> &str {
                self.as_str()
            }
        }

        #[automatically_derived]
        impl ::core::convert::From<#status> for &'static str {
            fn from(status: #status) -> Self {
                status.as_str()
            }
        }

        #[automatically_derived]
        impl ::core::str::FromStr for #status {
            type Err = #krate::__private::strum::ParseError;

            fn from_str(text: &str) -> ::core::result::Result<Self, Self::Err> {
                match text {
                    #(#texts => ::core::result::Result::Ok(#status::#names),)*
                    _ => ::core::result::Result::Err(
                        #krate::__private::strum::ParseError::VariantNotFound,
                    ),
                }
            }
        }
    }
    .into_iter()
    .chain(serde(words))
    .collect()
}

/// A status is written and read by its text.
fn serde(words: &Words<'_>) -> TokenStream {
    let Words { krate, status, z, .. } = words;
    generate! { words =>
        #[automatically_derived]
        impl #krate::__private::serde::Serialize for #status {
            fn serialize<#z: #krate::__private::serde::Serializer>(
                &self,
                serializer: #z,
            ) -> ::core::result::Result<#z::Ok, #z::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        #[automatically_derived]
        impl<'de> #krate::__private::serde::Deserialize<'de> for #status {
            fn deserialize<#z: #krate::__private::serde::Deserializer<'de>>(
                deserializer: #z,
            ) -> ::core::result::Result<Self, #z::Error> {
                #krate::__private::deserialize_name(deserializer)
            }
        }
    }
}

/// What is stored for a status, where that is no text.
fn code(declaration: &Declaration, words: &Words<'_>) -> Option<TokenStream> {
    let status = words.status;
    let Stored::Integer(ty) = &declaration.any.stored else { return None };
    let arms = declaration.states.iter().filter_map(|state| {
        let Value::Integer(number, _) = &state.value else { return None };
        let (name, number) = (&state.name, Literal::i128_unsuffixed(*number));
        Some(generate!(words => #status::#name => #number,))
    });
    Some(generate! { words =>
        impl #status {
            /// The status as it is stored.
            pub const fn code(self) -> #ty {
                match self { #(#arms)* }
            }
        }
    })
}

fn transitions(declaration: &Declaration, words: &Words<'_>) -> TokenStream {
    let Words { order, transition, .. } = words;
    let summary = format!("A transition of [`{}`].", text(order));
    let names: Vec<Ident> =
        declaration.transitions.iter().map(super::super::model::Transition::variant).collect();
    let texts: Vec<String> = declaration.transitions.iter().map(|step| text(&step.name)).collect();
    let docs = texts.iter().map(|text| format!("`{text}`"));
    let variants: Vec<(&Ident, String)> = names.iter().zip(docs).collect();
    let names: Vec<&Ident> = names.iter().collect();
    let definition = definition(declaration, transition, &summary, &variants);
    let common = common(words, transition, &names, &texts, "The name of the transition.");
    // Not everybody asks for buttons.
    generate!(words => #[allow(dead_code)] #definition #common)
}

fn definition(
    declaration: &Declaration,
    name: &Ident,
    summary: &str,
    variants: &[(&Ident, String)],
) -> TokenStream {
    let vis = visibility(declaration, name);
    let summary = doc(summary);
    let docs = variants.iter().map(|(_, text)| doc(text));
    let names = variants.iter().map(|(name, _)| name);
    quote_spanned! {name.span()=>
        #summary
        #[derive(
            ::core::fmt::Debug, ::core::clone::Clone, ::core::marker::Copy,
            ::core::cmp::PartialEq, ::core::cmp::Eq, ::core::cmp::PartialOrd, ::core::cmp::Ord,
            ::core::hash::Hash,
        )]
        #vis enum #name { #(#docs #names,)* }
    }
}

/// What statuses and transitions have in common.
fn common(words: &Words<'_>, name: &Ident, variants: &[&Ident], texts: &[String], what: &str) -> TokenStream {
    let (krate, what) = (words.krate, doc(what));
    generate! { words =>
        impl #name {
            #what
            pub const fn as_str(self) -> &'static str {
                match self { #(#name::#variants => #texts,)* }
            }
        }

        #[automatically_derived]
        impl #krate::__private::strum::VariantArray for #name {
            const VARIANTS: &'static [Self] = &[#(#name::#variants),*];
        }

        #[automatically_derived]
        impl ::core::fmt::Display for #name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.pad(self.as_str())
            }
        }
    }
}
