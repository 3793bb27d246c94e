//! Attributes that meet what is generated.

use crate::attribute::{derived, said};
use crate::model::Declaration;
use crate::report::Report;
use syn::Attribute;

/// A condition hides from the expansion what the user derives, so that it would be derived twice.
pub(crate) fn attributes(declaration: &Declaration, report: &mut Report) {
    let Declaration { lifecycle, row, any, states, .. } = declaration;
    for attributes in [&lifecycle.attrs, &any.attrs] {
        conditional(attributes, &["Debug"], report);
    }
    for attributes in std::iter::once(&row.attrs).chain(states.iter().map(|state| &state.attrs)) {
        conditional(attributes, &["Debug", "Clone", "PartialEq"], report);
    }
}

fn conditional(attributes: &[Attribute], anyway: &[&str], report: &mut Report) {
    let conditional = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg_attr"));
    for path in conditional.flat_map(|attribute| said(&attribute.meta)).flat_map(|meta| derived(&meta)) {
        if let Some(last) = path.segments.last().filter(|last| anyway.iter().any(|name| last.ident == name)) {
            report.at(&path, format!("`{}` is derived anyway; take it out here", last.ident));
        }
    }
}
