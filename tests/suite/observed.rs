//! What `tracing` shows of attempts.

use crate::{
    db::{Db, Fixture},
    lifecycles::{Orders as _, noon},
};
use onward::{
    Answer, BoxError,
    inbox::{Inbox, Message},
};
use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, Once},
};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

on_every_database![every_outcome_is_an_event_without_facts, entries_of_the_inbox_without_their_payload];

/// Keeps the fields of the crate's events in the futures that it watches.
#[derive(Clone, Default)]
pub struct Recorder(Arc<Mutex<Vec<Fields>>>);

pub type Fields = BTreeMap<&'static str, String>;

tokio::task_local! {
    static WATCHING: Recorder;
}

impl Recorder {
    /// One subscriber serves all tests: those that come and go confuse what `tracing` remembers of who listens.
    pub fn watch<F: Future>(&self, future: F) -> impl Future<Output = F::Output> + use<F> {
        static LISTEN: Once = Once::new();
        LISTEN.call_once(|| tracing::subscriber::set_global_default(Router).unwrap());
        WATCHING.scope(self.clone(), future)
    }

    /// The outcomes, without the writes on the way to them.
    pub fn outcomes(&self) -> Vec<Fields> {
        self.0.lock().unwrap().iter().filter(|fields| fields.contains_key("outcome")).cloned().collect()
    }

    /// How many writes matched no row.
    pub fn zero_rows(&self) -> usize {
        self.0
            .lock()
            .unwrap()
            .iter()
            .filter(|fields| fields.get("rows").is_some_and(|rows| rows == "0"))
            .count()
    }
}

/// Brings each event to the recorder of the future that it happens in.
struct Router;

impl Subscriber for Router {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "onward"
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let _ = WATCHING.try_with(|recorder| {
            let mut fields = Fields::new();
            fields.insert("level", event.metadata().level().to_string());
            event.record(&mut Collect(&mut fields));
            recorder.0.lock().unwrap().push(fields);
        });
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

struct Collect<'a>(&'a mut Fields);

impl Visit for Collect<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}

async fn every_outcome_is_an_event_without_facts<B: Db>(db: Fixture<B>) {
    db.orders(2).await;
    let recorder = Recorder::default();
    let attempts = async {
        let (one, two, three) = (db.pending(1).await, db.pending(1).await, db.pending(1).await);
        let pay = one.pay("T-1".into(), noon()).request_id("req-7");
        let _ = pay.apply(&db.pool).await.unwrap().applied().unwrap();
        let _ = two.pay("T-1".into(), noon()).apply(&db.pool).await.unwrap();
        let _ = three.pay("T-2".into(), noon()).apply(&db.pool).await.unwrap();
        let _ = db.pending(2).await.pay("T-3".into(), noon()).check(|_| false).apply(&db.pool).await.unwrap();
        let work = async move |_: &mut B::Connection, _: &_| Err::<(), _>(sqlx::Error::RowNotFound);
        db.pending(2).await.pay("T-3".into(), noon()).apply_with(&db.pool, work).await.unwrap_err();
    };
    recorder.watch(attempts).await;

    let outcomes = recorder.outcomes();
    let told: Vec<(&str, &str)> =
        outcomes.iter().map(|fields| (fields["level"].as_str(), fields["outcome"].as_str())).collect();
    let expected = [
        ("DEBUG", "applied"),
        ("DEBUG", "duplicate"),
        ("WARN", "other_cause"),
        ("WARN", "refused"),
        ("ERROR", "effect"),
    ];
    assert_eq!(told, expected);
    let first = &outcomes[0];
    assert_eq!((first["lifecycle"].as_str(), first["transition"].as_str()), ("Order", "pay"));
    assert_eq!((first["key"].as_str(), first["cause"].as_str()), ("1", "T-1"));
    assert_eq!((first["request_id"].as_str(), first["attempts"].as_str()), ("req-7", "1"));
    assert!(!format!("{outcomes:?}").contains("500"), "a column was shown");
}

async fn entries_of_the_inbox_without_their_payload<B: Db>(db: Fixture<B>) {
    db.inbox(1).await;
    let recorder = Recorder::default();
    let inbox = Inbox::new("alipay");
    let message =
        |body: &str| Message::new(format!("secret {body}")).header("secret", "secret").key("secret");
    let entries = async {
        let _ = inbox.set_aside(&db.pool, &message("forged")).await.unwrap();
        let stored = inbox.store(&db.pool, "N-1", &message("a")).await.unwrap();
        let _ = inbox.store(&db.pool, "N-1", &message("a")).await.unwrap();
        let claim = inbox.claim(&db.pool, stored.entry().id).await.unwrap().unwrap();
        let work: Result<Answer, BoxError> = Err("secret".into());
        claim.settle(&db.pool, &work).await.unwrap();
        claim.settle(&db.pool, &work).await.unwrap();
        claim.duplicate(&db.pool).await.unwrap_err();
        let _ = inbox.store(&db.pool, "N-1", &message("b")).await.unwrap();
        let claim = inbox.claim_next(&db.pool).await.unwrap().unwrap();
        let mut tx = onward::begin(&db.pool).await.unwrap();
        claim.applied(&mut tx).await.unwrap();
        tx.commit().await.unwrap();
        claim.settle(&db.pool, &Answer::Settled).await.unwrap();
    };
    recorder.watch(entries).await;

    let outcomes = recorder.outcomes();
    let told: Vec<(&str, &str)> =
        outcomes.iter().map(|fields| (fields["level"].as_str(), fields["outcome"].as_str())).collect();
    let expected = [
        ("INFO", "unverified"),
        ("DEBUG", "received"),
        ("DEBUG", "repeat"),
        ("DEBUG", "claimed"),
        ("INFO", "error"),
        ("WARN", "claim_lost"),
        ("WARN", "claim_lost"),
        ("WARN", "changed"),
        ("DEBUG", "claimed"),
        ("DEBUG", "applied"),
    ];
    assert_eq!(told, expected);
    let failed = &outcomes[4];
    assert_eq!((failed["source"].as_str(), failed["message_id"].as_str()), ("alipay", "N-1"));
    assert_eq!(failed["attempts"], "1");
    assert!(!format!("{outcomes:?}").contains("secret"), "a payload was shown");
}
