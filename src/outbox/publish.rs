//! What takes events out of the database: a broker's client, or a closure.

use crate::{error::BoxError, outbox::delivery::Delivery};
use std::future::Future;

/// Publishes an event somewhere. Closures do: `async |delivery: Delivery| -> Result<(), BoxError> { … }`.
///
/// It says `Ok` only when the event is safe at its destination (a broker's confirmation, not the end of a write), since
/// it is not sent again after that. It may be asked for the same event again: [`Delivery::id`] is the same then.
///
/// It is dropped where it takes longer than the claim holds: a connection that still owes an answer is not to be used
/// again. What no queue takes is an error too. `examples/brokers` has publishers for RabbitMQ and NATS, to be copied.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/order.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), onward::BoxError> {
/// # let (db, order) = example().await?;
/// # onward::migrate(&db).await?;
/// use onward::{BoxError, outbox::{Delivery, Outbox, Publish}};
/// use std::future::ready;
///
/// struct Client;
///
/// impl Publish for Client {
///     async fn publish(&self, event: Delivery) -> Result<(), BoxError> {
///         println!("{} {} {}", event.id(), event.topic(), event.key()); // and the broker's confirmation
///         Ok(())
///     }
/// }
///
/// // Relays can share one.
/// let (outbox, client) = (Outbox::new("orders"), Client);
/// let relay = || outbox.relay(&db, ready(()), |event| client.publish(event));
/// tokio::join!(relay(), relay());
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not publish events",
    label = "expected a `Publish`, or a closure `async |delivery: Delivery| -> Result<(), BoxError> {{ … }}`"
)]
pub trait Publish: Send + Sync {
    /// Publishes it.
    ///
    /// # Errors
    ///
    /// Any: the event is tried again, after the delay of the outbox's policy. The text is kept as the entry's note.
    fn publish(&self, delivery: Delivery) -> impl Future<Output = Result<(), BoxError>> + Send;
}

impl<P, F, E> Publish for P
where
    P: Fn(Delivery) -> F + Send + Sync,
    F: Future<Output = Result<(), E>> + Send,
    E: Into<BoxError>,
{
    fn publish(&self, delivery: Delivery) -> impl Future<Output = Result<(), BoxError>> + Send {
        let published = self(delivery);
        async move { published.await.map_err(Into::into) }
    }
}
