//! An order to be paid, in the form that its rival takes.

use crate::{
    orders::{Known, Order, Pending, handles, journalled, journalled_handles},
    rivals::Rivals,
};
use onward::BoxError;
use sqlx::Pool;

pub enum Todo {
    Plain(Order<Pending>),
    Journalled(journalled::Order<journalled::Pending>),
}

impl Todo {
    pub fn known(&self, trade_no: String) -> Known {
        match self {
            Self::Plain(order) => Known::new(order, trade_no),
            Self::Journalled(order) => Known { id: order.id, version: order.version(), trade_no },
        }
    }
}

/// All pending orders by their keys, with what pays them.
pub async fn pending<B: Rivals>(pool: &Pool<B>, with_journal: bool) -> Result<Vec<(Todo, String)>, BoxError> {
    Ok(if with_journal {
        let handles = journalled_handles(pool).await?.into_iter();
        handles.map(|(order, trade_no)| (Todo::Journalled(order), trade_no)).collect()
    } else {
        let handles = handles(pool).await?.into_iter();
        handles.map(|(order, trade_no)| (Todo::Plain(order), trade_no)).collect()
    })
}
