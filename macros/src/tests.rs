//! One sound declaration, and what becomes of it when one thing is wrong.

mod causes;
mod expansion;
mod fields;
mod graph;
mod model;
mod names;
mod parse;
mod types;

use crate::model::Declaration;
use proc_macro2::TokenStream;

/// The declaration that each test changes in one place.
const ORDER: &str = r#"
    /// A customer order.
    pub struct Order in "orders" (status = "state", version: i32 = "lock_version", updated_at = "modified_at");

    /// What every order has.
    pub struct OrderRow {
        id: i64,
        order_no: String unique,
        customer_id: i64 = "cust_no",
        tenant_id: i64 guard,
        note: Option<String>,
        r#type: String,
    }

    /// Where an order stands.
    pub enum AnyOrder: OrderStatus {
        Pending,
        Paid { trade_no: String, paid_at: DateTime<Utc>, channel: Option<String> },
        Shipped: Paid { tracking_no: String },
        Completed: Shipped,
        Refunded: Paid { refund_no: String, reason: Option<String> },
        Cancelled { reason: Option<String> },
    }

    transitions {
        pay:      Pending        -> Paid by trade_no;
        ship:     Paid           -> Shipped by tracking_no shared;
        complete: Shipped        -> Completed;
        refund:   Paid | Shipped -> Refunded by (refund_no);
        cancel:   Pending        -> Cancelled;
    }
"#;

/// The sound declaration with `from`, which it has once, replaced by `to`.
fn order(from: &str, to: &str) -> String {
    assert_eq!(ORDER.matches(from).count(), 1, "`{from}` must occur once");
    ORDER.replace(from, to)
}

fn declare(declaration: &str) -> syn::Result<Declaration> {
    let tokens: TokenStream = format!("[::onward] {declaration}").parse().expect("tokens");
    crate::declaration(tokens)
}

fn sound(declaration: &str) -> Declaration {
    declare(declaration).unwrap_or_else(|mistakes| panic!("{:#?}", told(mistakes)))
}

/// Each mistake's word as it stands in the source, and what is said about it.
fn told(mistakes: syn::Error) -> Vec<(String, String)> {
    let told = |mistake: syn::Error| (mistake.span().source_text().unwrap_or_default(), mistake.to_string());
    mistakes.into_iter().map(told).collect()
}

fn mistakes(declaration: &str) -> Vec<(String, String)> {
    told(declare(declaration).err().expect("a mistake"))
}

/// That this, and only this, is wrong.
#[track_caller]
fn assert_mistake(declaration: &str, word: &str, message: &str) {
    assert_eq!(mistakes(declaration), [(word.to_owned(), message.to_owned())]);
}

/// That only this word is wrong, and that what is said about it contains `part`.
#[track_caller]
fn assert_mistake_part(declaration: &str, word: &str, part: &str) {
    match mistakes(declaration).as_slice() {
        [(at, message)] if at == word && message.contains(part) => {}
        other => panic!("expected `{part}` on `{word}`, got {other:#?}"),
    }
}
