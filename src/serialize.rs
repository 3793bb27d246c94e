//! Handles are written, never read: status, version, the row's columns and the facts, flat.

use crate::lifecycle::{Lifecycle, State};
use serde::{
    Deserializer, Serializer,
    de::{Error, Visitor},
    ser::SerializeMap as _,
};
use std::{fmt, marker::PhantomData, str::FromStr};
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

/// The cause as text, for events.
#[doc(hidden)]
pub fn text(cause: &impl fmt::Debug) -> String {
    format!("{cause:?}")
}
