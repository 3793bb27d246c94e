//! The declaration becomes plain Rust: types, methods, and what the main crate asks of them. No SQL, no
//! decisions.
//!
//! Every path is absolute, or goes through the path of the main crate, so that users may call a state `Some`
//! and a type `Result`.

/// `quote!` with the hygiene of `macro_rules!`: local variables of the output and names of the user's do not
/// meet, and the output keeps to the edition of this crate.
macro_rules! generate {
    ($words:ident => $($tokens:tt)*) => { ::quote::quote_spanned! { $words.site=> $($tokens)* } };
}

mod attributes;
mod data;
mod describe;
mod fields;
mod handle;
mod methods;
mod reading;
mod state;
mod stored;
mod values;
mod words;

use crate::attribute::deprecated;
use crate::model::Declaration;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use words::Words;

pub(crate) fn expand(declaration: &Declaration) -> TokenStream {
    let words = Words::of(declaration);
    let items = [
        data::data,
        methods::methods,
        reading::reading,
        values::values,
        handle::handle,
        describe::describe,
        state::states,
        stored::stored,
    ]
    .map(|part| part(declaration, &words))
    .into_iter()
    .collect();
    if deprecates(declaration) { allow_deprecated(&words, items) } else { items }
}

/// Whether the user deprecates a type or a field; what is written here uses all of them.
fn deprecates(declaration: &Declaration) -> bool {
    let Declaration { lifecycle, row, any, states, .. } = declaration;
    let types = [&lifecycle.attrs, &row.attrs, &any.attrs];
    let fields = row.columns.iter().chain(states.iter().flat_map(|state| &state.facts));
    let attributes = types.into_iter().chain(states.iter().map(|state| &state.attrs));
    attributes.chain(fields.map(|field| &field.attrs)).any(|attributes| deprecated(attributes))
}

/// Puts `#[allow(deprecated)]` before each item.
fn allow_deprecated(words: &Words<'_>, items: TokenStream) -> TokenStream {
    let mut begins = true;
    let items = items.into_iter().map(|token| {
        let allow = begins.then(|| generate!(words => #[allow(deprecated)]));
        // An item ends with its braces, or with a `;`.
        begins = match &token {
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            TokenTree::Punct(punct) => punct.as_char() == ';',
            _ => false,
        };
        generate!(words => #allow #token)
    });
    items.collect()
}
