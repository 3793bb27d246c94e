//! Other keys, other statuses, guards, composite causes.

use super::lifecycles::{Orders as _, approvals, parcels};
use crate::db::{Db, Fixture};
use onward::{Clash, ErrorKind, Outcome};

on_every_database![
    a_tenant_joins_every_where,
    a_composite_cause,
    integer_statuses_and_a_uuid_key,
    quoted_names
];

fn row(code: &str, tenant_id: i64) -> parcels::ParcelRow {
    parcels::ParcelRow { code: code.into(), tenant_id, r#type: Some("box".into()) }
}

async fn a_tenant_joins_every_where<B: Db>(db: Fixture<B>) {
    use parcels::*;
    db.tables::<AnyParcel>(PARCELS).await;
    let mine = Parcel::create(row("A", 1)).apply(&db.pool).await.unwrap().applied().unwrap();
    let _ = Parcel::create(row("B", 2)).apply(&db.pool).await.unwrap().applied().unwrap();
    assert!(AnyParcel::find(&db.pool, "B", 1).await.unwrap().is_none());
    assert_eq!(Parcel::<Packed>::load(&db.pool, "B", 1).await.unwrap_err().kind(), ErrorKind::NotFound);
    let page = Parcel::<Packed>::list(&db.pool, 1, None, 10).await.unwrap();
    let codes: Vec<String> = page.rows.into_iter().map(|row| row.unwrap().code.clone()).collect();
    assert_eq!(codes, ["A"]);
    // The key is taken by a tenant that may not be shown.
    let error = Parcel::create(row("B", 1)).apply(&db.pool).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UniqueTaken);
    // A row that changed hands is not there any more.
    db.run("UPDATE parcels SET tenant_id = 2 WHERE code = 'A'").await;
    let outcome = mine.hand("post".into(), 1).apply(&db.pool).await.unwrap();
    assert!(matches!(outcome, Outcome::NotFound), "{outcome:?}");
    let theirs: Parcel<Packed> = Parcel::load(&db.pool, "A", 2).await.unwrap();
    let error = theirs.amend(|row| row.tenant_id = 1).apply(&db.pool).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyChanged);
}

async fn a_composite_cause<B: Db>(db: Fixture<B>) {
    use parcels::*;
    db.tables::<AnyParcel>(PARCELS).await;
    for code in ["A", "B"] {
        let _ = Parcel::create(row(code, 1)).apply(&db.pool).await.unwrap().applied().unwrap();
    }
    let load = || async { AnyParcel::find(&db.pool, "A", 1).await.unwrap().unwrap() };
    load().await.hand("post".into(), 1).apply(&db.pool).await.unwrap().applied().unwrap();
    assert_eq!(db.text("SELECT status FROM parcels WHERE code = 'A'").await, "HANDED OVER");
    for _ in 0..2 {
        let same = load().await.hand("post".into(), 1).apply(&db.pool).await.unwrap();
        assert!(matches!(same, Outcome::Duplicate(_)), "{same:?}");
        for (carrier, slip) in [("post", 2), ("bike", 1)] {
            let other = load().await.hand(carrier.into(), slip).apply(&db.pool).await.unwrap();
            assert!(matches!(&other, Outcome::Conflict(c) if c.clash == Clash::OtherCause), "{other:?}");
        }
        let _ = load().await.arrive().apply(&db.pool).await.unwrap();
    }
    let b = AnyParcel::find(&db.pool, "B", 1).await.unwrap().unwrap();
    let taken = b.hand("post".into(), 1).apply(&db.pool).await.unwrap();
    let Outcome::Conflict(conflict) = taken else { panic!("{taken:?}") };
    assert_eq!((conflict.clash, conflict.holder.as_deref()), (Clash::CauseTaken, Some("A")));
    assert_eq!(db.text("SELECT status FROM parcels WHERE code = 'A'").await, "arrived");
}

async fn integer_statuses_and_a_uuid_key<B: Db>(db: Fixture<B>) {
    use approvals::*;
    db.tables::<AnyRequest>(REQUESTS).await;
    let id = uuid::Uuid::from_u128(7);
    let draft = Request::create(RequestRow { id, cents: 5, asked_by: "a".into(), limit_cents: 9 });
    let submitted =
        draft.apply(&db.pool).await.unwrap().applied().unwrap().submit().apply(&db.pool).await.unwrap();
    let approved =
        submitted.applied().unwrap().approve("b".into(), Some("fine".into())).apply(&db.pool).await.unwrap();
    assert_eq!(approved.applied().unwrap().remark.as_deref(), Some("fine"));
    let any = AnyRequest::find(&db.pool, id).await.unwrap().unwrap();
    assert_eq!(
        (any.status(), any.status().code(), any.status().as_str()),
        (RequestStatus::Approved, 3, "approved")
    );
    assert_eq!(any.facts().remark.map(String::as_str), Some("fine"));
    assert!(any.allows(RequestTransition::Close) && !any.allows(RequestTransition::Submit));
    db.run("UPDATE requests SET status = 77").await;
    let error = AnyRequest::find(&db.pool, id).await.unwrap_err();
    assert!(error.to_string().contains("77"), "{error}");
    assert_eq!(error.kind(), ErrorKind::Unreadable);
}

mod odd {
    onward::lifecycle! {
        /// Names that need quoting everywhere.
        pub struct Odd in "order" (status = "from", version: i16 = "group");
        pub struct OddRow { select: i64 = "key", note: String = "the note" }
        pub enum AnyOdd: OddStatus { Open, Shut { by: String = "where", r#type: i64 = "Index" } }
        transitions { shut: Open -> Shut by by; }
    }
}

async fn quoted_names<B: Db>(db: Fixture<B>) {
    use odd::*;
    let ddl = "CREATE TABLE ~order~ (~key~ BIGINT PRIMARY KEY, ~the note~ VARCHAR(16), ~from~ VARCHAR(16),
        ~group~ SMALLINT, ~where~ VARCHAR(16), ~Index~ BIGINT)";
    db.run(&ddl.replace('~', if B::ENGINE == "postgres" { "\"" } else { "`" })).await;
    let row = OddRow { select: 1, note: "n".into() };
    let open = Odd::create(row).apply(&db.pool).await.unwrap().applied().unwrap();
    let stale: Odd<Open> = Odd::load(&db.pool, 1).await.unwrap();
    let shut = open.shut("wind".into(), 3).apply(&db.pool).await.unwrap().applied().unwrap();
    assert_eq!((shut.by.as_str(), shut.r#type, shut.note.as_str()), ("wind", 3, "n"));
    let again = stale.shut("wind".into(), 3).apply(&db.pool).await.unwrap();
    assert!(matches!(again, Outcome::Duplicate(_)));
}

#[test]
fn a_declaration_is_data() {
    use onward::Lifecycle as _;
    let d = super::lifecycles::AnyOrder::DESCRIPTION;
    assert_eq!(
        (d.name, d.table, d.status, d.version, d.updated_at),
        ("Order", "orders", "state", "lock_version", Some("modified_at"))
    );
    let columns: Vec<&str> = d.columns.iter().map(|column| column.column).collect();
    assert_eq!(columns, ["id", "order_no", "cust_no", "amount_cents", "note"]);
    assert_eq!(super::lifecycles::AnyOrder::COLUMNS.len(), columns.len() + 2 + d.facts.len());
    assert!(d.reaches(0, 4) && !d.reaches(5, 1) && d.reaches_without(1, 4, 2) && !d.reaches_without(0, 3, 2));
    let mermaid = "stateDiagram-v2
    [*] --> Pending
    Pending --> Paid: pay
    Paid --> Shipped: ship
    Shipped --> Completed: complete
    Paid --> Refunded: refund
    Shipped --> Refunded: refund
    Pending --> Cancelled: cancel
    Completed --> [*]
    Refunded --> [*]
    Cancelled --> [*]
";
    assert_eq!(d.mermaid(), mermaid);
    let dot = d.dot();
    assert!(
        dot.starts_with("digraph \"Order\" {") && dot.contains("\"Paid\" -> \"Shipped\" [label=\"ship\"];"),
        "{dot}"
    );
}
