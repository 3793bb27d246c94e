//! Compile errors.
