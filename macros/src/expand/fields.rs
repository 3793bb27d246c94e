//! Columns and facts, as they stand in types, parameters and expressions.

use super::words::Words;
use crate::model::{Declaration, Field};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Index, Type};

/// The type of the field. `Option` is meant as the compiler means it, whatever the user calls so.
pub(super) fn typed(words: &Words<'_>, field: &Field) -> TokenStream {
    if field.optional() {
        let inner = field.inner();
        generate!(words => ::core::option::Option<#inner>)
    } else {
        field.ty.to_token_stream()
    }
}

// Parameters have the users' names *and* their hygiene, so that a fact called `row` is not our `row`.

/// `trade_no: String, paid_at: DateTime<Utc>,`
pub(super) fn parameters(words: &Words<'_>, fields: &[Field]) -> TokenStream {
    let (names, types) = (fields.iter().map(|fact| &fact.name), fields.iter().map(|fact| typed(words, fact)));
    generate!(words => #(#names: #types,)*)
}

/// `id: impl Into<i64>, tenant_id: impl Into<i64>,`
pub(super) fn convertible<'a>(
    words: &Words<'_>,
    fields: impl Iterator<Item = &'a Field> + Clone,
) -> TokenStream {
    let (names, types) =
        (fields.clone().map(|column| &column.name), fields.map(|column| typed(words, column)));
    generate!(words => #(#names: impl ::core::convert::Into<#types>,)*)
}

/// `Into::into(id)`
pub(super) fn converted(words: &Words<'_>, field: &Field) -> TokenStream {
    let name = &field.name;
    generate!(words => ::core::convert::Into::into(#name))
}

/// The columns that join every `WHERE`.
pub(super) fn guards(declaration: &Declaration) -> impl Iterator<Item = &Field> + Clone {
    declaration.row.columns.iter().filter(|column| column.guard)
}

/// The name as text, without `r#`.
pub(super) fn text(name: &Ident) -> String {
    name.unraw().to_string()
}

/// `map.serialize_entry("id", &row.id)?; map.serialize_entry("note", &row.note)`
///
/// Each stands at the type of its field, so that a type that cannot be serialized is underlined.
pub(super) fn serialized<'a>(
    words: &Words<'_>,
    of: &str,
    fields: impl IntoIterator<Item = &'a Field>,
) -> TokenStream {
    let entries = fields.into_iter().map(|field| {
        let span = field.ty.span().resolved_at(Span::mixed_site());
        let (of, mut name, key) = (Ident::new(of, span), field.name.clone(), text(&field.name));
        name.set_span(span);
        quote_spanned!(span=> map.serialize_entry(#key, &#of.#name))
    });
    let entries: Vec<TokenStream> = entries.collect();
    if let Some((last, rest)) = entries.split_last() {
        generate!(words => #(#rest?;)* #last)
    } else {
        generate!(words => ::core::result::Result::Ok(()))
    }
}

/// `match own { 0 => …, _ => … }`, or just the last if there are no others.
pub(super) fn matched(
    words: &Words<'_>,
    value: &TokenStream,
    arms: &[(usize, TokenStream)],
    otherwise: &TokenStream,
) -> TokenStream {
    if arms.is_empty() {
        return otherwise.clone();
    }
    let places = arms.iter().map(|(place, _)| Index::from(*place));
    let results = arms.iter().map(|(_, result)| result);
    generate!(words => match #value { #(#places => #results,)* _ => #otherwise })
}

/// Binds a value: `<B as Supports<String>>::bind(arguments, &row.note)`.
pub(super) fn bound(words: &Words<'_>, field: &Field, value: &TokenStream) -> TokenStream {
    let Words { krate, b, .. } = words;
    let inner: &Type = field.inner();
    let bind = if field.optional() { generate!(words => bind_option) } else { generate!(words => bind) };
    generate!(words => <#b as #krate::Supports<#inner>>::#bind(arguments, &#value))
}
