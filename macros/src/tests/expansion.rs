//! The output, printed as a person would have written it, against `macros/tests/expansion/*.rs`.

use super::sound;
use crate::expand::expand;
use std::path::PathBuf;

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
