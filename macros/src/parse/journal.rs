//! `journal in "order_journal";`

use super::{header::text, peek_word, refuse_attributes, refuse_visibility};
use crate::report::Report;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Error, Ident, LitStr, Result, Token, Visibility};

/// The table of the journal, if one was declared.
pub(crate) fn journal(input: ParseStream<'_>, report: &mut Report) -> Result<Option<LitStr>> {
    refuse_attributes(input, report)?;
    let ahead = input.fork();
    ahead.parse::<Visibility>()?;
    if peek_word(&ahead).is_none_or(|word| word != "journal") {
        return Ok(None);
    }
    refuse_visibility(input, report, "the journal is as visible as its lifecycle")?;
    let word = input.call(Ident::parse_any)?;
    if input.parse::<Token![in]>().is_err() {
        return Err(Error::new_spanned(
            word,
            "say in which table it is kept: `journal in \"order_journal\";`",
        ));
    }
    let table = text(input, &word, "the journal's table")?;
    if table.value().is_empty() {
        report.at(&table, "a table has a name; write it here, or leave the journal out");
    }
    if input.parse::<Token![;]>().is_err() {
        let message = "a `;` is expected behind the journal's table: `journal in \"order_journal\";`";
        return Err(Error::new_spanned(&table, message));
    }
    Ok(Some(table))
}

/// The journal stands behind the transitions, whose history it is.
pub(crate) fn refuse_journal(input: ParseStream<'_>) -> Result<()> {
    match peek_word(input) {
        Some(word) if word == "journal" => {
            Err(Error::new_spanned(word, "the journal stands behind the transitions; move it to the end"))
        }
        _ => Ok(()),
    }
}
