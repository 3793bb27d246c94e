//! How whatever works in a loop waits, and stops.

use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    task::Poll,
};

/// Waits for whichever is done first, and says whether that is the end.
pub(crate) async fn ended<S, P>(mut stop: Pin<&mut S>, pause: P) -> bool
where
    S: Future<Output = ()> + Send + ?Sized,
    P: Future<Output = ()> + Send,
{
    let mut pause = pin!(pause);
    poll_fn(|context| {
        if stop.as_mut().poll(context).is_ready() {
            return Poll::Ready(true);
        }
        pause.as_mut().poll(context).map(|()| false)
    })
    .await
}
