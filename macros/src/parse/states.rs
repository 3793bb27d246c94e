//! `pub enum AnyOrder: OrderStatus as i16 { Pending = 0, Paid = 1 { … }, Shipped = 2: Paid { … } }`

use super::fields::facts;
use super::header::text;
use super::{
    ITEM_ENDS, attributes, comma, items, missing, name, peek_parentheses, refuse_generics, refuse_visibility,
};
use crate::model::{Any, Field, Stored, Value};
use crate::report::Report;
use quote::{ToTokens, quote};
use syn::parse::ParseStream;
use syn::{Attribute, Error, Ident, LitInt, LitStr, Result, Token, braced};

/// A state as it was written.
pub(crate) struct StateSyntax {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) name: Ident,
    pub(crate) value: Option<Value>,
    pub(crate) base: Option<Ident>,
    pub(crate) facts: Vec<Field>,
}

pub(crate) fn states(
    input: ParseStream<'_>,
    report: &mut Report,
    row: &Ident,
) -> Result<(Any, Vec<StateSyntax>)> {
    let attrs = attributes(input, report)?;
    let vis = input.parse()?;
    let Ok(word) = input.parse::<Token![enum]>() else {
        let message = "the states come next, in the order in which they may be reached: `pub enum \
             AnyOrder: OrderStatus { … }`";
        return Err(missing(input, row, message));
    };
    let name = name(input, word, "the name of the enum of handles")?;
    refuse_generics(input, &name)?;
    if input.parse::<Token![:]>().is_err() {
        let prefixed = name.to_string();
        let lifecycle = prefixed.strip_prefix("Any").unwrap_or(&prefixed);
        let message =
            format!("say what the enum of its statuses is called: `enum {name}: {lifecycle}Status`");
        return Err(Error::new_spanned(name, message));
    }
    let status = super::name(input, &name, "the name of the enum of statuses")?;
    refuse_generics(input, &status)?;
    let stored = stored(input)?;
    if !input.peek(syn::token::Brace) {
        let message = "the states are expected here, in braces; before them only how a status is \
             stored: `as i16`, or `as enum \"…\"` on PostgreSQL";
        return Err(missing(input, &status, message));
    }
    let content;
    braced!(content in input);
    if content.is_empty() {
        report.at(
            &name,
            format!("`{name}` has no states; declare them in the order in which they may be reached"),
        );
    }
    let any = Any { attrs, vis, name, status, stored };
    Ok((any, items(&content, ITEM_ENDS, report, state)))
}

/// `as i16`, `as enum "order_status"`, or nothing.
fn stored(input: ParseStream<'_>) -> Result<Stored> {
    let Ok(word) = input.parse::<Token![as]>() else {
        return Ok(Stored::Text);
    };
    if let Ok(word) = input.parse::<Token![enum]>() {
        return text(input, word, "the name of the PostgreSQL type").map(Stored::Enum);
    }
    let message = "how a status is stored is expected here: `as i16`, or `as enum \"…\"` on \
         PostgreSQL; texts need no `as`";
    input.parse().map(|ty| Stored::Integer(Box::new(ty))).map_err(|_| missing(input, word, message))
}

fn state(input: ParseStream<'_>, report: &mut Report) -> Result<StateSyntax> {
    let attrs = attributes(input, report)?;
    refuse_visibility(input, report, "states are as visible as their enum")?;
    let name = name(input, attrs.last(), "a state's name")?;
    if peek_parentheses(input) {
        let message = format!("facts have names, since they are columns: `{name} {{ trade_no: String }}`");
        return Err(Error::new(input.span(), message));
    }
    refuse_generics(input, &name)?;
    let mut state = StateSyntax { attrs, name, value: None, base: None, facts: Vec::new() };
    loop {
        if let Ok(word) = input.parse::<Token![=]>() {
            let value = value(input, word)?;
            if state.value.replace(value).is_some() {
                report.at(word, format!("what is stored for `{}` is given twice; keep one", state.name));
            }
        } else if let Ok(word) = input.parse::<Token![:]>() {
            let base = super::name(input, word, "the state that it builds on")?;
            if state.base.replace(base).is_some() || input.peek(Token![|]) || input.peek(Token![+]) {
                report.at(
                    word,
                    format!(
                        "`{}` can build on one state only, since that already holds what came \
                     before; keep one",
                        state.name
                    ),
                );
            }
        } else {
            break;
        }
    }
    if input.peek(syn::token::Brace) {
        state.facts = facts(input, report)?;
        if input.peek(Token![=]) || input.peek(Token![:]) {
            let message = format!(
                "the facts come last: `{} = \"…\": Base {{ … }}`; move this before the braces",
                state.name
            );
            return Err(Error::new(input.span(), message));
        }
    }
    comma(input, "what is stored (`= \"…\"`), what it builds on (`: State`), or its facts in braces")?;
    Ok(state)
}

fn value(input: ParseStream<'_>, before: impl ToTokens) -> Result<Value> {
    if input.peek(LitStr) {
        return input.parse().map(Value::Text);
    }
    let minus: Option<Token![-]> = input.parse()?;
    if !input.peek(LitInt) {
        return Err(missing(input, before, "a text or a whole number is expected here: `= \"PAID\"`, `= 1`"));
    }
    let number: LitInt = input.parse()?;
    let word = quote!(#minus #number);
    let value = format!("{}{}", if minus.is_some() { "-" } else { "" }, number.base10_digits());
    match value.parse() {
        Ok(value) if number.suffix().is_empty() => Ok(Value::Integer(value, word)),
        Ok(value) => {
            Err(Error::new_spanned(&number, format!("the type stands behind `as`; write `{value}` here")))
        }
        Err(_) => Err(Error::new_spanned(word, "this number is too large to be stored")),
    }
}
