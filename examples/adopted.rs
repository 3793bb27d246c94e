//! A table that has been there for years, adopted as it stands: names and types of its own, integer statuses, rows that
//! nobody has looked at for a while.
//!
//! ```text
//! cargo run --example adopted
//! ```
//!
//! The only change to the table is a version column; if it has one under another name, not even that. Old code that
//! sets the status without raising the version is noticed by the status, and a row that makes no sense is an error for
//! that row alone.

#![allow(missing_docs)]

use onward::{BoxError, Clash, ErrorKind, Outcome, sqlx};
use sqlx::sqlite::SqlitePoolOptions;

/// As it was found.
const LEGACY: &str = "
    CREATE TABLE tbl_document (
        doc_pk    INTEGER PRIMARY KEY,
        mandant   INTEGER NOT NULL,
        title     TEXT NOT NULL,
        state     INTEGER NOT NULL,
        signed_by TEXT,
        signed_on TEXT,
        shelf     TEXT,
        changed   TEXT
    );
    INSERT INTO tbl_document (doc_pk, mandant, title, state, signed_by, signed_on) VALUES
        (1, 7, 'lease', 10, NULL, NULL),
        (2, 7, 'offer', 20, 'al', '2019-04-01'),
        (3, 7, 'letter', 20, NULL, NULL),
        (4, 8, 'secret', 10, NULL, NULL),
        (5, 7, 'draft of a draft', 11, NULL, NULL);";

/// What adopting it takes.
const MIGRATION: &str = "ALTER TABLE tbl_document ADD COLUMN row_version INTEGER NOT NULL DEFAULT 0";

onward::lifecycle! {
    /// A document of the archive.
    pub struct Document in "tbl_document" (status = "state", version: i32 = "row_version", updated_at = "changed");

    pub struct DocumentRow {
        id: i64 = "doc_pk",
        /// Joins every WHERE: nobody reaches the documents of another client.
        client: i64 guard = "mandant",
        title: String,
    }

    pub enum AnyDocument: DocumentStatus as i16 {
        Open = 10,
        Signed = 20 { signed_by: String, signed_on: String },
        Filed = 30: Signed { shelf: String },
    }

    transitions {
        sign: Open   -> Signed by signed_by shared;
        file: Signed -> Filed;
    }
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let db = SqlitePoolOptions::new().max_connections(1).connect("sqlite::memory:").await?;
    sqlx::raw_sql(LEGACY).execute(&db).await?;
    sqlx::raw_sql(MIGRATION).execute(&db).await?;

    // Rows from before are handles like any other.
    let offer: Document<Signed> = Document::load(&db, 2, 7).await?;
    println!("{} was signed by {} on {}", offer.title, offer.signed_by, offer.signed_on);
    let filed = offer.file("B4".into()).apply(&db).await?.applied()?;
    assert_eq!((filed.version(), filed.signed_by.as_str()), (1, "al"));

    // Another client's document is not there.
    assert!(AnyDocument::find(&db, 4, 7).await?.is_none());

    // Rows that make no sense are errors that name them, and hide no other.
    for id in [3, 5] {
        let error = AnyDocument::find(&db, id, 7).await.err().ok_or("an unreadable row was read")?;
        println!("{error}");
        assert_eq!(error.kind(), ErrorKind::Unreadable);
    }
    let open = Document::<Open>::list(&db, 7, None, 100).await?;
    assert_eq!(open.rows.len(), 1);

    // Old code goes on writing without the version; its change is noticed by the status.
    let lease: Document<Open> = Document::load(&db, 1, 7).await?;
    let old_code = "UPDATE tbl_document SET state = 30, signed_by = 'bo', signed_on = '2020-01-01', shelf = 'C1' WHERE doc_pk = 1";
    sqlx::query(old_code).execute(&db).await?;
    let outcome = lease.sign("cy".into(), "2026-03-01".into()).apply(&db).await?;
    assert!(matches!(&outcome, Outcome::Conflict(conflict) if conflict.clash == Clash::OtherCause));
    println!("signing the lease: {}", outcome.as_str());
    println!("check: ok");
    Ok(())
}
