//! A declaration after every name in it was looked up: the one thing that checks and expansion read.
//!
//! Everything stands in the order in which it was declared. States, transitions and facts are known by their
//! place in that order; what follows from it is derived by methods, not stored.

use heck::{ToSnakeCase, ToUpperCamelCase};
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident};
use std::collections::BTreeSet;
use syn::ext::IdentExt;
use syn::{Attribute, GenericArgument, Ident, LitStr, PathArguments, Type, Visibility};

/// A whole `lifecycle!`.
pub(crate) struct Declaration {
    /// The path of the main crate, for every generated path.
    pub(crate) krate: TokenStream,
    pub(crate) lifecycle: Lifecycle,
    pub(crate) row: Row,
    pub(crate) any: Any,
    pub(crate) states: Vec<State>,
    pub(crate) transitions: Vec<Transition>,
    /// The table of the journal.
    pub(crate) journal: Option<LitStr>,
}

/// `struct Order in "orders" (…);`: the handle and the lifecycle's own columns.
pub(crate) struct Lifecycle {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) name: Ident,
    pub(crate) table: LitStr,
    /// The column of the status.
    pub(crate) status: LitStr,
    pub(crate) version: Version,
    /// The column that every step stamps with the database's time.
    pub(crate) updated_at: Option<LitStr>,
}

/// The column that every step counts up.
pub(crate) struct Version {
    pub(crate) ty: Type,
    pub(crate) column: LitStr,
}

/// `struct OrderRow { … }`: what every row has. The first column is the key.
pub(crate) struct Row {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) name: Ident,
    pub(crate) columns: Vec<Field>,
}

/// `enum AnyOrder: OrderStatus …`: the enum of handles, the enum of statuses, and how a status is stored.
pub(crate) struct Any {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) name: Ident,
    pub(crate) status: Ident,
    pub(crate) stored: Stored,
}

/// How the table stores a status.
pub(crate) enum Stored {
    Text,
    /// `as i16`
    Integer(Box<Type>),
    /// `as enum "order_status"`: a type of `PostgreSQL`.
    Enum(LitStr),
}

/// A column of the row, or a fact of a state.
pub(crate) struct Field {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) name: Ident,
    /// The type as it was written.
    pub(crate) ty: Type,
    pub(crate) unique: bool,
    /// Joins every WHERE; only columns of the row can.
    pub(crate) guard: bool,
    pub(crate) column: LitStr,
}

/// A state, and the facts that entering it adds.
pub(crate) struct State {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) name: Ident,
    pub(crate) value: Value,
    pub(crate) base: Option<Named>,
    pub(crate) facts: Vec<Field>,
}

/// What the table holds while a row is in a state.
pub(crate) enum Value {
    Text(LitStr),
    /// The number, and the literal or the state's name to blame it on.
    Integer(i128, TokenStream),
}

/// `pay: Pending -> Paid by trade_no;`
pub(crate) struct Transition {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) name: Ident,
    /// States, in the order written.
    pub(crate) sources: Vec<Named>,
    pub(crate) target: Named,
    pub(crate) cause: Option<Cause>,
}

/// `by (channel, trade_no) shared`
pub(crate) struct Cause {
    /// Places among the target's own facts, in the order written.
    pub(crate) facts: Vec<Named>,
    /// Whether several rows may have the same cause.
    pub(crate) shared: bool,
}

/// A name that was looked up: its place, and the word as it was written there.
pub(crate) struct Named {
    pub(crate) index: usize,
    pub(crate) word: Ident,
}

impl Field {
    /// The type without its `Option`, if it has one.
    pub(crate) fn inner(&self) -> &Type {
        option_of(&self.ty).unwrap_or(&self.ty)
    }

    /// Whether the column may be null.
    pub(crate) fn optional(&self) -> bool {
        option_of(&self.ty).is_some()
    }
}

impl State {
    /// The status as text: what is stored, or beside an integer the name in snake case.
    pub(crate) fn text(&self) -> String {
        match &self.value {
            Value::Text(text) => text.value(),
            Value::Integer(..) => snake_case(&self.name),
        }
    }
}

impl Transition {
    /// Its variant in the enum of transitions.
    pub(crate) fn variant(&self) -> Ident {
        Ident::new(&self.variant_text(), self.name.span())
    }

    /// The variant's text; no identifier if the transition's name has no letters.
    pub(crate) fn variant_text(&self) -> String {
        self.name.unraw().to_string().to_upper_camel_case()
    }
}

impl Declaration {
    pub(crate) fn key(&self) -> &Field {
        &self.row.columns[0]
    }

    /// The name of the enum of transitions.
    pub(crate) fn transition_enum(&self) -> Ident {
        format_ident!("{}Transition", self.lifecycle.name)
    }

    /// The name of the struct that holds every fact as an `Option`.
    pub(crate) fn facts_struct(&self) -> Ident {
        format_ident!("{}Facts", self.lifecycle.name)
    }

    /// The state itself and all that it builds on, the first one first.
    pub(crate) fn branch(&self, state: usize) -> Vec<usize> {
        let base = |&state: &usize| self.states[state].base.as_ref().map(|base| base.index);
        let mut branch: Vec<usize> = std::iter::successors(Some(state), base).collect();
        branch.reverse();
        branch
    }

    /// Whether the state is `other`, or builds on it.
    pub(crate) fn builds_on(&self, state: usize, other: usize) -> bool {
        self.branch(state).contains(&other)
    }

    /// All facts known in the state, the earliest first.
    pub(crate) fn known(&self, state: usize) -> Vec<&Field> {
        self.branch(state).into_iter().flat_map(|part| &self.states[part].facts).collect()
    }

    /// All facts that are declared anywhere, each with its state.
    pub(crate) fn facts(&self) -> impl Iterator<Item = (usize, &Field)> {
        self.states
            .iter()
            .enumerate()
            .flat_map(|(index, state)| state.facts.iter().map(move |fact| (index, fact)))
    }

    /// The distinct columns of facts, each by the fact that declares it first.
    pub(crate) fn fact_columns(&self) -> Vec<&Field> {
        let mut columns: Vec<&Field> = Vec::new();
        for (_, fact) in self.facts() {
            if !columns.iter().any(|column| same_column(&column.column, &fact.column)) {
                columns.push(fact);
            }
        }
        columns
    }

    /// The place of a fact among [`fact_columns`](Self::fact_columns).
    pub(crate) fn fact_column(&self, fact: &Field) -> usize {
        let other = |column: &&Field| !same_column(&column.column, &fact.column);
        self.fact_columns().into_iter().take_while(other).count()
    }

    /// The own facts of a state that are causes of a transition into it.
    pub(crate) fn causes(&self, state: usize) -> BTreeSet<usize> {
        let into = self.transitions.iter().filter(|step| step.target.index == state);
        let causes = into.filter_map(|step| step.cause.as_ref());
        causes.flat_map(|cause| &cause.facts).map(|fact| fact.index).collect()
    }

    /// All columns in the order in which they are read: the row's, status, version, then those of facts.
    pub(crate) fn select_list(&self) -> Vec<&LitStr> {
        let row = self.row.columns.iter().map(|column| &column.column);
        let own = [&self.lifecycle.status, &self.lifecycle.version.column];
        row.chain(own).chain(self.fact_columns().into_iter().map(|fact| &fact.column)).collect()
    }

    /// The states that can be reached from `state` by one step or more.
    pub(crate) fn reachable(&self, state: usize) -> Vec<bool> {
        let mut reached = vec![false; self.states.len()];
        let mut open = vec![state];
        while let Some(from) = open.pop() {
            for step in self.leaving(from) {
                if !std::mem::replace(&mut reached[step.target.index], true) {
                    open.push(step.target.index);
                }
            }
        }
        reached
    }

    /// The transitions that leave `state`.
    pub(crate) fn leaving(&self, state: usize) -> impl Iterator<Item = &Transition> {
        self.transitions.iter().filter(move |step| step.sources.iter().any(|source| source.index == state))
    }
}

/// What a status is called in a table, if nothing else was said.
pub(crate) fn snake_case(name: &Ident) -> String {
    name.unraw().to_string().to_snake_case()
}

/// Whether two names are one to the compiler, which does not see `r#`.
pub(crate) fn same_name(a: &Ident, b: &Ident) -> bool {
    a.unraw() == b.unraw()
}

/// Whether two names are the same column: databases do not tell case apart.
pub(crate) fn same_column(a: &LitStr, b: &LitStr) -> bool {
    a.value().to_lowercase() == b.value().to_lowercase()
}

/// Whether two types are written alike.
pub(crate) fn same_type(a: &Type, b: &Type) -> bool {
    a.to_token_stream().to_string() == b.to_token_stream().to_string()
}

/// The last word of a type's path and its arguments, through the invisible groups that a user's own macro
/// leaves.
pub(crate) fn last_segment(ty: &Type) -> Option<&syn::PathSegment> {
    match ty {
        Type::Path(path) if path.qself.is_none() => path.path.segments.last(),
        Type::Group(group) => last_segment(&group.elem),
        Type::Paren(paren) => last_segment(&paren.elem),
        _ => None,
    }
}

/// The `T` of an `Option<T>`.
fn option_of(ty: &Type) -> Option<&Type> {
    let segment = last_segment(ty).filter(|segment| segment.ident == "Option")?;
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
        return None;
    };
    match arguments.args.first() {
        Some(GenericArgument::Type(inner)) if arguments.args.len() == 1 => Some(inner),
        _ => None,
    }
}
