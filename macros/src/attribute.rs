//! What the user's attributes say, also those that stand behind a `cfg_attr`.

use syn::punctuated::Punctuated;
use syn::{Attribute, Meta, Path, Token};

/// The attribute itself, or those that it turns into if its condition holds. What can not be read is left for the
/// compiler to complain about.
pub(crate) fn said(meta: &Meta) -> Vec<Meta> {
    let Some(list) = meta.require_list().ok().filter(|list| list.path.is_ident("cfg_attr")) else {
        return vec![meta.clone()];
    };
    let all = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).unwrap_or_default();
    all.iter().skip(1).flat_map(said).collect()
}

/// The traits in a `derive`.
pub(crate) fn derived(meta: &Meta) -> Vec<Path> {
    let list = meta.require_list().ok().filter(|list| list.path.is_ident("derive"));
    let paths =
        list.and_then(|list| list.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated).ok());
    paths.into_iter().flatten().collect()
}

/// Whether uses of what has these attributes may draw a warning.
pub(crate) fn deprecated(attributes: &[Attribute]) -> bool {
    attributes
        .iter()
        .flat_map(|attribute| said(&attribute.meta))
        .any(|meta| meta.path().is_ident("deprecated"))
}
