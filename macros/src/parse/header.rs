//! `struct Order in "orders" (status = "state", version: i32 = "lock_version", updated_at = "modified_at");`

use super::{ITEM_ENDS, attributes, comma, items, missing, name, peek_word, refuse_generics};
use crate::model::{Lifecycle, Version};
use crate::report::{Report, known_names};
use heck::ToSnakeCase;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Error, Ident, LitStr, Result, Token, Type, parenthesized, parse_quote_spanned};

const OPTIONS: [&str; 3] = ["status", "version", "updated_at"];

pub(crate) fn lifecycle(input: ParseStream<'_>, report: &mut Report) -> Result<Lifecycle> {
    let attrs = attributes(input, report)?;
    let vis = input.parse()?;
    let Ok(word) = input.parse::<Token![struct]>() else {
        return Err(missing(
            input,
            &vis,
            "a lifecycle begins with its table: `pub struct Order in \"orders\";`",
        ));
    };
    let name = name(input, word, "the name of the lifecycle")?;
    refuse_generics(input, &name)?;
    if !input.peek(Token![in]) {
        let written = name.to_string();
        let lifecycle = written.strip_suffix("Row").filter(|name| !name.is_empty()).unwrap_or(&written);
        let table = lifecycle.to_snake_case();
        let message = if input.peek(syn::token::Brace) {
            format!(
                "the handle comes first: `struct {lifecycle} in \"{table}s\";`, then the row: \
                 `struct {lifecycle}Row {{ … }}`"
            )
        } else {
            format!(
                "say in which table it lives: `struct {lifecycle} in \"{table}s\";`, then the row in \
                 a struct of its own"
            )
        };
        return Err(Error::new_spanned(name, message));
    }
    let word: Token![in] = input.parse()?;
    let table = text(input, word, "the table's name")?;
    let mut options = Options::default();
    if input.peek(syn::token::Paren) {
        let content;
        parenthesized!(content in input);
        items(&content, ITEM_ENDS, report, |input, report| options.read(input, report));
    }
    if input.parse::<Token![;]>().is_err() {
        return Err(Error::new_spanned(
            &table,
            "a `;` is expected behind the table and its options: `in \"orders\" (status = \
             \"state\");`",
        ));
    }
    let span = name.span();
    Ok(Lifecycle {
        attrs,
        vis,
        name,
        table,
        status: options.status.unwrap_or_else(|| LitStr::new("status", span)),
        version: Version {
            ty: options.version_type.unwrap_or_else(|| parse_quote_spanned!(span=> i64)),
            column: options.version.unwrap_or_else(|| LitStr::new("version", span)),
        },
        updated_at: options.updated_at,
    })
}

#[derive(Default)]
struct Options {
    seen: Vec<String>,
    status: Option<LitStr>,
    version: Option<LitStr>,
    version_type: Option<Type>,
    updated_at: Option<LitStr>,
}

impl Options {
    fn read(&mut self, input: ParseStream<'_>, report: &mut Report) -> Result<()> {
        let Some(word) = peek_word(input) else {
            return Err(Error::new(
                input.span(),
                "an option is expected here: `status`, `version` or `updated_at`",
            ));
        };
        let option = word.to_string();
        if !OPTIONS.contains(&option.as_str()) {
            let known = known_names(&option, OPTIONS);
            return Err(Error::new_spanned(
                &word,
                format!("`{option}` is no option of a lifecycle; {known}"),
            ));
        }
        input.call(Ident::parse_any)?;
        if self.seen.contains(&option) {
            report.at(&word, format!("`{option}` is given twice; keep one"));
        }
        if option == "version" && input.parse::<Token![:]>().is_ok() {
            self.version_type = Some(input.parse()?);
        }
        let column = column(input, report)?;
        match option.as_str() {
            "version" => self.version = column,
            _ if column.is_none() => {
                return Err(missing(input, &word, format!("say which column: `{option} = \"…\"`")));
            }
            "status" => self.status = column,
            _ => self.updated_at = column,
        }
        self.seen.push(option);
        comma(input, "a column: `= \"…\"`")
    }
}

/// `= "column"`, if it is there.
pub(crate) fn column(input: ParseStream<'_>, report: &mut Report) -> Result<Option<LitStr>> {
    let Ok(word) = input.parse::<Token![=]>() else {
        return Ok(None);
    };
    let column = text(input, word, "the column's name")?;
    if column.value().is_empty() {
        report.at(&column, "a column has a name; write it here, or leave `= \"\"` out");
    }
    Ok(Some(column))
}

/// A text in quotes.
pub(crate) fn text(input: ParseStream<'_>, before: impl ToTokens, what: &str) -> Result<LitStr> {
    if input.peek(LitStr) {
        input.parse()
    } else {
        Err(missing(input, before, format!("{what} is expected here, in quotes: `\"…\"`")))
    }
}

/// The column that a field is stored in when none is given: its name without `r#`.
pub(crate) fn column_of(name: &Ident) -> LitStr {
    LitStr::new(&name.unraw().to_string(), name.span())
}
