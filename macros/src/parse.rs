//! Tokens to syntax: only what can be said without looking up names.
//!
//! A broken column, state or transition is reported and skipped, so that one run of the compiler shows all of
//! them.

mod fields;
mod header;
mod journal;
mod states;
mod transitions;

pub(crate) use states::StateSyntax;
pub(crate) use transitions::{CauseSyntax, TransitionSyntax};

use crate::attribute::said;
use crate::model::{Any, Lifecycle, Row};
use crate::report::{Report, known_names};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Error, Ident, LitStr, Result, Token, Visibility, bracketed};

/// A declaration as it was written.
pub(crate) struct Syntax {
    pub(crate) krate: TokenStream,
    pub(crate) lifecycle: Lifecycle,
    pub(crate) row: Row,
    pub(crate) any: Any,
    pub(crate) states: Vec<StateSyntax>,
    pub(crate) transitions: Vec<TransitionSyntax>,
    pub(crate) journal: Option<LitStr>,
}

/// Reads `[$crate]` and the declaration.
pub(crate) fn syntax(input: TokenStream) -> Result<Syntax> {
    let parser = |input: ParseStream<'_>| {
        let mut report = Report::default();
        let read = sections(input, &mut report);
        match read {
            Ok(syntax) => report.finish().map(|()| syntax),
            Err(mistake) => {
                report.add(mistake);
                report.finish()?;
                unreachable!("a mistake was added")
            }
        }
    };
    parser.parse2(input)
}

fn sections(input: ParseStream<'_>, report: &mut Report) -> Result<Syntax> {
    let content;
    bracketed!(content in input);
    let krate = content.parse()?;
    let lifecycle = header::lifecycle(input, report)?;
    let row = fields::row(input, report, &lifecycle.name)?;
    let (any, states) = states::states(input, report, &row.name)?;
    let transitions = transitions::transitions(input, report, &any.name)?;
    let journal = journal::journal(input, report)?;
    refuse_attributes(input, report)?;
    if !input.is_empty() {
        let last = if journal.is_some() { "the journal" } else { "the transitions" };
        return Err(Error::new(input.span(), format!("nothing may follow {last}; take this out")));
    }
    Ok(Syntax { krate, lifecycle, row, any, states, transitions, journal })
}

/// The next token, if it is a word; keywords are words too.
fn peek_word(input: ParseStream<'_>) -> Option<Ident> {
    input.fork().call(Ident::parse_any).ok()
}

/// An error on the next token, or on `before` when nothing follows it.
fn missing(input: ParseStream<'_>, before: impl ToTokens, message: impl std::fmt::Display) -> Error {
    if input.is_empty() { Error::new_spanned(before, message) } else { Error::new(input.span(), message) }
}

/// A name, or what a name stands for here.
fn name(input: ParseStream<'_>, before: impl ToTokens, what: &str) -> Result<Ident> {
    input.parse::<Ident>().map_err(|_| match peek_word(input) {
        // These four have no raw form.
        Some(word) if ["self", "Self", "super", "crate"].iter().any(|fixed| word == fixed) => {
            Error::new_spanned(&word, format!("`{word}` can not be {what}; choose another name"))
        }
        Some(word) if word != "_" => Error::new_spanned(
            &word,
            format!(
                "`{word}` is a word of the language; as {what} it is written `r#{word}`, or \
                 choose another name"
            ),
        ),
        _ => missing(input, before, format!("{what} is expected here")),
    })
}

/// Attributes and doc comments. Half a lifecycle is none, so no part of it may be switched off.
fn attributes(input: ParseStream<'_>, report: &mut Report) -> Result<Vec<Attribute>> {
    let attributes = input.call(Attribute::parse_outer)?;
    for meta in attributes.iter().flat_map(|attribute| said(&attribute.meta)) {
        if meta.path().is_ident("cfg") {
            let message = "the lifecycle is one whole; put `#[cfg]` on the invocation of `lifecycle!`";
            report.at(meta.path(), message);
        }
    }
    Ok(attributes)
}

/// A visibility where there is a choice only for the whole.
fn refuse_visibility(input: ParseStream<'_>, report: &mut Report, because: &str) -> Result<()> {
    match input.parse()? {
        Visibility::Inherited => {}
        vis => report.at(vis, format!("{because}; take this `pub` out")),
    }
    Ok(())
}

/// Attributes and doc comments where there is nothing that they could belong to.
fn refuse_attributes(input: ParseStream<'_>, report: &mut Report) -> Result<()> {
    if let attributes @ [_, ..] = input.call(Attribute::parse_outer)?.as_slice() {
        let attributes = attributes.iter().map(ToTokens::to_token_stream).collect::<TokenStream>();
        report.at(attributes, "no attributes or doc comments stand here; take this out");
    }
    Ok(())
}

/// `<…>` after the name of a generated type.
fn refuse_generics(input: ParseStream<'_>, name: &Ident) -> Result<()> {
    if !input.peek(Token![<]) {
        return Ok(());
    }
    let word: Token![<] = input.fork().parse()?;
    let generics =
        input.parse::<syn::Generics>().map_or(word.into_token_stream(), ToTokens::into_token_stream);
    Err(Error::new_spanned(
        generics,
        format!(
            "`{name}` takes no lifetimes or type parameters: its values come from one table \
             and own what they hold; take this out"
        ),
    ))
}

/// What ends an item of a list with commas: a `;` in its place is one mistake, not two.
const ITEM_ENDS: &[char] = &[',', ';'];

/// Reads items up to the end of the braces, each of which reads its own end. A broken one is skipped.
fn items<T>(
    input: ParseStream<'_>,
    ends: &[char],
    report: &mut Report,
    mut item: impl FnMut(ParseStream<'_>, &mut Report) -> Result<T>,
) -> Vec<T> {
    let mut items = Vec::new();
    while !input.is_empty() {
        match item(input, report) {
            Ok(read) => items.push(read),
            Err(mistake) => {
                report.add(mistake);
                skip_item(input, ends);
            }
        }
    }
    items
}

/// To behind the next of `ends`.
fn skip_item(input: ParseStream<'_>, ends: &[char]) {
    while let Ok(token) = input.parse::<TokenTree>() {
        if matches!(&token, TokenTree::Punct(punct) if ends.contains(&punct.as_char())) {
            return;
        }
    }
}

/// The comma between two items, which the last may leave out; `may_follow` says what else could have stood
/// here.
fn comma(input: ParseStream<'_>, may_follow: &str) -> Result<()> {
    if input.is_empty() || input.parse::<Token![,]>().is_ok() {
        return Ok(());
    }
    Err(Error::new(input.span(), format!("a `,` is expected here, or {may_follow}")))
}

/// The word `expected`; an error names it, also if it was only misspelt.
fn keyword(input: ParseStream<'_>, expected: &str, before: impl ToTokens, message: &str) -> Result<Ident> {
    match peek_word(input) {
        Some(word) if word == expected => input.call(Ident::parse_any),
        Some(word) if known_names(&word, [expected]).starts_with("did you mean") => {
            Err(Error::new_spanned(&word, format!("`{word}` is unknown here; did you mean `{expected}`?")))
        }
        _ => Err(missing(input, before, message)),
    }
}

/// Whether a group in parentheses comes next.
fn peek_parentheses(input: ParseStream<'_>) -> bool {
    matches!(input.fork().parse(), Ok(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis)
}
