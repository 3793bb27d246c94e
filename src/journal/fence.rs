//! After a COMMIT whose reply was lost: did it take effect, and if not, can it still?

use super::{Evidence, FENCE, Logged, Stamp, fresh_identity, statements};
use crate::{
    backend::Backend,
    error::Error,
    fault::Fault,
    plan::{PlanOn, Prepared},
    policy::restarts,
    row::{Columns, Stored, arguments},
    session::{Guarded, Lease},
    statement::{Bind, Statement},
    write::{Scope, Written, write},
};
use sqlx::Pool;
use std::time::Duration;

/// What is certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fenced {
    /// It took effect.
    Applied,
    /// It did not, and never can.
    Never,
}

/// A lost transaction may hold its locks until the server notices that its client has gone.
const LIMIT: Duration = Duration::from_secs(15);

/// Raises the row's version, so that whatever was sent on the old one can take effect no more, and asks the journal.
///
/// That the journal does not know the attempt proves nothing by itself: a COMMIT can still be on its way, or on another
/// node of a cluster. A raised version does. `None` if there is no journal, or no answer in time.
pub(crate) async fn settle<B: Backend, P: PlanOn<B>>(
    plan: &mut P,
    stamp: &Stamp,
    pool: &Pool<B>,
) -> Option<Fenced> {
    statements::<B, P::Any>()?;
    let tries = async {
        let mut restarts = restarts();
        loop {
            if let Ok(mut connection) = Guarded::acquire(pool).await {
                let fenced = try_to_settle::<B, P>(plan, stamp, &mut connection).await;
                match fenced {
                    Ok(fenced) => {
                        connection.release();
                        if fenced.is_some() {
                            return fenced;
                        }
                    }
                    Err(fault) => Lease::Guarded(connection).release_after(&fault),
                }
            }
            tokio::time::sleep(restarts.next()?).await;
        }
    };
    tokio::time::timeout(LIMIT, tries).await.ok().flatten()
}

async fn try_to_settle<B: Backend, P: PlanOn<B>>(
    plan: &mut P,
    stamp: &Stamp,
    connection: &mut B::Connection,
) -> Result<Option<Fenced>, Fault> {
    let logged = plan.logged(stamp);
    let mut passed = false;
    // A new row has no version that could be raised.
    if let Some(state) = logged.from {
        let fence = fence::<B, P>(plan, stamp, state, logged.version).map_err(Fault::Other)?;
        if let Some((raise, entry)) = fence
            && let Written::Yes = write::<B>(connection, &Scope::Alone, FENCE, None, raise, entry).await?
        {
            return Ok(Some(Fenced::Never));
        }
        let (sql, arguments) = plan.reread(false).map_err(Fault::Other)?;
        let rows = B::fetch(connection, sql, arguments).await.map_err(Fault::of_read::<B>)?;
        if let Some(row) = rows.first() {
            let version = P::Any::decode_version(&Columns::selected(row)).map_err(Fault::Other)?;
            passed = version >= logged.version;
        }
    }
    // A later statement than the one that saw the version: what brought the row there has its entry.
    let evidence = Evidence::read::<B, P>(plan, stamp, connection, false).await?;
    let ours = evidence.is_some_and(|evidence| evidence.is_ours(stamp));
    Ok(match (ours, passed) {
        (true, _) => Some(Fenced::Applied),
        (false, true) => Some(Fenced::Never),
        (false, false) => None,
    })
}

/// A write, and its entry where that is a statement of its own.
type Logging<B> = (Prepared<B>, Option<Prepared<B>>);

/// What raises the version of the row where the attempt expected it, and its entry.
fn fence<B: Backend, P: PlanOn<B>>(
    plan: &P,
    stamp: &Stamp,
    state: usize,
    version: i64,
) -> Result<Option<Logging<B>>, Error> {
    let Some(journal) = statements::<B, P::Any>() else { return Ok(None) };
    let cause = Some((stamp.attempt.clone(), false));
    let fence = Logged { transition: FENCE, from: Some(state), to: state, version, cause };
    let own = Stamp { attempt: fresh_identity()?, ..Stamp::default() };
    let prepared = |statement: &'static Statement| -> Result<Prepared<B>, Error> {
        let arguments = arguments::<B>(statement, |arguments, bind| match bind {
            Bind::Expected => P::Any::bind_status(arguments, state),
            Bind::Version => P::Any::bind_version(arguments, version - 1),
            bind => fence.bind::<B, P::Any>(arguments, bind, plan.row(), &own),
        })?;
        Ok((&statement.sql, arguments))
    };
    let entry = journal.entry.as_ref().map(prepared).transpose()?;
    Ok(Some((prepared(&journal.fence)?, entry)))
}
