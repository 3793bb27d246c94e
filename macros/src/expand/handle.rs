//! The traits of handles: read through `Deref`, shown, serialized, widened and narrowed.

use super::words::Words;
use crate::model::Declaration;
use proc_macro2::TokenStream;
use syn::Ident;

pub(super) fn handle(declaration: &Declaration, words: &Words<'_>) -> TokenStream {
    let states: Vec<&Ident> = declaration.states.iter().map(|state| &state.name).collect();
    let deref = deref(words, &states);
    let shown = shown(words, &states);
    let converted = converted(words);
    let sources = sources(words);
    generate!(words => #deref #shown #converted #sources)
}

fn deref(words: &Words<'_>, states: &[&Ident]) -> TokenStream {
    let Words { order, row, any, s, .. } = words;
    let of_states = states.iter().map(|state| {
        let words = words.at(state);
        generate! { words =>
            #[automatically_derived]
            impl ::core::ops::Deref for #state {
                type Target = #row;

                fn deref(&self) -> &#row {
                    &self.row
                }
            }
        }
    });
    generate! { words =>
        #[automatically_derived]
        impl<#s> ::core::ops::Deref for #order<#s> {
            type Target = #s;

            fn deref(&self) -> &#s {
                self.0.data()
            }
        }

        #(#of_states)*

        #[automatically_derived]
        impl ::core::ops::Deref for #any {
            type Target = #row;

            fn deref(&self) -> &#row {
                match self { #(#any::#states(order) => &order.row,)* }
            }
        }
    }
}

fn shown(words: &Words<'_>, states: &[&Ident]) -> TokenStream {
    let Words { krate, order, any, s, z, .. } = words;
    generate! { words =>
        #[automatically_derived]
        impl<#s: #krate::State<Any = #any>> ::core::fmt::Debug for #order<#s> {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #krate::__private::debug_handle::<#any>(
                    f, #s::INDEX, self.0.data().row(), self.0.version(),
                )
            }
        }

        #[automatically_derived]
        impl ::core::fmt::Debug for #any {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #krate::__private::debug_handle::<#any>(
                    f, self.status() as usize, self, self.version(),
                )
            }
        }

        #[automatically_derived]
        impl<#s: #krate::State<Any = #any, Handle = Self>> #krate::__private::serde::Serialize
        for #order<#s> {
            fn serialize<#z: #krate::__private::serde::Serializer>(
                &self,
                serializer: #z,
            ) -> ::core::result::Result<#z::Ok, #z::Error> {
                #krate::__private::serialize_handle(
                    self.status().as_str(), self.version(), self.0.data(), serializer,
                )
            }
        }

        #[automatically_derived]
        impl #krate::__private::serde::Serialize for #any {
            fn serialize<#z: #krate::__private::serde::Serializer>(
                &self,
                serializer: #z,
            ) -> ::core::result::Result<#z::Ok, #z::Error> {
                match self {
                    #(#any::#states(order) => {
                        #krate::__private::serde::Serialize::serialize(order, serializer)
                    })*
                }
            }
        }
    }
}

fn converted(words: &Words<'_>) -> TokenStream {
    let Words { krate, order, any, s, .. } = words;
    generate! { words =>
        #[automatically_derived]
        impl<#s: #krate::State<Any = #any, Handle = #order<#s>>> ::core::convert::From<#order<#s>>
        for #any {
            fn from(order: #order<#s>) -> Self {
                #s::widen(order)
            }
        }

        #[automatically_derived]
        impl<#s: #krate::State<Any = #any, Handle = #order<#s>>> ::core::convert::TryFrom<#any>
        for #order<#s> {
            type Error = #any;

            fn try_from(any: #any) -> ::core::result::Result<Self, #any> {
                #s::narrow(any)
            }
        }
    }
}

/// What an attempt may start from.
fn sources(words: &Words<'_>) -> TokenStream {
    let Words { krate, order, any, row, s, .. } = words;
    generate! { words =>
        #[automatically_derived]
        impl<#s: #krate::State<Any = #any, Handle = Self>> #krate::Handle for #order<#s> {
            type Any = #any;
        }

        #[automatically_derived]
        impl #krate::Handle for #any {
            type Any = Self;
        }

        #[automatically_derived]
        impl<#s: #krate::State<Any = #any, Handle = Self>> #krate::__private::Source for #order<#s> {
            fn stands(&self) -> (&#row, i64) {
                (self.0.data().row(), self.0.version())
            }

            fn view(any: &#any) -> ::core::option::Option<&Self> {
                #s::view(any)
            }

            fn narrow(any: #any) -> ::core::result::Result<Self, #any> {
                #s::narrow(any)
            }

            fn widen(self) -> #any {
                #s::widen(self)
            }
        }

        #[automatically_derived]
        impl #krate::__private::Source for #any {
            fn stands(&self) -> (&#row, i64) {
                (self, #any::version(self))
            }

            fn view(any: &#any) -> ::core::option::Option<&Self> {
                ::core::option::Option::Some(any)
            }

            fn narrow(any: #any) -> ::core::result::Result<Self, #any> {
                ::core::result::Result::Ok(any)
            }

            fn widen(self) -> #any {
                self
            }
        }
    }
}
