//! The integers that a version and a status can be.

use crate::model::last_segment;
use syn::Type;

/// Those that databases can hold, with their limits.
const INTEGERS: [(&str, i128, i128); 8] = [
    ("i8", i8::MIN as i128, i8::MAX as i128),
    ("i16", i16::MIN as i128, i16::MAX as i128),
    ("i32", i32::MIN as i128, i32::MAX as i128),
    ("i64", i64::MIN as i128, i64::MAX as i128),
    ("u8", 0, u8::MAX as i128),
    ("u16", 0, u16::MAX as i128),
    ("u32", 0, u32::MAX as i128),
    ("u64", 0, u64::MAX as i128),
];

/// The least and the greatest value of the type, if it is one of them.
pub(crate) fn limits(ty: &Type) -> Option<(i128, i128)> {
    let segment = last_segment(ty)?;
    INTEGERS.iter().find(|(name, ..)| segment.ident == name).map(|&(_, min, max)| (min, max))
}

/// The same for a status, which an `i64` holds everywhere.
pub(crate) fn code_limits(ty: &Type) -> Option<(i128, i128)> {
    limits(ty).filter(|&(_, max)| max <= i128::from(i64::MAX))
}

/// Those that a version can be.
pub(crate) fn names() -> [&'static str; 8] {
    INTEGERS.map(|(name, ..)| name)
}

/// Those that a status can be.
pub(crate) fn code_names() -> Vec<&'static str> {
    let codes = INTEGERS.iter().filter(|(.., max)| *max <= i128::from(i64::MAX));
    codes.map(|(name, ..)| *name).collect()
}
