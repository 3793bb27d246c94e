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

use crate::model::Declaration;
use proc_macro2::TokenStream;
use words::Words;

pub(crate) fn expand(declaration: &Declaration) -> TokenStream {
    let words = Words::of(declaration);
    [
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
    .collect()
}
