//! What does not compile, and what the compiler says about it: one mistake a file, each on its very word.
//!
//! `TRYBUILD=overwrite cargo test --all-features --test suite ui::` writes the expected texts anew. Some of them are rustc's own, so
//! they belong to one version of it.

// With fewer features, rustc's lists of what implements a trait are shorter.
#[cfg_attr(
    not(all(feature = "postgres", feature = "mysql", feature = "json")),
    ignore = "the expected texts are those of all features"
)]
#[test]
fn compile_errors() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
