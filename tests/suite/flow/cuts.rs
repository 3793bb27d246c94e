//! The connection fails at each protocol message of the flow in turn, in both directions.
//!
//! `scripts/cut-test <database>` takes every message; some of them are part of the suite.

mod answer;

use super::{
    AnyOrder, End,
    broker::{Broker, Sent},
    counted::{Wrong, counted},
    created, index, outbox,
    payment::Callback,
    relay::{consumed, relayed},
    tables,
    unpaid::swept,
};
use crate::{
    db::{Db, Fixture},
    proxy::{Harm, Protocol, Proxy, Side},
};
use answer::{Answer, Says, entry, kind_of, of_error, of_outcome};
use onward::outbox::Status;
use sqlx::{Pool, pool::PoolOptions};
use std::{
    collections::{BTreeMap, HashSet},
    env,
    pin::Pin,
    sync::Arc,
    time::Duration,
};
use tokio::{
    sync::Semaphore,
    task::JoinSet,
    time::{sleep, timeout},
};

const LIMIT: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(20);
/// How many messages come for one that is harmed when the suite runs.
const STRIDE: usize = 12;

/// The connection is cut off, before and after the message; then the message is held, and delivered late.
const HARMS: [(Side, Harm); 5] = [
    (Side::Client, Harm::CutBefore),
    (Side::Client, Harm::CutAfter),
    (Side::Server, Harm::CutBefore),
    (Side::Server, Harm::CutAfter),
    (Side::Client, Harm::Late),
];

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres() {
    each_message_in_turn::<sqlx::Postgres>(Protocol::Postgres).await;
}

#[cfg(feature = "mysql")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mariadb() {
    each_message_in_turn::<sqlx::MySql>(Protocol::MySql).await;
}

/// Nothing but the sweep, at every message: a COMMIT without a reply is but one of them.
#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sweeps_on_postgres() {
    every_message_of_a_sweep::<sqlx::Postgres>(Protocol::Postgres).await;
}

#[cfg(feature = "mysql")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sweeps_on_mariadb() {
    every_message_of_a_sweep::<sqlx::MySql>(Protocol::MySql).await;
}

async fn every_message_of_a_sweep<B: Db>(protocol: Protocol) {
    let flows = HARMS.map(|harm| (harm, End::Cancelled));
    let all = in_turn::<B>(protocol, flows.into(), 1, Flow::swept).await;
    assert!(all.answers["swept applied"] > 0 && all.cuts > 100, "{:?}", all.answers);
}

/// What the flows that were harmed showed.
#[derive(Default)]
struct Shown {
    cuts: usize,
    all: usize,
    unknown: usize,
    /// Answers that later turned out to be untrue.
    untrue: usize,
    wrong: Wrong,
    answers: BTreeMap<String, usize>,
}

async fn each_message_in_turn<B: Db>(protocol: Protocol) {
    let times = env::var("ONWARD_CUTS").map(|times| times.parse::<usize>().unwrap());
    let (times, stride) = times.map_or((1, STRIDE), |times| (times, 1));
    let flows = HARMS.map(|harm| [(harm, End::Paid), (harm, End::Cancelled)]).concat().repeat(times);
    in_turn::<B>(protocol, flows, stride, Flow::once_through).await;
}

async fn in_turn<B: Db>(
    protocol: Protocol,
    flows: Vec<((Side, Harm), End)>,
    stride: usize,
    steps: Steps<B>,
) -> Shown {
    let room = Arc::new(Semaphore::new(16));
    let mut tasks = JoinSet::new();
    for (harm, end) in flows {
        let room = Arc::clone(&room);
        tasks.spawn(async move {
            let _place = room.acquire().await.unwrap();
            // Of its own, so that sweeps and relays do not meet the others.
            let flow = Flow::<B>::fresh(protocol, end, steps).await;
            let (mut id, mut shown) = (0, Shown::default());
            for message in (1 + index(stride)..).step_by(stride) {
                id += 1;
                if !flow.harmed(id, harm, message, &mut shown).await {
                    assert!(message > 10, "{end:?}, {harm:?}: only {message} messages");
                    break;
                }
            }
            let notified = u32::from(end == End::Paid);
            shown.wrong = counted(&flow.db, &flow.broker, id, |_| (end, notified)).await.0;
            shown
        });
    }
    let mut all = Shown::default();
    while let Some(shown) = tasks.join_next().await {
        let shown = shown.unwrap();
        all.cuts += shown.cuts;
        all.all += shown.all;
        all.unknown += shown.unknown;
        all.untrue += shown.untrue;
        all.wrong.lost += shown.wrong.lost;
        all.wrong.doubled += shown.wrong.doubled;
        for (answer, times) in shown.answers {
            *all.answers.entry(answer).or_default() += times;
        }
    }
    println!("{}: {:?}", B::ENGINE, all.answers);
    let Shown { cuts, all: cases, unknown, untrue, wrong: Wrong { lost, doubled }, .. } = all;
    println!("cuts={cuts}/{cases} unknown={unknown} lost={lost} doubled={doubled} false={untrue}");
    assert_eq!((cuts, unknown, lost, doubled, untrue), (cases, 0, 0, 0, 0));
    all
}

/// What an order goes through, on the connection that fails.
type Steps<B> = for<'a> fn(&'a Flow<B>, &'a Pool<B>, i64, usize) -> Going<'a>;
type Going<'a> = Pin<Box<dyn Future<Output = Vec<Answer>> + Send + 'a>>;

struct Flow<B: Db> {
    db: Fixture<B>,
    broker: Broker,
    _folder: tempfile::TempDir,
    protocol: Protocol,
    end: End,
    steps: Steps<B>,
}

impl<B: Db> Flow<B> {
    async fn fresh(protocol: Protocol, end: End, steps: Steps<B>) -> Self {
        let db = B::fresh(3).await;
        tables(&db).await;
        let folder = tempfile::tempdir().unwrap();
        let broker = Broker::at(&folder.path().join("broker"));
        Self { db, broker, _folder: folder, protocol, end, steps }
    }

    /// One order on its way, harmed at one message; whether there are that many.
    async fn harmed(&self, id: i64, (side, harm): (Side, Harm), message: usize, shown: &mut Shown) -> bool {
        let case = format!("{} {:?}, {harm:?} at message {message} of the {side:?}", B::ENGINE, self.end);
        let proxy = Proxy::before(&self.db.url, self.protocol).await;
        let options = PoolOptions::new().max_connections(2).acquire_timeout(Duration::from_secs(10));
        let pool: Pool<B> = options.connect_lazy(&proxy.url(&self.db.url)).unwrap();
        drop(pool.acquire().await.unwrap());
        while pool.num_idle() == 0 {
            sleep(Duration::from_millis(1)).await;
        }

        let before = self.broker.all().len();
        proxy.arm(side, message, harm, 1);
        let answers = timeout(LIMIT, (self.steps)(self, &pool, id, before)).await;
        let answers = answers.unwrap_or_else(|_| panic!("{case}: no answer"));
        let struck = proxy.disarm();
        proxy.release();
        pool.close().await;
        proxy.settled().await;
        let mut tx = onward::begin(&self.db.pool).await.unwrap();
        AnyOrder::lock(&mut tx, id).await.unwrap();
        tx.rollback().await;
        if struck > 0 {
            shown.all += 1;
            shown.cuts += struck;
            for answer in answers {
                let holds = self.holds(&answer.fact).await;
                let is_true = answer.is_true(holds);
                let Answer { step, told, says, held_at_once, .. } = answer;
                if !is_true {
                    println!("{case}: {step} {told}; it held {held_at_once}, then {holds}");
                    shown.untrue += 1;
                }
                shown.unknown += usize::from(says == Says::Unknown);
                *shown.answers.entry(format!("{step} {told}")).or_default() += 1;
            }
        }
        let finished = timeout(LIMIT, self.finished(id, before)).await;
        finished.unwrap_or_else(|_| panic!("{case}: never finished"));
        struck > 0
    }

    /// Each step once, whatever becomes of it, through the connection that fails.
    fn once_through<'a>(&'a self, pool: &'a Pool<B>, id: i64, before: usize) -> Going<'a> {
        Box::pin(async move {
            let mut answers = Vec::new();
            let created = created(pool, id, self.end, |_| {}).await;
            answers.push(self.answer("created", of_outcome(&created), entry(id, "create")).await);
            if self.end == End::Paid {
                answers.extend(self.pay(pool, id).await);
            } else {
                answers.push(self.sweep(pool, id).await);
            }
            answers.extend(self.relay(pool, id).await);
            answers.extend(self.consume(pool, before).await);
            answers
        })
    }

    /// The sweep alone, of an order that is there already.
    fn swept<'a>(&'a self, pool: &'a Pool<B>, id: i64, _: usize) -> Going<'a> {
        Box::pin(async move {
            let created = created(&self.db.pool, id, self.end, |_| {}).await;
            assert_eq!(created.unwrap().as_str(), "applied");
            vec![self.sweep(pool, id).await]
        })
    }

    async fn pay(&self, pool: &Pool<B>, id: i64) -> [Answer; 2] {
        let told = Callback { order: id, notification: 0 }.handled(pool, |_| {}).await;
        let paid = match told.paid {
            None => ("nothing".into(), Says::Nothing),
            Some(Ok(outcome)) => of_outcome(&Ok(outcome)),
            Some(Err(error)) => of_error(kind_of(&error)),
        };
        let paid = self.answer("paid", paid, entry(id, "pay")).await;
        let says = match &told.answer {
            Ok(onward::Answer::Settled) => Says::Yes,
            Ok(onward::Answer::Escalate) => Says::Nonsense,
            Ok(onward::Answer::Later) | Err(_) => Says::Nothing,
        };
        let word = match &told.answer {
            Ok(answer) => format!("{answer:?}"),
            Err(error) => format!("{:?}", error.kind()),
        };
        [paid, self.answer("answered", (word, says), entry(id, "pay")).await]
    }

    async fn sweep(&self, pool: &Pool<B>, id: i64) -> Answer {
        let (swept, failures) = swept(pool, |_| {}).await;
        let told = match (&swept, failures.first()) {
            (_, Some(error)) | (Err(error), None) => of_error(error.kind()),
            (Ok(swept), None) => match (swept.applied, swept.passed + swept.lost) {
                (1, 0) => ("applied".into(), Says::Yes),
                (0, 0) => ("none".into(), Says::No),
                _ => (format!("{swept:?}"), Says::Nonsense),
            },
        };
        self.answer("swept", told, entry(id, "cancel")).await
    }

    async fn relay(&self, pool: &Pool<B>, id: i64) -> Vec<Answer> {
        let (mut answers, mut marked) = (Vec::new(), 0);
        for _ in 0..5 {
            let (told, says) = match relayed(pool, &self.broker, |_| {}).await {
                Ok(None) => break,
                Ok(Some(Status::Sent)) => ("Sent".into(), Says::Yes),
                // On a busy machine the claim has run out before anything was sent.
                Ok(Some(Status::Failed)) => ("Failed".into(), Says::Nothing),
                Ok(Some(status)) => (format!("{status:?}"), Says::Nonsense),
                // It is sent again.
                Err(error) => (format!("{:?}", error.kind()), Says::Nothing),
            };
            marked += i64::from(says == Says::Yes);
            let sent =
                format!("SELECT COUNT(*) FROM onward_outbox WHERE event_key = '{id}' AND status = 'sent'");
            answers.push(self.answer("relayed", (told, says), (sent, marked)).await);
        }
        answers
    }

    async fn consume(&self, pool: &Pool<B>, before: usize) -> Vec<Answer> {
        let mut answers = Vec::new();
        for sent in self.deliveries(before) {
            let told = match consumed(pool, &sent, |_| {}).await {
                Ok(once) => (format!("{once:?}"), Says::Yes),
                // A transaction of one's own has no journal; its key tells the next time.
                Err(error) => match of_error(kind_of(&error)) {
                    (told, Says::Unknown) => (told, Says::Nothing),
                    told => told,
                },
            };
            let mail = format!("SELECT COUNT(*) FROM mails WHERE event_id = '{}'", sent.event_id);
            answers.push(self.answer("consumed", told, (mail, 1)).await);
        }
        answers
    }

    /// What is said to hold may not wait for a message that comes late.
    async fn answer(&self, step: &'static str, (told, says): (String, Says), fact: (String, i64)) -> Answer {
        let held_at_once = self.holds(&fact).await;
        Answer { step, told, says, fact, held_at_once }
    }

    async fn holds(&self, (sql, at_least): &(String, i64)) -> bool {
        self.db.number(sql).await >= *at_least
    }

    /// What has reached the broker since then, each event once.
    fn deliveries(&self, since: usize) -> Vec<Sent> {
        let mut seen = HashSet::new();
        let all = self.broker.all().into_iter().skip(since);
        all.filter(|sent| seen.insert(sent.event_id.clone())).collect()
    }

    /// Everything again, on a connection that works, until it is done.
    async fn finished(&self, id: i64, before: usize) {
        let pool = &self.db.pool;
        while created(pool, id, self.end, |_| {}).await.is_err() {}
        if self.end == End::Paid {
            let callback = Callback { order: id, notification: 0 };
            while !matches!(callback.handled(pool, |_| {}).await.answer, Ok(onward::Answer::Settled)) {
                sleep(PAUSE).await;
            }
        } else {
            let pending = format!("SELECT COUNT(*) FROM orders WHERE id = {id} AND status = 'pending'");
            while self.db.number(&pending).await > 0 {
                let _ = swept(pool, |_| {}).await;
            }
        }
        while outbox().backlog(pool).await.unwrap().unsent > 0 {
            if !matches!(relayed(pool, &self.broker, |_| {}).await, Ok(Some(_))) {
                sleep(PAUSE).await;
            }
        }
        for sent in self.broker.all().into_iter().skip(before) {
            while consumed(pool, &sent, |_| {}).await.is_err() {}
        }
    }
}
