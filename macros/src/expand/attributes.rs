//! Doc comments, attributes and visibilities of the user's, and what stands where there are none.

use crate::attribute::derived;
use crate::model::Declaration;
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
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

/// Documentation, line by line.
pub(super) fn doc(text: &str) -> TokenStream {
    let lines = text.lines().map(|line| if line.is_empty() { String::new() } else { format!(" {line}") });
    lines.map(|line| quote!(#[doc = #line])).collect()
}

/// The visibility of the enum of handles, for another item. It stands at the name of that item, since the compiler
/// underlines an item from its `pub` on; and it is not the user's own, whom no lint shall tell to change it there.
pub(super) fn visibility(declaration: &Declaration, name: &Ident) -> TokenStream {
    moved(declaration.any.vis.to_token_stream(), name.span().resolved_at(Span::mixed_site()))
}

fn moved(tokens: TokenStream, span: Span) -> TokenStream {
    let moved = |mut token: TokenTree| {
        match &mut token {
            TokenTree::Group(group) => *group = Group::new(group.delimiter(), moved(group.stream(), span)),
            // Which crate it means is told by its span.
            TokenTree::Ident(word) if *word == "$crate" => return token,
            _ => {}
        }
        token.set_span(span);
        token
    };
    tokens.into_iter().map(moved).collect()
}

/// `#[derive(…)]` of the traits that rows and states have in any case, without those that the user derives
/// already; they stand at the name.
pub(super) fn derives(attributes: &[Attribute], name: &Ident) -> TokenStream {
    let span = name.span().resolved_at(Span::mixed_site());
    let own = attributes.iter().flat_map(|attribute| derived(&attribute.meta));
    let own: Vec<String> =
        own.filter_map(|path| path.segments.last().map(|segment| segment.ident.to_string())).collect();
    let anyway = [
        ("Debug", quote_spanned!(span=> ::core::fmt::Debug)),
        ("Clone", quote_spanned!(span=> ::core::clone::Clone)),
        ("PartialEq", quote_spanned!(span=> ::core::cmp::PartialEq)),
    ];
    let missing = anyway.iter().filter(|(name, _)| !own.iter().any(|own| own == name));
    let paths: Vec<&TokenStream> = missing.map(|(_, path)| path).collect();
    if paths.is_empty() { TokenStream::new() } else { quote_spanned!(span=> #[derive(#(#paths),*)]) }
}

fn is_doc(attribute: &Attribute) -> bool {
    attribute.path().is_ident("doc")
}
