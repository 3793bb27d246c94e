//! A few statements on the tables that the crate brings, in a short transaction.

use crate::{
    backend::Backend,
    boundary::Pair,
    error::{Error, ErrorKind},
    fault::Fault,
    policy::restarts,
    session::Db,
};
use std::future::Future;

/// What is done in it. They may run again.
pub(crate) trait Steps<B: Backend>: Sync {
    /// `false` undoes them.
    fn run(&self, connection: &mut B::Connection) -> impl Future<Output = Result<bool, sqlx::Error>> + Send;
}

/// Runs them in a transaction of their own, again after engine conflicts, and says whether they were kept.
pub(crate) async fn together<B: Backend>(
    db: &mut Db<'_, B>,
    table: &'static str,
    steps: &impl Steps<B>,
) -> Result<bool, Error> {
    let mut restarts = restarts();
    loop {
        let lease = db.acquire().await;
        let mut lease = lease.map_err(|error| Error::new(ErrorKind::Database, table).source(error))?;
        let pooled = lease.is_pooled();
        let tried = once(lease.connection(), steps).await;
        let fault = match tried {
            Ok(kept) => {
                lease.release();
                return Ok(kept);
            }
            Err(fault) => fault,
        };
        lease.release_after(&fault);
        match (fault, restarts.next()) {
            (Fault::Conflict(_), Some(delay)) => tokio::time::sleep(delay).await,
            // Nothing of it holds, and there are other connections: on a cluster a transaction that was given up may say so
            // when it is rolled back.
            (Fault::Lost(_), Some(delay)) if pooled => tokio::time::sleep(delay).await,
            (fault, _) => return Err(fault.into_error_of_write(table)),
        }
    }
}

async fn once<B: Backend>(connection: &mut B::Connection, steps: &impl Steps<B>) -> Result<bool, Fault> {
    let mut pair = Pair::<B>::open(connection).await.map_err(Fault::of_open::<B>)?;
    let tried = match steps.run(pair.connection).await {
        Ok(true) => match pair.commit().await.map_err(Fault::of_commit::<B>) {
            Ok(()) => return Ok(true),
            // It may be committed, or still become so.
            Err(fault @ Fault::Unanswered(_)) => return Err(fault),
            Err(fault) => Err(fault),
        },
        Ok(false) => Ok(false),
        Err(error) => Err(Fault::of_read::<B>(error)),
    };
    pair.roll_back().await.map_err(|error| Fault::Lost(error.into()))?;
    tried
}
