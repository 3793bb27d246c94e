//! When a future is dropped, at random.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
    time::{Duration, Instant},
};
use tokio::task::yield_now;

/// A tiny generator, xorshift: a failure names its seed.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: u64) -> u64 {
        for (left, by) in [(true, 13), (false, 7), (true, 17)] {
            self.0 ^= if left { self.0 << by } else { self.0 >> by };
        }
        self.0 % limit
    }

    pub fn moment(&mut self) -> Moment {
        // Small numbers as often as large ones: what takes long here is short elsewhere.
        match self.below(2) {
            0 => Moment::Polls(1 + self.below(24)),
            _ => {
                let most = 1 << (4 + self.below(10));
                Moment::Micros(self.below(most))
            }
        }
    }
}

/// When a future is dropped.
#[derive(Clone, Copy, Debug)]
pub enum Moment {
    Polls(u64),
    Micros(u64),
}

impl Moment {
    /// `None` if the future was dropped.
    pub async fn cut<F: Future>(self, future: F) -> Option<F::Output> {
        let mut future = pin!(future);
        match self {
            Moment::Polls(mut left) => {
                poll_fn(move |context| match future.as_mut().poll(context) {
                    Poll::Ready(done) => Poll::Ready(Some(done)),
                    Poll::Pending if left <= 1 => Poll::Ready(None),
                    Poll::Pending => {
                        left -= 1;
                        Poll::Pending
                    }
                })
                .await
            }
            Moment::Micros(micros) => {
                let end = Instant::now() + Duration::from_micros(micros);
                // A timer of tokio's counts in milliseconds.
                let over = async {
                    while Instant::now() < end {
                        yield_now().await
                    }
                };
                tokio::select! { done = future => Some(done), () = over => None }
            }
        }
    }
}
