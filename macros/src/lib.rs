//! The declaration macro of `onward`; use it through that crate.
//!
//! It knows names only: it reads the declaration (`parse`), looks up every name (`resolve`), turns down what
//! cannot be a lifecycle (`check`), each mistake on its very word, and writes the types and methods
//! (`expand`). What a lifecycle *means* stays in the main crate.

mod attribute;
mod check;
mod expand;
mod integer;
mod model;
mod parse;
mod report;
mod resolve;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests;

use model::Declaration;
use proc_macro2::TokenStream;

/// Declares a lifecycle. The input is `[$crate]`, which the wrapper in the main crate passes, then the
/// declaration.
#[proc_macro]
pub fn lifecycle(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    match declaration(input.into()) {
        Ok(declaration) => expand::expand(&declaration).into(),
        Err(mistakes) => mistakes.into_compile_error().into(),
    }
}

/// From tokens to a declaration that is known to be sound, or all its mistakes.
fn declaration(input: TokenStream) -> syn::Result<Declaration> {
    let syntax = parse::syntax(input)?;
    let mut report = report::Report::default();
    let declaration = resolve::resolve(syntax, &mut report);
    // A name that means nothing leaves a hole in the graph, and a hole looks like further mistakes.
    let whole = report.is_empty();
    check::attributes(&declaration, &mut report);
    check::names(&declaration, &mut report);
    check::fields(&declaration, &mut report);
    check::types(&declaration, &mut report);
    check::journal(&declaration, &mut report);
    if whole {
        check::graph(&declaration, &mut report);
        check::causes(&declaration, &mut report);
    }
    report.finish()?;
    Ok(declaration)
}
