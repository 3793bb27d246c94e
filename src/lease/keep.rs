//! The task behind a lease: takes it, hands it over, renews it, and gives it back.

use super::{CancellationToken, Farewell, Fence, Lease, LeaseStore};
use crate::{error::Error, journal::fresh_identity};
use std::time::Duration;
use tokio::{
    sync::{oneshot, watch},
    time::{Instant, timeout_at},
};

type Given = Result<Option<Lease>, Error>;

pub(super) async fn keep<S: LeaseStore>(
    store: S,
    name: String,
    lasting: Duration,
    give: oneshot::Sender<Given>,
) {
    let taken = match fresh_identity() {
        Ok(owner) => {
            take(&store, &name, &owner, lasting).await.map(|taken| taken.map(|taken| (owner, taken)))
        }
        Err(error) => Err(error),
    };
    let (owner, (number, until)) = match taken {
        Ok(Some(taken)) => taken,
        Ok(None) => return drop(give.send(Ok(None))),
        Err(error) => return drop(give.send(Err(error))),
    };
    tracing::debug!(target: "onward", lease = name, fence = number, outcome = "acquired");
    let lost = CancellationToken::new();
    // Told whatever ends this task.
    let _told = lost.clone().drop_guard();
    let (until, seen) = watch::channel(until);
    let (end, ended) = oneshot::channel();
    let fence = Fence { name: name.clone(), number, lost: lost.clone() };
    // One that nobody waits for any more is dropped here, and given back below.
    drop(give.send(Ok(Some(Lease { fence, until: seen, end }))));

    let kept = Kept { store, name, owner, number, lasting, until, lost };
    let asked = kept.renew(ended).await;
    let released = kept.store.release(&kept.name, &kept.owner).await;
    tracing::debug!(target: "onward", lease = kept.name, fence = number, outcome = released.as_ref().map_or_else(|error| error.kind().as_str(), |()| "released"));
    if let Some(asked) = asked {
        let _ = asked.send(released);
    }
}

/// Its number, and until when it is certain.
async fn take<S: LeaseStore>(
    store: &S,
    name: &str,
    owner: &str,
    lasting: Duration,
) -> Result<Option<(i64, Instant)>, Error> {
    let mut sent = Instant::now();
    let Some(number) = store.take(name, owner, lasting).await? else { return Ok(None) };
    // It may have waited, for a transaction that held it say, until little of its time was left, or none.
    if sent.elapsed() >= lasting / 3 {
        sent = Instant::now();
        if !store.renew(name, owner, lasting).await? {
            return Ok(None);
        }
    }
    Ok(Some((number, sent + lasting)))
}

struct Kept<S> {
    store: S,
    name: String,
    owner: String,
    number: i64,
    lasting: Duration,
    until: watch::Sender<Instant>,
    lost: CancellationToken,
}

impl<S: LeaseStore> Kept<S> {
    /// Renews it until its holder ends it, and gives whoever wants to know about its end.
    async fn renew(&self, mut ended: oneshot::Receiver<Farewell>) -> Option<Farewell> {
        let mut until = *self.until.borrow();
        let mut next = until - self.lasting + self.lasting / 3;
        let why = loop {
            let ending = self.lost.run_until_cancelled(&mut ended);
            match timeout_at(next, ending).await {
                Ok(Some(asked)) => return asked.ok(),
                Ok(None) => break "a write under it was refused",
                Err(_) => {}
            }
            let sure = until - self.lasting / 10;
            let sent = Instant::now();
            if sent >= sure {
                break "it could not be renewed in time";
            }
            match timeout_at(sure, self.store.renew(&self.name, &self.owner, self.lasting)).await {
                Ok(Ok(true)) => {
                    until = sent + self.lasting;
                    self.until.send_replace(until);
                    next = sent + self.lasting / 3;
                }
                Ok(Ok(false)) => break "somebody else has it, or the store has lost it",
                Ok(Err(error)) => {
                    tracing::info!(target: "onward", lease = self.name, fence = self.number, outcome = error.kind().as_str(), "not renewed yet");
                    next = sure.min(Instant::now() + self.lasting / 20);
                }
                Err(_) => break "nobody has answered",
            }
        };
        self.lost.cancel();
        tracing::warn!(target: "onward", lease = self.name, fence = self.number, outcome = "lost", "{why}");
        ended.await.ok()
    }
}
