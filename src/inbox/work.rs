//! A worker: claims what is due, has it handled, settles it, and waits for more.

use crate::{
    backend::Backend,
    inbox::{Inbox, claim::Claim, settle::Settles},
    pause::ended,
};
use sqlx::Pool;
use std::{future::Future, pin::pin, time::Duration};

impl Inbox {
    /// Works on what is due until `stop` is done, and then returns after the entry at hand.
    ///
    /// Start as many as there should be, in one process or several; each works on one entry at a time. What the handler
    /// returns settles the claim, see [`Claim::settle`]. A handler that panics ends its worker, and the entry's claim
    /// runs out. Where there is nothing to do, or the database does not answer, it waits for
    /// [`poll_every`](Inbox::poll_every).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/order.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), onward::BoxError> {
    /// # let (db, order) = example().await?;
    /// # onward::migrate(&db).await?;
    /// use onward::{Answer, BoxError, inbox::{Claim, Inbox, Message, Status}};
    ///
    /// let inbox = Inbox::new("mail");
    /// inbox.store(&db, "M-1", &Message::new("hello")).await?;
    ///
    /// let (stop, mut stopped) = tokio::sync::watch::channel(());
    /// let (to, pool) = (inbox.clone(), db.clone());
    /// let worker = tokio::spawn(async move {
    ///     let handler = async |claim: Claim| -> Result<Answer, BoxError> {
    ///         assert_eq!(claim.message().body(), b"hello");
    ///         Ok(Answer::Settled)
    ///     };
    ///     to.work(&pool, async { drop(stopped.changed().await) }, handler).await;
    /// });
    /// while inbox.list(&db, Status::Applied, None, 1).await?.rows.is_empty() {
    ///     tokio::task::yield_now().await;
    /// }
    /// drop(stop);
    /// worker.await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn work<B, H, F>(
        &self,
        pool: &Pool<B>,
        stop: impl Future<Output = ()> + Send,
        handler: H,
    ) -> impl Future<Output = ()> + Send
    where
        B: Backend,
        H: Fn(Claim) -> F + Send + Sync,
        F: Future<Output: Settles + Send + Sync> + Send,
    {
        async move {
            let mut stop = pin!(stop);
            loop {
                let claimed = self.claim_next(pool).await;
                let worked = match claimed {
                    Ok(Some(claim)) => {
                        let work = handler(claim.clone()).await;
                        claim.settle(pool, &work).await.map(|_| true)
                    }
                    Ok(None) => Ok(false),
                    Err(error) => Err(error),
                };
                let pause = match worked {
                    Ok(true) => Duration::ZERO,
                    Ok(false) => self.poll_every,
                    Err(error) => {
                        tracing::error!(target: "onward", source = self.source, outcome = error.kind().as_str());
                        self.poll_every
                    }
                };
                if ended(stop.as_mut(), tokio::time::sleep(pause)).await {
                    return;
                }
            }
        }
    }
}
