//! Rows become handles, and what handles answer about themselves.

use super::attributes::doc;
use super::fields::{converted, convertible, guards, text, typed};
use super::words::Words;
use crate::model::Declaration;
use proc_macro2::TokenStream;

pub(super) fn reading(declaration: &Declaration, words: &Words<'_>) -> TokenStream {
    let of_state = of_state(declaration, words);
    let (reads, history) = (reads(declaration, words), history(declaration, words));
    let answers = answers(declaration, words);
    let any = words.any;
    generate! { words =>
        #of_state

        impl #any {
            #reads
            #history
            #answers
        }
    }
}

/// Only what is journalled has a history.
fn history(declaration: &Declaration, words: &Words<'_>) -> Option<TokenStream> {
    let Words { krate, any, d, .. } = words;
    declaration.journal.as_ref()?;
    let place = std::iter::once(declaration.key()).chain(guards(declaration));
    let (place, key) = (convertible(words, place), converted(words, declaration.key()));
    let guards = guards(declaration).map(|guard| converted(words, guard));
    let guards = generate!(words => (#(#guards,)*));
    Some(generate! { words =>
        /// Reads what the journal knows of the row with this key, the oldest first.
        ///
        /// # Errors
        ///
        /// Those of the database, and `Unreadable` for an entry that this build cannot read.
        pub fn history<'a, #d>(
            db: #d,
            #place
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<#krate::journal::History<Self>, #krate::Error>,
        > + ::core::marker::Send
        where
            #d: #krate::Access<'a>,
            #any: #krate::__private::Stored<#d::Db>,
        {
            #krate::__private::history::<Self, #d>(db, #key, #guards)
        }
    })
}

fn of_state(declaration: &Declaration, words: &Words<'_>) -> TokenStream {
    let Words { krate, order, row, any, status, s, d, .. } = words;
    let key = typed(words, declaration.key());
    let place = std::iter::once(declaration.key()).chain(guards(declaration));
    let (place, key_value) = (convertible(words, place), converted(words, declaration.key()));
    let (guards, guard_values) =
        (convertible(words, guards(declaration)), guards(declaration).map(|guard| converted(words, guard)));
    let guard_values = generate!(words => (#(#guard_values,)*));
    generate! { words =>
        impl<#s: #krate::State<Any = #any, Handle = Self>> #order<#s> {
            /// Reads the row with this key, which must be in this state.
            ///
            /// # Errors
            ///
            /// A row in another state is an error that says where it is: `Behind`, `Past` or `Aside`; no row
            /// is `NotFound`.
            pub fn load<'a, #d>(
                db: #d,
                #place
            ) -> impl ::core::future::Future<Output = ::core::result::Result<Self, #krate::Error>>
            + ::core::marker::Send
            where
                #d: #krate::Access<'a>,
                #any: #krate::__private::Stored<#d::Db>,
            {
                #krate::__private::load::<#s, #d>(db, #key_value, #guard_values)
            }

            /// Reads the rows in this state in the order of their keys: at most `limit`, those after the key
            /// `after`.
            ///
            /// # Errors
            ///
            /// Those of the database. A row that cannot be read is an error in its place.
            pub fn list<'a, #d>(
                db: #d,
                #guards
                after: ::core::option::Option<#key>,
                limit: u32,
            ) -> impl ::core::future::Future<
                Output = ::core::result::Result<#krate::Page<Self, #key>, #krate::Error>,
            > + ::core::marker::Send
            where
                #d: #krate::Access<'a>,
                #any: #krate::__private::Stored<#d::Db>,
            {
                #krate::__private::list::<#s, #d>(db, #guard_values, after, limit)
            }

            /// Changes columns of the row: the state stays, the version rises. The closure runs again on a
            /// fresh row when the policy tries again.
            pub fn amend<'c>(
                self,
                edit: impl ::core::ops::Fn(&mut #row) + ::core::marker::Send + 'c,
            ) -> #krate::Attempt<#krate::Amendment<'c, Self>> {
                #krate::Attempt::amendment(self, edit)
            }

            /// The row's version when it was read or written.
            pub fn version(&self) -> i64 {
                self.0.version()
            }

            /// Where it stands.
            pub fn status(&self) -> #status {
                #s::STATUS
            }
        }
    }
}

fn reads(declaration: &Declaration, words: &Words<'_>) -> TokenStream {
    let Words { krate, any, b, d, .. } = words;
    let columns = declaration.select_list();
    let place = std::iter::once(declaration.key()).chain(guards(declaration));
    let (place, key) = (convertible(words, place), converted(words, declaration.key()));
    let guards = guards(declaration).map(|guard| converted(words, guard));
    let guards = generate!(words => (#(#guards,)*));
    generate! { words =>
        /// The columns that are read, for SELECTs of one's own; they are decoded by name (`sqlx::FromRow`).
        pub const COLUMNS: &'static [&'static str] = &[#(#columns),*];

        /// [`COLUMNS`](Self::COLUMNS) as the text of a SELECT list, quoted for the database; each behind
        /// `alias.` unless the alias is empty.
        pub fn columns<#b: #krate::Backend>(alias: &str) -> ::std::string::String {
            #krate::__private::columns::<#b, Self>(alias)
        }

        /// Reads the row with this key, in whatever state it is.
        ///
        /// # Errors
        ///
        /// Those of the database, and `Unreadable` for a row that this build cannot read.
        pub fn find<'a, #d>(
            db: #d,
            #place
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<::core::option::Option<Self>, #krate::Error>,
        > + ::core::marker::Send
        where
            #d: #krate::Access<'a>,
            #any: #krate::__private::Stored<#d::Db>,
        {
            #krate::__private::find::<Self, #d>(db, #key, #guards)
        }

        /// Reads the row with this key and locks it until the transaction ends.
        ///
        /// On SQLite, which has no row locks, it makes the transaction a writing one.
        ///
        /// # Errors
        ///
        /// `NotInTransaction` outside of a transaction; `RestartTransaction` if the engine gives the
        /// transaction up, as SQLite does when it has read before it writes and another has written meanwhile
        /// (begin it with `onward::begin`).
        pub fn lock<#d>(
            tx: &mut #d,
            #place
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<::core::option::Option<Self>, #krate::Error>,
        > + ::core::marker::Send
        where
            #d: #krate::Session,
            #any: #krate::__private::Stored<#d::Db>,
        {
            #krate::__private::lock::<Self, #d>(tx, #key, #guards)
        }
    }
}

fn answers(declaration: &Declaration, words: &Words<'_>) -> TokenStream {
    let Words { krate, row, any, status, transition, facts, .. } = words;
    let states: Vec<_> = declaration.states.iter().map(|state| &state.name).collect();
    let facts_method = facts_method(declaration, words);
    let allows = doc(&format!(
        "Whether this transition is possible from its state; [`{}`] has them all.",
        text(transition)
    ));
    generate! { words =>
        /// Changes columns of the row, in whatever state it is: the state stays, the version rises.
        pub fn amend<'c>(
            self,
            edit: impl ::core::ops::Fn(&mut #row) + ::core::marker::Send + 'c,
        ) -> #krate::Attempt<#krate::Amendment<'c, Self>> {
            #krate::Attempt::amendment(self, edit)
        }

        /// Where it stands.
        pub fn status(&self) -> #status {
            match self { #(#any::#states(_) => #status::#states,)* }
        }

        /// The row's version when it was read or written.
        pub fn version(&self) -> i64 {
            match self { #(#any::#states(order) => order.0.version(),)* }
        }

        /// The facts that are known in its state.
        pub fn facts(&self) -> #facts<'_> {
            #facts_method
        }

        #allows
        pub fn allows(&self, transition: #transition) -> bool {
            <Self as #krate::Lifecycle>::DESCRIPTION.transitions[transition as usize]
                .from
                .contains(&(self.status() as usize))
        }
    }
}

/// Starts from no facts, and adds those of the state.
fn facts_method(declaration: &Declaration, words: &Words<'_>) -> TokenStream {
    let Words { any, facts, .. } = words;
    let columns: Vec<_> = declaration.fact_columns().into_iter().map(|fact| &fact.name).collect();
    if columns.is_empty() {
        return generate!(words => #facts { _none: ::core::marker::PhantomData });
    }
    let arms = declaration.states.iter().enumerate().map(|(index, state)| {
        let state = &state.name;
        let known = declaration.known(index);
        if known.is_empty() {
            return generate!(words => #any::#state(_) => {});
        }
        let assignments = known.into_iter().map(|fact| {
            let name = &fact.name;
            if fact.optional() {
                generate!(words => facts.#name = order.#name.as_ref();)
            } else {
                generate!(words => facts.#name = ::core::option::Option::Some(&order.#name);)
            }
        });
        generate!(words => #any::#state(order) => { #(#assignments)* })
    });
    generate! { words =>
        let mut facts = #facts { #(#columns: ::core::option::Option::None,)* };
        match self { #(#arms)* }
        facts
    }
}
