//! Who claims: a name for people, and a place of one's own among the candidates.

use std::hash::{BuildHasher as _, RandomState};

/// The process and a number.
pub(crate) fn name() -> String {
    format!("{}-{:016x}", std::process::id(), random())
}

/// Those that claim begin at different places, so that they do not all want the same one.
pub(crate) fn shift<T>(candidates: &mut [T]) {
    if !candidates.is_empty() {
        candidates.rotate_left(usize::try_from(random()).unwrap_or_default() % candidates.len());
    }
}

/// Some number; the standard library seeds its hashers with chance.
fn random() -> u64 {
    RandomState::new().hash_one(0)
}
