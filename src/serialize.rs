//! Handles are written, never read: status, version, the row's columns and the facts, flat.

use crate::lifecycle::{Lifecycle, State};
use serde::{
    Deserializer, Serialize, Serializer,
    de::{Error, Visitor},
    ser::SerializeMap as _,
};
use std::{fmt, fmt::Write as _, marker::PhantomData, str::FromStr};
use strum::VariantArray;

#[doc(hidden)]
pub fn serialize_handle<S: State, Z: Serializer>(
    status: &str,
    version: i64,
    data: &S,
    serializer: Z,
) -> Result<Z::Ok, Z::Error> {
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry("status", status)?;
    map.serialize_entry("version", &version)?;
    S::Any::serialize_row(data.row(), &mut map)?;
    data.serialize_facts(&mut map)?;
    map.end()
}

/// A status by its name.
#[doc(hidden)]
pub fn deserialize_name<'de, T, Z>(deserializer: Z) -> Result<T, Z::Error>
where
    T: FromStr + VariantArray + AsRef<str>,
    Z: Deserializer<'de>,
{
    deserializer.deserialize_str(Name(PhantomData))
}

struct Name<T>(PhantomData<T>);

impl<T: FromStr + VariantArray + AsRef<str>> Visitor<'_> for Name<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one of")?;
        for (i, known) in T::VARIANTS.iter().enumerate() {
            write!(f, "{} `{}`", if i == 0 { "" } else { "," }, known.as_ref())?;
        }
        Ok(())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        T::from_str(text).map_err(|_| E::invalid_value(serde::de::Unexpected::Str(text), &self))
    }
}

/// A part of a cause as text, for events and the journal: a text as it is, a number in digits, a `Uuid` as usual.
#[doc(hidden)]
pub fn text(cause: &(impl Serialize + fmt::Debug)) -> String {
    let mut text = String::new();
    match write!(text, "{}", Plain(cause)) {
        Ok(()) => text,
        // Of several parts; a cause is seldom such a thing.
        Err(fmt::Error) => format!("{cause:?}"),
    }
}

/// serde knows how to write what has one part.
struct Plain<'a, T>(&'a T);

impl<T: Serialize> fmt::Display for Plain<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.serialize(f)
    }
}
