//! A relay: claims what is due, publishes it, marks it, and waits for more.

use crate::{
    backend::Backend,
    error::Error,
    note,
    outbox::{Outbox, delivery::Delivery, entry::Status, observe, publish::Publish},
    outcome::Answer,
    pause::ended,
    session::Db,
};
use sqlx::Pool;
use std::{future::Future, pin::pin};

impl Outbox {
    /// Publishes what is due until `stop` is done, and then returns after the event at hand.
    ///
    /// Start as many as there should be, in one process or several; each publishes one event at a time. A failure counts
    /// as an attempt, and so does a publisher that takes longer than [`claim_for`](Outbox::claim_for), which is dropped
    /// then. Where there is nothing to do, or the database does not answer, it waits for
    /// [`poll_every`](Outbox::poll_every), or for [`wake`](Outbox::wake).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/order.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), onward::BoxError> {
    /// # let (db, order) = example().await?;
    /// # onward::migrate(&db).await?;
    /// use onward::{BoxError, outbox::{Delivery, Event, Outbox}};
    ///
    /// let outbox = Outbox::new("orders");
    /// let (stop, mut stopped) = tokio::sync::watch::channel(());
    /// let (relayed, pool) = (outbox.clone(), db.clone());
    /// let relay = tokio::spawn(async move {
    ///     let publish = async |delivery: Delivery| -> Result<(), BoxError> {
    ///         println!("{} {}", delivery.id(), delivery.topic()); // and the broker's confirmation
    ///         Ok(())
    ///     };
    ///     relayed.relay(&pool, async { drop(stopped.changed().await) }, publish).await;
    /// });
    ///
    /// let mut tx = onward::begin(&db).await?;
    /// outbox.write(&mut tx, Event::new("order.paid", "order-1", "…")).await?;
    /// tx.commit().await?;
    /// outbox.wake();
    /// while outbox.backlog(&db).await?.unsent > 0 {
    ///     tokio::task::yield_now().await;
    /// }
    /// drop(stop);
    /// relay.await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn relay<B: Backend>(
        &self,
        pool: &Pool<B>,
        stop: impl Future<Output = ()> + Send,
        publish: impl Publish,
    ) -> impl Future<Output = ()> + Send {
        async move {
            let mut stop = pin!(stop);
            loop {
                let relayed = self.relay_next(pool, &publish).await;
                let idle = match relayed {
                    Ok(relayed) => relayed.is_none(),
                    Err(error) => {
                        tracing::error!(target: "onward", outbox = self.name, outcome = error.kind().as_str());
                        true
                    }
                };
                let pause = async {
                    if idle {
                        // Whichever comes first; the time is the limit.
                        let _ = tokio::time::timeout(self.poll_every, self.bell.notified()).await;
                    }
                };
                if ended(stop.as_mut(), pause).await {
                    return;
                }
            }
        }
    }

    /// Publishes one event that is due, if there is one, and says what became of it; for those who run relays by means
    /// of their own.
    ///
    /// [`Status::Sent`], [`Status::Failed`], or [`Status::NeedsAttention`] after the last attempt. Once the claim has run
    /// out and somebody else has taken the event over, it is [`Status::Claimed`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Busy`](crate::ErrorKind::Busy), [`ErrorKind::Database`](crate::ErrorKind::Database): what was claimed
    /// is claimed again once the claim has run out, and published again if it had been. [`ErrorKind::Unreadable`](crate::ErrorKind::Unreadable);
    /// [`ErrorKind::TooLong`](crate::ErrorKind::TooLong) for an owner of more than 64 bytes.
    pub fn relay_next<B: Backend>(
        &self,
        pool: &Pool<B>,
        publish: &impl Publish,
    ) -> impl Future<Output = Result<Option<Status>, Error>> + Send {
        async move {
            let mut db = Db::Pool(pool);
            let Some(delivery) = self.claim(&mut db).await? else { return Ok(None) };
            self.deliver(&mut db, delivery, publish).await.map(Some)
        }
    }

    async fn deliver<B: Backend>(
        &self,
        db: &mut Db<'_, B>,
        delivery: Delivery,
        publish: &impl Publish,
    ) -> Result<Status, Error> {
        let entry = delivery.entry.clone();
        let left = delivery.left(self.claim_for);
        // Nothing is begun once the claim has run out: others may have published it since, and later ones.
        let published = if left.is_zero() {
            None
        } else {
            tokio::time::timeout(left, publish.publish(delivery)).await.ok()
        };
        let failure = match published {
            Some(Ok(())) => None,
            Some(Err(error)) => Some(note::of(&*error)),
            None => Some(format!("publishing took longer than the claim holds, {:?}", self.claim_for)),
        };
        let (status, held, answer) = match failure {
            None => {
                let held = self.finish(db, &entry, Status::Sent, None).await?;
                (Status::Sent, held, Answer::Settled)
            }
            Some(failure) => {
                let delay = self.policy.delay_after(entry.attempts);
                let held = self.fail(db, &entry, delay, &note::short(&failure)).await?;
                match delay {
                    Some(_) => (Status::Failed, held, Answer::Later),
                    None => (Status::NeedsAttention, held, Answer::Escalate),
                }
            }
        };
        if held {
            observe::told(self, &entry, status.as_str(), answer);
            return Ok(status);
        }
        observe::told(self, &entry, "claim_lost", Answer::Escalate);
        Ok(Status::Claimed)
    }
}
