//! The output, printed as a person would have written it, against `macros/tests/expansion/*.rs`.

use super::{ORDER, assert_mistake, assert_mistake_part, order as changed, sound};
use crate::expand::expand;
use proc_macro2::{Span, TokenTree};
use quote::ToTokens;
use std::path::PathBuf;
use syn::{Attribute, Item};

#[track_caller]
fn assert_expansion(name: &str, declaration: &str) {
    let file = syn::parse2(expand(&sound(declaration))).unwrap();
    let expansion = prettyplease::unparse(&file);
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "expansion", name].iter().collect();
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, &expansion).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = expansion.lines().zip(expected.lines()).position(|(is, was)| is != was);
    assert!(
        expansion == expected,
        "the expansion differs from {} from line {} on; see what `UPDATE_SNAPSHOTS=1 cargo test -p onward-macros` changes there",
        path.display(),
        1 + differs.unwrap_or(expansion.lines().count().min(expected.lines().count())),
    );
}

/// The example of the design, with a guard.
#[test]
fn order() {
    assert_expansion(
        "order.rs",
        r#"
        /// A customer order.
        pub struct Order in "orders" (status = "state", version: i32 = "lock_version", updated_at = "modified_at");

        /// What every order has.
        pub struct OrderRow {
            id: i64,
            order_no: String unique,
            tenant_id: i64 guard,
            customer_id: i64 = "cust_no",
            amount_cents: i64,
            note: Option<String>,
        }

        /// Where an order stands.
        pub enum AnyOrder: OrderStatus {
            Pending,
            Paid { trade_no: String, paid_at: DateTime<Utc> },
            Shipped: Paid { tracking_no: String },
            Completed: Shipped,
            Refunded: Paid { refund_no: String },
            Cancelled,
        }

        transitions {
            /// Money arrived.
            pay:      Pending        -> Paid by trade_no;
            ship:     Paid           -> Shipped by tracking_no shared;
            complete: Shipped        -> Completed;
            refund:   Paid | Shipped -> Refunded by refund_no;
            cancel:   Pending        -> Cancelled;
        }

        journal in "order_journal";
        "#,
    );
}

/// Nothing documented, integers as statuses, facts from the beginning, facts of two branches, names that need
/// care.
#[test]
fn approval() {
    assert_expansion(
        "approval.rs",
        r#"
        struct Approval in "approvals";

        #[derive(Eq, Debug)]
        struct ApprovalRow { id: Uuid, r#type: String }

        enum AnyApproval: ApprovalStatus as i16 {
            Draft = 0 { from: String },
            /// Somebody asked for it.
            #[derive(serde::Deserialize)]
            Requested = 10: Draft { channel: String, new: i64 = "request_no", amount: Option<Decimal> },
            Approved = 20: Requested { by: String, comment: Option<String> },
            Rejected = -1: Draft { comment: Option<String> },
            S = 30,
        }

        transitions {
            request: Draft -> Requested by (channel, new);
            approve: Requested -> Approved by by shared;
            reject: Draft | Requested | Approved -> Rejected;
            #[deprecated]
            r#try: Draft -> S;
        }
        "#,
    );
}

fn items(declaration: &str) -> Vec<Item> {
    syn::parse2::<syn::File>(expand(&sound(declaration))).unwrap().items
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Struct(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        other => panic!("{}", other.to_token_stream()),
    }
}

#[test]
fn what_is_deprecated_is_used_without_a_warning() {
    let allows = |item: &Item| {
        let texts = attributes(item).iter().map(|attribute| attribute.to_token_stream().to_string());
        texts.filter(|text| text == "# [allow (deprecated)]").count()
    };
    assert!(items(ORDER).iter().all(|item| allows(item) == 0));
    // Nothing generated calls a transition.
    let step = changed("cancel: ", "#[deprecated] cancel: ");
    assert!(items(&step).iter().all(|item| allows(item) == 0));
    for part in ["/// A customer", "/// What", "note: ", "/// Where", "Completed: ", "trade_no: "] {
        for attribute in
            ["#[deprecated]", "#[deprecated = \"\"]", "#[cfg_attr(unix, inline, deprecated(note = \"\"))]"]
        {
            let items = items(&changed(part, &format!("{attribute} {part}")));
            assert!(items.iter().all(|item| allows(item) == 1), "{attribute} {part}");
        }
    }
}

#[test]
fn conditional_attributes_are_passed_on() {
    let declaration = changed("Completed: ", "#[cfg_attr(unix, derive(Eq), doc = \"On unix.\")] Completed: ");
    let items = items(&declaration);
    let completed = items.iter().find_map(|item| match item {
        Item::Struct(item) if item.ident == "Completed" => Some(item.attrs.as_slice()),
        _ => None,
    });
    let completed = completed.unwrap().iter().map(|attribute| attribute.to_token_stream().to_string());
    assert!(completed.into_iter().any(|text| text.starts_with("# [cfg_attr (unix , derive (Eq)")));
    for derived in ["Debug", "Clone", "std::cmp::PartialEq"] {
        let attribute = format!("#[cfg_attr(unix, derive(Eq, {derived}))]");
        let name = derived.rsplit("::").next().unwrap();
        let told = format!("`{name}` is derived anyway; take it out here");
        for part in ["Completed: ", "/// What"] {
            assert_mistake(&changed(part, &format!("{attribute} {part}")), derived, &told);
        }
    }
    let any = "#[cfg_attr(unix, cfg_attr(test, derive(Debug)))]";
    assert_mistake_part(&changed("/// Where", &format!("{any} /// Where")), "Debug", "derived anyway");
}

/// The compiler underlines an item from its visibility to its name.
#[test]
fn an_item_stands_at_its_name() {
    let declaration = ORDER.replace("pub enum", "pub(in crate::tests) enum");
    for item in items(&declaration) {
        let (vis, name) = match item {
            Item::Struct(item) => (item.vis, item.ident),
            Item::Enum(item) => (item.vis, item.ident),
            _ => continue,
        };
        // These three have a visibility of their own.
        if ["Order", "OrderRow", "AnyOrder"].iter().any(|written| name == written) {
            continue;
        }
        let vis = vis.to_token_stream().into_iter();
        assert!(vis.flat_map(spans).all(|span| span.start() == name.span().start()), "{name}");
    }
}

/// Where a token stands, and what is in it.
fn spans(token: TokenTree) -> Vec<Span> {
    let mut all = vec![token.span()];
    if let TokenTree::Group(group) = token {
        all.extend(group.stream().into_iter().flat_map(spans));
    }
    all
}

#[test]
fn a_transition_says_what_it_does() {
    let documentation = |declaration: &str| {
        let mut texts = Vec::new();
        for item in items(declaration) {
            let Item::Impl(item) = item else { continue };
            let methods = item.items.into_iter().filter_map(|item| match item {
                syn::ImplItem::Fn(method) if method.sig.ident == "refund" => Some(method.attrs),
                _ => None,
            });
            texts.extend(methods.map(|attributes| {
                let lines = attributes.iter().filter_map(|attribute| {
                    match &attribute.meta.require_name_value().ok()?.value {
                        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(line), .. }) => Some(line.value()),
                        _ => None,
                    }
                });
                lines.collect::<Vec<String>>().join("\n")
            }));
        }
        texts
    };
    let caused = " The transition `refund`: from `Paid` or `Shipped` to `Refunded`, caused by `refund_no`.";
    let elsewhere = "\n\n From any other state nothing is written; the outcome says what the row is.";
    assert_eq!(documentation(ORDER), [caused, caused, &format!("{caused}{elsewhere}")]);
    let uncaused = " The transition `refund`: from `Paid` or `Shipped` to `Refunded`.\n\n It has no cause, so every later \
         attempt is taken for a repeat.";
    let declaration = changed(" by (refund_no)", "");
    assert_eq!(documentation(&declaration), [uncaused, uncaused, &format!("{uncaused}{elsewhere}")]);
    let declaration = changed("refund:   Paid", "/// Money back.\n refund: Paid");
    assert_eq!(documentation(&declaration), [" Money back."; 3]);
}
