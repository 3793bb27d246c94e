//! What a lifecycle is: its description as data, the graph, and the traits that `lifecycle!` implements.

use crate::{
    handle::{Handle, Seal, Snapshot},
    statement::{Dialect, Statements},
};
use serde::ser::SerializeMap;
use std::fmt::{Debug, Write};

/// Everything that was declared, as data: SQL, checks and diagrams derive from it.
///
/// Get it as `AnyOrder::DESCRIPTION` (through [`Lifecycle`]). Only `lifecycle!` makes one; fields may be added at any
/// time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Description {
    /// The name of the declared struct, `Order`.
    pub name: &'static str,
    /// The table, with its schema if one was given: `shop.orders`.
    pub table: &'static str,
    /// The columns that every row has; the first is the key.
    pub columns: &'static [Column],
    /// The column that holds the status.
    pub status: &'static str,
    /// How the status is stored.
    pub status_type: StatusType,
    /// The column that holds the version.
    pub version: &'static str,
    /// The column that each write sets to the database's clock, if one was declared.
    pub updated_at: Option<&'static str>,
    /// Every fact column of every state, each once, in the order of declaration.
    pub facts: &'static [Fact],
    /// The states in the order in which they may be reached; the first is the initial one.
    pub states: &'static [StateInfo],
    /// The transitions in the order of declaration.
    pub transitions: &'static [TransitionInfo],
    /// The table of the journal, if one was declared.
    pub journal: Option<&'static str>,
}

/// A column that every row of a lifecycle has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// The field of the row struct.
    pub field: &'static str,
    /// The column in the table.
    pub column: &'static str,
    /// The Rust type, as it was written.
    pub rust_type: &'static str,
    /// Declared `unique`: a clash on it can be named.
    pub unique: bool,
    /// Declared `guard`: it joins every `WHERE`.
    pub guard: bool,
}

/// A column that is never null in the states that know it, unless its type is an `Option`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fact {
    /// The field of the state struct.
    pub field: &'static str,
    /// The column in the table.
    pub column: &'static str,
    /// The Rust type, as it was written.
    pub rust_type: &'static str,
    /// Declared as `Option`.
    pub optional: bool,
    /// Declared `unique`: a clash on it can be named.
    pub unique: bool,
}

/// How a status is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StatusType {
    /// As text.
    Text,
    /// As an integer of the named Rust type.
    Integer(&'static str),
    /// As a value of the named PostgreSQL enum type; as text on the other databases.
    Enum(&'static str),
}

/// A state of a lifecycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateInfo {
    /// The name of the state's type, `Paid`.
    pub name: &'static str,
    /// The status as text: what is stored, or for integer statuses the name in snake case.
    pub text: &'static str,
    /// The stored integer, if statuses are integers.
    pub code: Option<i64>,
    /// The facts that a transition into this state brings, as places in [`Description::facts`].
    pub own: &'static [usize],
    /// Every fact that is known in this state, likewise.
    pub known: &'static [usize],
}

/// A transition of a lifecycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransitionInfo {
    /// The name of the transition's method, `pay`.
    pub name: &'static str,
    /// The states that it may leave, as places in [`Description::states`].
    pub from: &'static [usize],
    /// The state that it enters, likewise.
    pub to: usize,
    /// The cause: places in the target's [`StateInfo::own`]; empty without `by`.
    pub by: &'static [usize],
    /// Several rows may have moved by the same cause.
    pub shared: bool,
}

impl Description {
    /// Whether some path of transitions leads from one state to another; a state reaches itself.
    pub fn reaches(&self, from: usize, to: usize) -> bool {
        self.reachable(from, None) & bit(to) != 0
    }

    /// Whether a path leads from one state to another that does not pass through `avoided`.
    pub fn reaches_without(&self, from: usize, to: usize, avoided: usize) -> bool {
        self.reachable(from, Some(avoided)) & bit(to) != 0
    }

    /// The states that can be reached, as bits. Transitions point to later states only, so one pass is enough.
    fn reachable(&self, from: usize, avoided: Option<usize>) -> u64 {
        if Some(from) == avoided {
            return 0;
        }
        let mut seen = bit(from);
        for state in from + 1..self.states.len() {
            let entered =
                |t: &TransitionInfo| t.to == state && t.from.iter().any(|source| seen & bit(*source) != 0);
            if Some(state) != avoided && self.transitions.iter().any(entered) {
                seen |= bit(state);
            }
        }
        seen
    }

    /// Whether a row that was in `start` and is now in `found` must have passed through `through`.
    pub(crate) fn must_have_passed(&self, start: usize, found: usize, through: usize) -> bool {
        found == through || (self.reaches(through, found) && !self.reaches_without(start, found, through))
    }

    /// Whether one of these facts can have been stored in a row that is in `found` without it having entered `target`.
    pub(crate) fn stored_elsewhere(&self, facts: &[usize], target: usize, found: usize) -> bool {
        self.states.iter().enumerate().any(|(state, info)| {
            state != target
                && info.own.iter().any(|fact| facts.contains(fact))
                && self.reaches_without(0, state, target)
                && self.reaches_without(state, found, target)
        })
    }

    /// The columns that are part of every `WHERE` beside the status and the version: the key, then the guards.
    pub(crate) fn place(&self) -> impl Iterator<Item = usize> + '_ {
        let guards = self.columns.iter().enumerate();
        std::iter::once(0).chain(guards.filter(|(_, c)| c.guard).map(|(i, _)| i))
    }

    /// The facts of a transition's cause, as places in [`Description::facts`].
    pub(crate) fn cause(&self, transition: usize) -> impl Iterator<Item = usize> + '_ {
        let t = &self.transitions[transition];
        t.by.iter().map(|own| self.states[t.to].own[*own])
    }

    /// The graph as a [Mermaid](https://mermaid.js.org/syntax/stateDiagram.html) state diagram.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/order.rs"));
    /// # fn main() {
    /// use onward::Lifecycle;
    ///
    /// assert!(AnyOrder::DESCRIPTION.mermaid().contains("Pending --> Paid: pay"));
    /// # }
    /// ```
    pub fn mermaid(&self) -> String {
        let mut text = String::from("stateDiagram-v2\n");
        if let Some(first) = self.states.first() {
            let _ = writeln!(text, "    [*] --> {}", first.name);
        }
        for (name, from, to) in self.edges() {
            let _ = writeln!(text, "    {from} --> {to}: {name}");
        }
        for (state, info) in self.states.iter().enumerate() {
            if !self.transitions.iter().any(|t| t.from.contains(&state)) {
                let _ = writeln!(text, "    {} --> [*]", info.name);
            }
        }
        text
    }

    /// The graph in Graphviz' DOT language.
    pub fn dot(&self) -> String {
        let mut text = format!("digraph {:?} {{\n", self.name);
        for info in self.states {
            let _ = writeln!(text, "    {:?};", info.name);
        }
        for (name, from, to) in self.edges() {
            let _ = writeln!(text, "    {from:?} -> {to:?} [label={name:?}];");
        }
        text.push_str("}\n");
        text
    }

    fn edges(&self) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> + '_ {
        self.transitions.iter().flat_map(|t| {
            let from = t.from.iter();
            from.map(|source| (t.name, self.states[*source].name, self.states[t.to].name))
        })
    }
}

const fn bit(state: usize) -> u64 {
    1 << state
}

/// What `lifecycle!` implements for the enum of all handles, `AnyOrder`.
///
/// Only the macro implements it; what it needs beside these items is not part of the public surface.
pub trait Lifecycle: Handle<Any = Self> + Debug + Sized + Send + Sync + 'static {
    /// The key's type.
    type Key: Clone + PartialEq + Debug + Send + Sync + 'static;
    /// The struct of the columns that every row has.
    type Row: Clone + Send + Sync + 'static;
    /// The enum of statuses.
    type Status: Copy + Debug + PartialEq + strum::VariantArray + Send + Sync + 'static;
    /// The enum of transitions.
    type Transition: Copy + Debug + PartialEq + strum::VariantArray + Send + Sync + 'static;
    /// The guard columns' values, as a tuple.
    #[doc(hidden)]
    type Guards: Clone + Send + Sync + 'static;

    /// The declaration as data.
    const DESCRIPTION: &'static Description;

    /// Where it stands.
    fn status(&self) -> Self::Status;
    /// The row's version when it was read or written.
    fn version(&self) -> i64;
    /// The columns that every row has.
    fn row(&self) -> &Self::Row;
    /// The row's key.
    fn key(&self) -> &Self::Key;

    #[doc(hidden)]
    fn state(&self) -> usize;
    #[doc(hidden)]
    fn key_of(row: &Self::Row) -> &Self::Key;
    #[doc(hidden)]
    fn same_place(a: &Self::Row, b: &Self::Row) -> bool;
    /// Key and guards as texts.
    #[doc(hidden)]
    fn place_of(row: &Self::Row) -> Vec<String>;
    #[doc(hidden)]
    fn copy(&self, seal: Seal) -> Self;
    #[doc(hidden)]
    fn with_row(self, row: Self::Row, seal: Seal) -> Self;
    #[doc(hidden)]
    fn statements(dialect: Dialect) -> &'static Statements;
    #[doc(hidden)]
    fn serialize_row<M: SerializeMap>(row: &Self::Row, map: &mut M) -> Result<(), M::Error>;
}

/// What `lifecycle!` implements for each state.
///
/// It is named in bounds of generic code over states; only the macro implements it.
pub trait State: Clone + PartialEq + Debug + Sized + Send + Sync + 'static {
    /// The enum of all handles, `AnyOrder`.
    type Any: Lifecycle;
    /// The handle, `Order<Self>`.
    type Handle: Source<Any = Self::Any> + Debug + Send + Sync + 'static;
    /// The facts that a transition into this state brings.
    #[doc(hidden)]
    type New: Clone + Send + Sync + 'static;

    /// The status of a row in this state.
    const STATUS: <Self::Any as Lifecycle>::Status;
    #[doc(hidden)]
    const INDEX: usize;

    /// The columns that every row has.
    fn row(&self) -> &<Self::Any as Lifecycle>::Row;

    #[doc(hidden)]
    fn wrap(snapshot: Snapshot<Self>) -> Self::Handle;
    #[doc(hidden)]
    fn view(any: &Self::Any) -> Option<&Self::Handle>;
    #[doc(hidden)]
    fn narrow(any: Self::Any) -> Result<Self::Handle, Self::Any>;
    #[doc(hidden)]
    fn widen(handle: Self::Handle) -> Self::Any;
    /// What is known after the step; `None` from a state that no transition leads from to this one.
    #[doc(hidden)]
    fn land(from: Self::Any, new: Self::New) -> Option<Self>;
    /// The first state's facts beside a new row.
    #[doc(hidden)]
    fn start(row: <Self::Any as Lifecycle>::Row, new: Self::New) -> Option<Self>;
    /// The cause as text, for events.
    #[doc(hidden)]
    fn fact_text(new: &Self::New, own: usize) -> String;
    #[doc(hidden)]
    fn serialize_facts<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;
}

/// A handle from which an attempt may start: `Order<S>` or `AnyOrder`.
#[doc(hidden)]
pub trait Source: Handle + Sized + Send + 'static {
    /// The row and its version.
    fn stands(&self) -> (&<Self::Any as Lifecycle>::Row, i64);
    fn view(any: &Self::Any) -> Option<&Self>;
    fn narrow(any: Self::Any) -> Result<Self, Self::Any>;
    fn widen(self) -> Self::Any;
}

/// What a version may be: any integer. Versions are shown as `i64`.
#[doc(hidden)]
pub trait Version: Copy + Send + Sync + 'static {
    const LIMIT: i64;
    fn from_i64(version: i64) -> Option<Self>;
    fn to_i64(self) -> Option<i64>;
}

macro_rules! version {
    ($($t:ty),*) => { $(
        impl Version for $t {
            // An `i64` carries it everywhere, so the widest types stop where an `i64` does.
            #[allow(clippy::cast_possible_wrap, clippy::cast_lossless, clippy::cast_possible_truncation)]
            const LIMIT: i64 = if (<$t>::MAX as u128) < i64::MAX as u128 { <$t>::MAX as i64 } else { i64::MAX };
            fn from_i64(version: i64) -> Option<Self> {
                Self::try_from(version).ok()
            }
            fn to_i64(self) -> Option<i64> {
                i64::try_from(self).ok()
            }
        }
    )* };
}
version!(i8, i16, i32, i64, u8, u16, u32, u64);
