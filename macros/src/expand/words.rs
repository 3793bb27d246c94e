//! The names that most of the output needs.

use crate::model::{Declaration, Stored};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::HashSet;

/// The names of the generated types, and type parameters that hide none of the user's types.
#[derive(Clone)]
pub(super) struct Words<'a> {
    /// Where the output stands, but for the users' own words: at the lifecycle's name, or the compiler would
    /// point at the whole declaration.
    pub(super) site: Span,
    pub(super) krate: &'a TokenStream,
    /// `Order`
    pub(super) order: &'a Ident,
    /// `OrderRow`
    pub(super) row: &'a Ident,
    /// `AnyOrder`
    pub(super) any: &'a Ident,
    /// `OrderStatus`
    pub(super) status: &'a Ident,
    /// `OrderTransition`
    pub(super) transition: Ident,
    /// `OrderFacts`
    pub(super) facts: Ident,
    /// A state.
    pub(super) s: Ident,
    /// A database.
    pub(super) b: Ident,
    /// What gives access to a database.
    pub(super) d: Ident,
    /// A serializer.
    pub(super) z: Ident,
    /// What serializes a map.
    pub(super) m: Ident,
    /// A row of a database.
    pub(super) r: Ident,
}

impl<'a> Words<'a> {
    pub(super) fn of(declaration: &'a Declaration) -> Self {
        let taken = names(declaration);
        let site = declaration.lifecycle.name.span().resolved_at(Span::mixed_site());
        let free = |letter: &str| {
            let numbered = (1..).map(|number| format!("{letter}{number}"));
            let mut wishes = std::iter::once(letter.to_owned()).chain(numbered);
            let name = wishes.find(|name| !taken.contains(name)).unwrap_or_default();
            Ident::new(&name, site)
        };
        Self {
            site,
            krate: &declaration.krate,
            order: &declaration.lifecycle.name,
            row: &declaration.row.name,
            any: &declaration.any.name,
            status: &declaration.any.status,
            transition: declaration.transition_enum(),
            facts: declaration.facts_struct(),
            s: free("S"),
            b: free("B"),
            d: free("D"),
            z: free("Z"),
            m: free("M"),
            r: free("R"),
        }
    }
}

impl Words<'_> {
    /// The same for output that stands at another name.
    pub(super) fn at(&self, name: &Ident) -> Self {
        Self { site: name.span().resolved_at(Span::mixed_site()), ..self.clone() }
    }
}

/// Every name of a type in the declaration, also those inside of other types.
fn names(declaration: &Declaration) -> HashSet<String> {
    let Declaration { lifecycle, row, any, states, .. } = declaration;
    let mut tokens = TokenStream::new();
    for name in [&lifecycle.name, &row.name, &any.name, &any.status] {
        name.to_tokens(&mut tokens);
    }
    for state in states {
        state.name.to_tokens(&mut tokens);
    }
    for field in row.columns.iter().chain(states.iter().flat_map(|state| &state.facts)) {
        field.ty.to_tokens(&mut tokens);
    }
    lifecycle.version.ty.to_tokens(&mut tokens);
    if let Stored::Integer(ty) = &any.stored {
        ty.to_tokens(&mut tokens);
    }
    let mut names = HashSet::new();
    collect(tokens, &mut names);
    names
}

fn collect(tokens: TokenStream, names: &mut HashSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(name) => {
                names.insert(name.to_string());
            }
            TokenTree::Group(group) => collect(group.stream(), names),
            _ => {}
        }
    }
}
