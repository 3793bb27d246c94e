//! What does not compile, and what the compiler says about it: one mistake a file, each on its very word.
//!
//! `TRYBUILD=overwrite scripts/test --test suite ui::` writes the expected texts anew. Some of them are rustc's own, so
//! they belong to one version of it.

#[test]
fn compile_errors() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
