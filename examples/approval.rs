//! An expense request: reviewed, approved within a limit, rejected, reworked.
//!
//! ```text
//! cargo run --example approval
//! ```
//!
//! A lifecycle only moves forward. Rework does not drag the rejected request back: it is a new request, the next
//! revision, that points to the old one.

#![allow(missing_docs)]

use onward::{Answer, BoxError, Clash, Outcome, sqlx};
use sqlx::{SqlitePool, sqlite::SqlitePoolOptions};
use uuid::Uuid;

onward::lifecycle! {
    /// A request for money.
    pub struct Request in "expense_requests";

    /// What every request has.
    pub struct RequestRow {
        id: Uuid,
        asked_by: String,
        cents: i64,
        /// The rejected request that this one reworks.
        revision_of: Option<Uuid> unique,
    }

    /// Where a request stands.
    pub enum AnyRequest: RequestStatus as i16 {
        Submitted = 1,
        Reviewed = 2 { reviewer: String },
        Approved = 3: Reviewed { approver: String },
        Rejected = 9 { rejected_by: String, reason: Option<String> },
    }

    transitions {
        /// The first level: somebody else has looked at it.
        review:  Submitted            -> Reviewed by reviewer shared;
        /// The second level: a third person, up to a limit.
        approve: Reviewed             -> Approved by approver shared;
        reject:  Submitted | Reviewed -> Rejected by rejected_by shared;
    }
}

/// Methods of your own on a state: the struct is local.
impl Request<Reviewed> {
    fn may_be_approved_by(&self, who: &Manager) -> bool {
        self.reviewer != who.name && self.asked_by != who.name && self.cents <= who.limit_cents
    }
}

/// Domain code takes plain data; a handle coerces to it.
fn receipt(approved: &Approved) -> String {
    format!(
        "{} cents for {}: {}, {}",
        approved.cents, approved.asked_by, approved.reviewer, approved.approver
    )
}

struct Manager {
    name: &'static str,
    limit_cents: i64,
}

const BO: Manager = Manager { name: "bo", limit_cents: 0 };
const CY: Manager = Manager { name: "cy", limit_cents: 500 };
const DI: Manager = Manager { name: "di", limit_cents: 100_000 };

/// What one press of a button does, whoever pressed it first.
async fn decide(db: &SqlitePool, id: Uuid, who: &Manager, yes: bool) -> Result<String, BoxError> {
    let Some(request) = AnyRequest::find(db, id).await? else { return Ok("no such request".into()) };
    if !yes {
        return Ok(say(
            request.reject(who.name.into(), Some("no receipt".into())).apply(db).await?,
            "rejected",
        ));
    }
    match request {
        AnyRequest::Submitted(request) => {
            let review = request.review(who.name.into()).check(|r| r.asked_by != who.name);
            Ok(say(review.apply(db).await?, "reviewed"))
        }
        AnyRequest::Reviewed(request) => {
            let approve = request.approve(who.name.into()).check(|r| r.may_be_approved_by(who));
            Ok(say(approve.apply(db).await?, "approved"))
        }
        done => Ok(format!("already {}", done.status())),
    }
}

fn say<T: onward::Handle<Any = AnyRequest>>(outcome: Outcome<T>, done: &str) -> String {
    match outcome {
        Outcome::Applied(_) | Outcome::Duplicate(_) => done.into(),
        Outcome::Refused(request) => format!("{} cents are not yours to decide", request.cents),
        Outcome::Conflict(c) if c.clash == Clash::OtherCause => "a colleague was first".into(),
        Outcome::Conflict(c) => format!("already {}", c.found.status()),
        Outcome::NotFound => "withdrawn meanwhile".into(),
    }
}

/// A new revision of a rejected request. The unique column sees to it that there is one, not two.
async fn rework(
    db: &SqlitePool,
    old: &Request<Rejected>,
    cents: i64,
) -> Result<Request<Submitted>, BoxError> {
    let row = RequestRow {
        id: Uuid::from_u128(old.id.as_u128() + 1),
        asked_by: old.asked_by.clone(),
        cents,
        revision_of: Some(old.id),
    };
    Ok(Request::create(row).apply(db).await?.applied()?)
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let db = SqlitePoolOptions::new().max_connections(1).connect("sqlite::memory:").await?;
    sqlx::raw_sql(include_str!("../migrations/sqlite/examples/approval.sql")).execute(&db).await?;
    let id = Uuid::from_u128(0x10);
    let row = RequestRow { id, asked_by: "al".into(), cents: 900, revision_of: None };
    let _ = Request::create(row).apply(&db).await?.applied()?;

    let al = Manager { name: "al", limit_cents: i64::MAX };
    for (who, yes, expected) in [
        (&al, true, "900 cents are not yours to decide"), // nobody reviews his own
        (&BO, true, "reviewed"),
        (&BO, true, "900 cents are not yours to decide"), // nor approves what he reviewed
        (&CY, true, "900 cents are not yours to decide"), // above the limit
        (&DI, false, "rejected"),
        (&DI, false, "rejected"), // the button pressed twice
        (&CY, false, "a colleague was first"),
        (&CY, true, "already rejected"),
    ] {
        let said = decide(&db, id, who, yes).await?;
        println!("{} says {}: {said}", who.name, if yes { "yes" } else { "no" });
        assert_eq!(said, expected);
    }

    let rejected: Request<Rejected> = Request::load(&db, id).await?;
    let revision = rework(&db, &rejected, 400).await?;
    println!("rework: {revision:?}");
    // A second rework of the same request is a clash that has a name.
    let row = RequestRow { id: Uuid::from_u128(0x99), ..RequestRow::clone(&revision) };
    let outcome = Request::create(row).apply(&db).await?;
    assert_eq!(outcome.answer(), Answer::Escalate);
    assert!(matches!(outcome, Outcome::Conflict(c) if c.clash == Clash::UniqueTaken(Some("revision_of"))));

    for (who, expected) in [(&BO, "reviewed"), (&CY, "approved"), (&DI, "already approved")] {
        let said = decide(&db, revision.id, who, true).await?;
        println!("{} says yes: {said}", who.name);
        assert_eq!(said, expected);
    }
    let approved: Request<Approved> = Request::load(&db, revision.id).await?;
    let printed = receipt(&approved);
    println!("{printed}");
    assert_eq!(printed, "400 cents for al: bo, cy");
    assert_eq!(approved.revision_of, Some(id));
    println!("check: ok");
    Ok(())
}
