//! Mistakes in a declaration: gathered, so that one run of the compiler shows them all, and worded alike.

use quote::ToTokens;
use std::fmt::Display;
use syn::Type;

/// The mistakes found so far.
#[derive(Default)]
pub(crate) struct Report(Option<syn::Error>);

impl Report {
    /// Notes a mistake on `word`: what is wrong, and what to do.
    pub(crate) fn at(&mut self, word: impl ToTokens, message: impl Display) {
        self.add(syn::Error::new_spanned(word, message));
    }

    /// Notes a mistake.
    pub(crate) fn add(&mut self, mistake: syn::Error) {
        match &mut self.0 {
            Some(all) => all.combine(mistake),
            none => *none = Some(mistake),
        }
    }

    /// Whether nothing was wrong so far.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// All mistakes as one error, if there are any.
    pub(crate) fn finish(self) -> syn::Result<()> {
        self.0.map_or(Ok(()), Err)
    }
}

/// What to say after an unknown name: the declared one that looks most like it, or else all there are.
pub(crate) fn known_names<S: Display>(unknown: impl Display, names: impl IntoIterator<Item = S>) -> String {
    let unknown = unknown.to_string().to_lowercase();
    let names: Vec<String> = names.into_iter().map(|name| name.to_string()).collect();
    let likeness = |name: &String| strsim::jaro_winkler(&unknown, &name.to_lowercase());
    let nearest = names.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    match nearest {
        None => "there are none".to_owned(),
        Some(name) if likeness(name) > 0.8 => format!("did you mean `{name}`?"),
        Some(_) => format!("there are {}", list(&names)),
    }
}

/// Names as they stand in a sentence: `` `a`, `b` and `c` ``.
pub(crate) fn list<S: Display>(names: &[S]) -> String {
    series(names, "and")
}

/// The same with another word before the last.
pub(crate) fn series<S: Display>(names: &[S], before_last: &str) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} {before_last} {last}", rest.join(", ")),
    }
}

/// A type as a person would write it; tokens print with blanks between them.
pub(crate) fn written(ty: &Type) -> String {
    let blanks = [(" < ", "<"), (" >", ">"), (" :: ", "::"), (":: ", "::"), (" ,", ","), ("& ", "&")];
    let spaced = ty.to_token_stream().to_string();
    blanks.iter().fold(spaced, |text, (wide, narrow)| text.replace(wide, narrow))
}
