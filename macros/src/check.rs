//! What a declaration can get wrong although every name in it means something.
//!
//! Pure functions over the model; each mistake is reported on its very word, with what to do about it.

mod attributes;
mod causes;
mod fields;
mod graph;
mod journal;
mod names;
mod types;

pub(crate) use attributes::attributes;
pub(crate) use causes::causes;
pub(crate) use fields::fields;
pub(crate) use graph::graph;
pub(crate) use journal::journal;
pub(crate) use names::names;
pub(crate) use types::types;
