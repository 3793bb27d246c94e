//! The types that hold data: handle, row, states, the enum of handles, and all facts side by side.

use super::attributes::{derives, doc, docs, documented, visibility};
use super::fields::{text, typed};
use super::words::Words;
use crate::model::{Declaration, Field};
use heck::ToSnakeCase as _;
use proc_macro2::TokenStream;
use quote::quote_spanned;

pub(super) fn data(declaration: &Declaration, words: &Words<'_>) -> TokenStream {
    let states = (0..declaration.states.len()).map(|state| state_struct(declaration, words, state));
    [handle(declaration, words), row(declaration, words)]
        .into_iter()
        .chain(states)
        .chain([any(declaration, words), facts(declaration, words)])
        .collect()
}

// Each type stands at its name in the declaration, or the compiler would point at the whole of it.

fn handle(declaration: &Declaration, words: &Words<'_>) -> TokenStream {
    let Words { krate, s, .. } = words;
    let lifecycle = &declaration.lifecycle;
    let (vis, name) = (&lifecycle.vis, &lifecycle.name);
    let otherwise =
        format!("A row of the table `{}`, known to be in the state `{s}`.", lifecycle.table.value());
    let attributes = documented(&lifecycle.attrs, &otherwise);
    quote_spanned! {name.span()=>
        #attributes
        #vis struct #name<#s>(#krate::__private::Snapshot<#s>);
    }
}

fn row(declaration: &Declaration, words: &Words<'_>) -> TokenStream {
    let row = &declaration.row;
    let (vis, name) = (&row.vis, &row.name);
    let otherwise = format!("What every row of the table `{}` has.", declaration.lifecycle.table.value());
    let (attributes, derives) = (documented(&row.attrs, &otherwise), derives(&row.attrs, name));
    let columns = row.columns.iter().enumerate().map(|(place, column)| {
        let key = if place == 0 { ", the key" } else { "" };
        let otherwise = format!("The column `{}`{key}.", column.column.value());
        field(words, column, &documented(&column.attrs, &otherwise))
    });
    quote_spanned! {name.span()=>
        #attributes
        #derives
        #vis struct #name { #(#columns)* }
    }
}

fn state_struct(declaration: &Declaration, words: &Words<'_>, state: usize) -> TokenStream {
    let row = words.row;
    // Attributes may belong to a derive of the state that declares the fact.
    let facts = declaration.known(state);
    let base = declaration.states[state].base.as_ref();
    let earlier = base.map_or_else(Vec::new, |base| declaration.known(base.index));
    let earlier = earlier.into_iter().map(|fact| field(words, fact, &docs(&fact.attrs, &fact_doc(fact))));
    let state = &declaration.states[state];
    let own = state.facts.iter().map(|fact| field(words, fact, &documented(&fact.attrs, &fact_doc(fact))));
    let (vis, name) = (visibility(declaration, &state.name), &state.name);
    let otherwise = format!("The state `{}` of [`{}`].", text(name), text(words.order));
    let (attributes, derives) = (documented(&state.attrs, &otherwise), derives(&state.attrs, name));
    let doc = doc("The columns that every row has.");
    // `Paid { paid_at }` is as it should be.
    let (prefix, suffix) =
        (format!("{}_", text(name).to_snake_case()), format!("_{}", text(name).to_snake_case()));
    let named_alike =
        facts.iter().any(|fact| text(&fact.name).starts_with(&prefix) || text(&fact.name).ends_with(&suffix));
    let named_alike = named_alike.then(|| quote_spanned!(name.span()=> #[allow(clippy::struct_field_names)]));
    quote_spanned! {name.span()=>
        #attributes
        #derives
        #named_alike
        #vis struct #name {
            #(#earlier)*
            #(#own)*
            #doc
            pub row: #row,
        }
    }
}

fn fact_doc(fact: &Field) -> String {
    format!("The fact `{}`.", text(&fact.name))
}

fn field(words: &Words<'_>, field: &Field, attributes: &TokenStream) -> TokenStream {
    let (name, ty) = (&field.name, typed(words, field));
    quote_spanned!(name.span()=> #attributes pub #name: #ty,)
}

fn any(declaration: &Declaration, words: &Words<'_>) -> TokenStream {
    let Words { order, .. } = words;
    let any = &declaration.any;
    let (vis, name) = (&any.vis, &any.name);
    let otherwise = format!("[`{}`] in whatever state it is.", text(order));
    let attributes = documented(&any.attrs, &otherwise);
    let variants = declaration.states.iter().map(|state| {
        let name = &state.name;
        let docs = docs(&state.attrs, &format!("In the state `{}`.", text(name)));
        quote_spanned!(name.span()=> #docs #name(#order<#name>),)
    });
    quote_spanned! {name.span()=>
        #attributes
        #[allow(clippy::large_enum_variant)]
        #vis enum #name { #(#variants)* }
    }
}

fn facts(declaration: &Declaration, words: &Words<'_>) -> TokenStream {
    let Words { order, facts: name, .. } = words;
    let vis = visibility(declaration, name);
    let doc = doc(&format!("The facts of [`{}`], as far as they are known in its state.", text(order)));
    let columns = declaration.fact_columns();
    let facts = columns.iter().map(|fact| {
        let (name, inner) = (&fact.name, fact.inner());
        let docs = docs(&fact.attrs, &fact_doc(fact));
        quote_spanned!(name.span()=> #docs pub #name: ::core::option::Option<&'a #inner>,)
    });
    // A lifetime must be used, and `facts` answers the same type for every lifecycle.
    let none = columns.is_empty().then(|| generate!(words => _none: ::core::marker::PhantomData<&'a ()>,));
    generate! { words =>
        #doc
        #[derive(
            ::core::fmt::Debug, ::core::clone::Clone, ::core::marker::Copy, ::core::cmp::PartialEq,
        )]
        #[allow(dead_code)]
        #vis struct #name<'a> { #(#facts)* #none }
    }
}
