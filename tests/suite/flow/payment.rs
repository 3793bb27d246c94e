//! A callback about a payment: stored, claimed, and worked on in one transaction with goods and event.

use super::{AnyOrder, CLAIM, Order, Paid, STOCK, Say, event, patient, tea};
use crate::db::Db;
use onward::{
    Answer, BoxError, Error, Outcome,
    inbox::{Claim, Inbox, Message},
    stock::{Line, Operation},
};
use sqlx::Pool;

/// One delivery of the notification about an order's payment.
#[derive(Clone, Copy)]
pub struct Callback {
    pub order: i64,
    /// The provider sends the same notification again, and other notifications about the same payment.
    pub notification: u32,
}

/// What became of a delivery.
pub struct Told {
    pub answer: Result<Answer, Error>,
    /// What the attempt itself said, if it came to that; the cuts ask.
    #[allow(dead_code)]
    pub paid: Option<Result<Outcome<Order<Paid>>, BoxError>>,
}

impl Callback {
    /// As a handler does it.
    pub async fn handled<B: Db>(self, pool: &Pool<B>, step: impl Say) -> Told {
        step("payment: arrived");
        let mut paid = None;
        let answer = async {
            let inbox = Inbox::new("provider").claim_for(CLAIM).policy(patient());
            let message = Message::new(format!("order {}", self.order)).key(self.order.to_string());
            let id = format!("N-{}-{}", self.order, self.notification);
            let stored = inbox.store(pool, &id, &message).await?;
            step("payment: stored");
            let Some(claim) = inbox.claim(pool, stored.entry().id).await? else {
                return Ok(stored.answer());
            };
            step("payment: claimed");
            let work = self.paid(pool, claim.clone(), step.clone()).await;
            step("payment: worked");
            let answer = claim.settle(pool, &work).await;
            paid = Some(work);
            answer
        };
        let answer = answer.await;
        step("payment: answered");
        Told { answer, paid }
    }

    async fn paid<B: Db>(
        self,
        pool: &Pool<B>,
        claim: Claim,
        step: impl Say,
    ) -> Result<Outcome<Order<Paid>>, BoxError> {
        let Some(order) = AnyOrder::find(pool, self.order).await? else { return Ok(Outcome::NotFound) };
        step("payment: found");
        let paid = order.pay(format!("T-{}", self.order)).apply_with(pool, async move |tx, paid| {
            step("payment: won");
            let operation = Operation::of(paid);
            STOCK.confirm(tx, &operation, &tea()).await?;
            step("payment: confirmed");
            STOCK.deduct(tx, &operation, &[Line::new("box", 1)]).await?;
            step("payment: deducted");
            event::<B>(tx, "paid", self.order, paid.version()).await?;
            step("payment: event");
            claim.applied(tx).await?;
            step("payment: marked");
            Ok::<_, BoxError>(())
        });
        Ok(paid.await?)
    }
}
