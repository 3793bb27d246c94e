//! Doc comments and attributes of the user's, and what stands where there are none.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Attribute;

/// All attributes; a doc comment of ours if there is none, so that `missing_docs` holds for users.
pub(super) fn documented(attributes: &[Attribute], otherwise: &str) -> TokenStream {
    let doc = (!attributes.iter().any(is_doc)).then(|| doc(otherwise));
    quote!(#doc #(#attributes)*)
}

/// The doc comments alone, for the second place of a thing; attributes belong to the first.
pub(super) fn docs(attributes: &[Attribute], otherwise: &str) -> TokenStream {
    let mut docs = attributes.iter().filter(|attribute| is_doc(attribute)).peekable();
    let doc = docs.peek().is_none().then(|| doc(otherwise));
    quote!(#doc #(#docs)*)
}

/// One line of documentation.
pub(super) fn doc(text: &str) -> TokenStream {
    let text = format!(" {text}");
    quote!(#[doc = #text])
}

/// `#[derive(…)]` of the traits that rows and states have in any case, without those that the user derives
/// already.
pub(super) fn derives(attributes: &[Attribute]) -> TokenStream {
    let mut own = Vec::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("derive")) {
        // What is no list of paths is left for the compiler to complain about.
        let _ = attribute.parse_nested_meta(|derived| {
            own.extend(derived.path.segments.last().map(|segment| segment.ident.to_string()));
            Ok(())
        });
    }
    let derived = [
        ("Debug", quote!(::core::fmt::Debug)),
        ("Clone", quote!(::core::clone::Clone)),
        ("PartialEq", quote!(::core::cmp::PartialEq)),
    ];
    let missing = derived.iter().filter(|(name, _)| !own.iter().any(|own| own == name));
    let paths: Vec<&TokenStream> = missing.map(|(_, path)| path).collect();
    if paths.is_empty() { TokenStream::new() } else { quote!(#[derive(#(#paths),*)]) }
}

fn is_doc(attribute: &Attribute) -> bool {
    attribute.path().is_ident("doc")
}
