//! `transitions { refund: Paid | Shipped -> Refunded by refund_no; }`

use super::{
    attributes, comma, items, journal::refuse_journal, keyword, missing, name, peek_parentheses, peek_word,
    refuse_attributes, refuse_visibility,
};
use crate::report::{Report, known_names};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Attribute, Error, Ident, Result, Token, braced, parenthesized};

/// A transition as it was written.
pub(crate) struct TransitionSyntax {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) name: Ident,
    pub(crate) sources: Vec<Ident>,
    pub(crate) target: Ident,
    pub(crate) cause: Option<CauseSyntax>,
}

/// `by (channel, trade_no) shared`
pub(crate) struct CauseSyntax {
    pub(crate) facts: Vec<Ident>,
    pub(crate) shared: bool,
}

const VISIBILITY: &str = "transitions are as visible as their lifecycle";

pub(crate) fn transitions(
    input: ParseStream<'_>,
    report: &mut Report,
    any: &Ident,
) -> Result<Vec<TransitionSyntax>> {
    refuse_attributes(input, report)?;
    refuse_journal(input)?;
    refuse_visibility(input, report, VISIBILITY)?;
    let message = "the steps come next: `transitions { pay: Pending -> Paid; }`";
    let word = keyword(input, "transitions", any, message)?;
    if !input.peek(syn::token::Brace) {
        return Err(missing(
            input,
            &word,
            "the transitions stand in braces: `transitions { pay: Pending -> Paid; }`",
        ));
    }
    let content;
    braced!(content in input);
    if content.is_empty() {
        report.at(&word, "there are no transitions; declare at least one: `pay: Pending -> Paid;`");
    }
    Ok(items(&content, &[';'], report, transition))
}

fn transition(input: ParseStream<'_>, report: &mut Report) -> Result<TransitionSyntax> {
    let attrs = attributes(input, report)?;
    refuse_visibility(input, report, VISIBILITY)?;
    let name = name(input, attrs.last(), "a transition's name")?;
    if input.parse::<Token![:]>().is_err() {
        return Err(missing(
            input,
            &name,
            format!("a `:` and the states are expected here: `{name}: Pending -> Paid;`"),
        ));
    }
    let mut sources = vec![source(input, &name)?];
    while let Ok(word) = input.parse::<Token![|]>() {
        sources.push(super::name(input, word, "another state that it leaves")?);
    }
    let Ok(word) = input.parse::<Token![->]>() else {
        return Err(missing(
            input,
            sources.last(),
            "a `->` and the state that it leads to are expected here, or a `|` and another \
             state that it leaves",
        ));
    };
    let target = super::name(input, word, "the state that it leads to")?;
    if input.peek(Token![|]) {
        let message = "a transition leads to one state; declare one transition for each, so that each \
             has a name";
        return Err(Error::new(input.span(), message));
    }
    let cause = cause(input, &target)?;
    let transition = TransitionSyntax { attrs, name, sources, target, cause };
    end(input, report, &transition)?;
    Ok(transition)
}

/// The first state that it leaves. There is no word for all of them: a state that comes later would join unseen.
fn source(input: ParseStream<'_>, before: &Ident) -> Result<Ident> {
    if peek_word(input).is_some_and(|word| word != "_") {
        return name(input, before, "the state that it leaves");
    }
    Err(missing(input, before, "name each state that it leaves: `A | B -> C`"))
}

/// `by …`, if it is there.
fn cause(input: ParseStream<'_>, target: &Ident) -> Result<Option<CauseSyntax>> {
    if peek_word(input).is_none() {
        return Ok(None);
    }
    let by = keyword(
        input,
        "by",
        target,
        "a `;` is expected here, or the fact that asks for this step: `by trade_no`",
    )?;
    let facts = if peek_parentheses(input) {
        let content;
        let group = parenthesized!(content in input);
        if content.is_empty() {
            return Err(Error::new(
                group.span.join(),
                "name the facts that ask for this step, or leave `by` out",
            ));
        }
        let mut facts = Vec::new();
        while !content.is_empty() {
            facts.push(name(&content, &by, "a fact of the state that it leads to")?);
            comma(&content, "the end of the parentheses")?;
        }
        facts
    } else {
        vec![name(input, &by, "the fact that asks for this step")?]
    };
    // Another fact, unless another transition follows, which the end will tell.
    if input.peek(Token![,]) && input.peek2(Ident) && (input.peek3(Token![,]) || input.peek3(Token![;])) {
        let message = format!("several facts stand in parentheses: `by ({}, …)`", facts[0]);
        return Err(Error::new(input.span(), message));
    }
    let shared = match peek_word(input) {
        None => false,
        Some(word) if word == "shared" => input.call(Ident::parse_any).is_ok(),
        Some(word) => {
            let message =
                format!("`{word}` can not stand behind the cause; {}", known_names(&word, ["shared"]));
            return Err(Error::new_spanned(word, message));
        }
    };
    Ok(Some(CauseSyntax { facts, shared }))
}

/// The `;`. A comma in its place is a mistake that hides nothing, so the transition counts.
fn end(input: ParseStream<'_>, report: &mut Report, transition: &TransitionSyntax) -> Result<()> {
    if input.parse::<Token![;]>().is_ok() {
        return Ok(());
    }
    if let Ok(word) = input.parse::<Token![,]>() {
        report.at(word, "a transition ends with `;`");
        return Ok(());
    }
    let message = match &transition.cause {
        None => "a `;` is expected here, or the fact that asks for this step: `by trade_no`",
        Some(cause) if !cause.shared => {
            "a `;` is expected here, or `shared` if several rows may have the same cause"
        }
        Some(_) => "a `;` is expected here",
    };
    Err(missing(input, transition.target.to_token_stream(), message))
}
