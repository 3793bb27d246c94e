//! Columns of the row, and facts: `order_no: String unique = "no"`.

use super::header::{column, column_of};
use super::{ITEM_ENDS, attributes, comma, items, missing, name, peek_word, refuse_generics};
use crate::model::{Field, Row};
use crate::report::{Report, known_names};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Error, Ident, Result, Token, Type, Visibility, braced};

/// Where a field stands; the row has more kinds of columns than a state.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Row,
    State,
}

/// `pub struct OrderRow { … }`
pub(crate) fn row(input: ParseStream<'_>, report: &mut Report, lifecycle: &Ident) -> Result<Row> {
    let attrs = attributes(input, report)?;
    let vis = input.parse()?;
    let Ok(word) = input.parse::<Token![struct]>() else {
        let message = format!(
            "what every row has comes next: `pub struct {lifecycle}Row {{ id: i64, … }}`; \
             its first column is the key"
        );
        return Err(missing(input, lifecycle, message));
    };
    let name = name(input, word, "the name of the row")?;
    refuse_generics(input, &name)?;
    if !input.peek(syn::token::Brace) {
        let message = format!("the row's columns have names: `struct {name} {{ id: i64, … }}`");
        return Err(missing(input, &name, message));
    }
    let content;
    braced!(content in input);
    if content.is_empty() {
        report.at(&name, format!("`{name}` has no columns; declare at least the key: `id: i64`"));
    }
    let columns = items(&content, ITEM_ENDS, report, |input, report| field(input, report, Place::Row));
    Ok(Row { attrs, vis, name, columns })
}

/// `{ trade_no: String, … }`
pub(crate) fn facts(input: ParseStream<'_>, report: &mut Report) -> Result<Vec<Field>> {
    let content;
    braced!(content in input);
    Ok(items(&content, ITEM_ENDS, report, |input, report| field(input, report, Place::State)))
}

fn field(input: ParseStream<'_>, report: &mut Report, place: Place) -> Result<Field> {
    let attrs = attributes(input, report)?;
    if let vis @ Visibility::Restricted(_) = input.parse()? {
        report.at(vis, "columns and facts are as visible as their struct; take this out");
    }
    let what = if place == Place::Row { "a column's name" } else { "a fact's name" };
    let name = name(input, attrs.last(), what)?;
    if input.parse::<Token![:]>().is_err() {
        return Err(missing(input, &name, format!("a `:` and the type are expected here: `{name}: String`")));
    }
    let ty: Type =
        input.parse().map_err(|_| missing(input, &name, format!("the type of `{name}` is expected here")))?;
    if matches!(ty, Type::Reference(_)) {
        report.at(&ty, "what is read from a table is owned; a `String` for a text, a `Vec<u8>` for bytes");
    }
    let mut field = Field { attrs, column: column_of(&name), name, ty, unique: false, guard: false };
    modifiers(input, report, &mut field, place)?;
    if let Some(column) = column(input, report)? {
        field.column = column;
    }
    let may_follow = match place {
        Place::Row => "`unique`, `guard`, or the name of the column: `= \"…\"`",
        Place::State => "`unique`, or the name of the column: `= \"…\"`",
    };
    if let Some(word) = peek_word(input).filter(|word| is_modifier(word, place)) {
        return Err(Error::new_spanned(&word, format!("`{word}` stands before the `=`; move it there")));
    }
    comma(input, may_follow)?;
    Ok(field)
}

fn is_modifier(word: &Ident, place: Place) -> bool {
    word == "unique" || (word == "guard" && place == Place::Row)
}

fn modifiers(input: ParseStream<'_>, report: &mut Report, field: &mut Field, place: Place) -> Result<()> {
    while let Some(word) = peek_word(input) {
        let set = match word.to_string().as_str() {
            "unique" => &mut field.unique,
            "guard" if place == Place::Row => &mut field.guard,
            "guard" => {
                report.at(
                    &word,
                    "only a column of the row can be a guard, since it must hold a value in \
                     every state; take this out",
                );
                &mut field.guard
            }
            _ => {
                let known: &[&str] = if place == Place::Row { &["unique", "guard"] } else { &["unique"] };
                let message = format!("`{word}` can not stand behind a type; {}", known_names(&word, known));
                return Err(Error::new_spanned(word, message));
            }
        };
        if std::mem::replace(set, true) {
            report.at(&word, format!("`{word}` is given twice; keep one"));
        }
        input.call(Ident::parse_any)?;
    }
    Ok(())
}
