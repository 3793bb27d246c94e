//! SHA-256 of several parts.

use sha2::{Digest as _, Sha256};

/// Each part behind its length, so that none runs into the next.
pub(crate) fn digest(parts: &[&str]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}
