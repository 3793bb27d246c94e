//! Entries of the ledger about one line of an operation.

use crate::{
    backend::Backend,
    error::{Error, ErrorKind},
    fault::Fault,
    query::{self, Query, required, text},
    stock::{
        declaration::Stock,
        kind::Kind,
        line::{Article, Line},
        operation::Operation,
        texts::Texts,
    },
};

/// One line of an operation.
pub(super) struct Entry<'a> {
    pub(super) stock: &'static Stock,
    pub(super) operation: &'a Operation,
    pub(super) line: &'a Line,
}

/// What an entry says.
pub(super) struct Found {
    /// Zero is a tombstone.
    pub(super) quantity: i64,
    pub(super) article: String,
}

/// What an order has of an article on a line, over all its operations.
#[derive(Default)]
pub(super) struct Sums {
    pub(super) held: i128,
    pub(super) taken: i128,
}

impl Entry<'_> {
    /// Takes the place of this kind of movement, if nobody has.
    pub(super) async fn insert<B: Backend>(
        &self,
        connection: &mut B::Connection,
        kind: Kind,
        quantity: i64,
    ) -> Result<bool, Fault> {
        let insert = Query::<B>::of(&self.texts::<B>().insert, query::Kind::InsertOnce);
        let insert = self.keyed(insert, kind).text(&self.line.article.to_string()).bind(&quantity);
        Ok(insert.run(connection).await.map_err(Fault::of::<B>)?.changed > 0)
    }

    /// What is there for this kind of movement, as it is committed now.
    pub(super) async fn find<B: Backend>(
        &self,
        connection: &mut B::Connection,
        kind: Kind,
    ) -> Result<Option<Found>, Fault> {
        let find = self.keyed(Query::<B>::of(&self.texts::<B>().entry, query::Kind::Read), kind);
        let found = find.run(connection).await.map_err(Fault::of::<B>)?;
        let Some(row) = found.rows.first() else { return Ok(None) };
        let quantity = required::<B, i64>(row, 0, self.stock.ledger).map_err(Fault::Other)?;
        let article = text::<B>(row, 1, self.stock.ledger).map_err(Fault::Other)?.unwrap_or_default();
        Ok(Some(Found { quantity, article }))
    }

    /// Gives the place up again.
    pub(super) async fn delete<B: Backend>(
        &self,
        connection: &mut B::Connection,
        kind: Kind,
    ) -> Result<(), Fault> {
        let delete = self.keyed(Query::<B>::of(&self.texts::<B>().delete, query::Kind::Write), kind);
        delete.run(connection).await.map(drop).map_err(Fault::of::<B>)
    }

    /// What the order has of the article on this line.
    pub(super) async fn sums<B: Backend>(&self, connection: &mut B::Connection) -> Result<Sums, Fault> {
        let sums = self.placed(Query::<B>::of(&self.texts::<B>().sums, query::Kind::Read));
        let sums = sums.text(&self.line.article.to_string()).run(connection).await.map_err(Fault::of::<B>)?;
        let mut all = Sums::default();
        for row in &sums.rows {
            let kind = text::<B>(row, 0, self.stock.ledger).map_err(Fault::Other)?.unwrap_or_default();
            let sum = i128::from(required::<B, i64>(row, 1, self.stock.ledger).map_err(Fault::Other)?);
            match Kind::ALL.into_iter().find(|known| known.as_str() == kind) {
                Some(Kind::Deduct) => all.taken += sum,
                Some(Kind::Reserve) => all.held += sum,
                Some(Kind::Confirm) => (all.held, all.taken) = (all.held - sum, all.taken + sum),
                Some(Kind::Release) => all.held -= sum,
                Some(Kind::Restore) => all.taken -= sum,
                None => {
                    let error = Error::new(ErrorKind::Unreadable, self.stock.ledger);
                    return Err(Fault::Other(error.note(format!("a movement of the kind `{kind}`"))));
                }
            }
        }
        Ok(all)
    }

    /// The guarded statement; whether it had effect.
    pub(super) async fn moves<B: Backend>(
        &self,
        connection: &mut B::Connection,
        kind: Kind,
    ) -> Result<bool, Fault> {
        let mut update = Query::<B>::of(self.texts::<B>().moves(kind), query::Kind::Write);
        for _ in 0..kind.columns() {
            update = update.bind(&self.line.quantity);
        }
        update = self.article(update);
        for _ in 0..kind.columns() {
            update = update.bind(&self.line.quantity);
        }
        match update.run(connection).await.map_err(Fault::of::<B>)?.changed {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Fault::Other(Error::new(ErrorKind::KeyNotUnique, self.stock.table))),
        }
    }

    /// What the stock's row says now, in one of its columns, if there is one. It is locked.
    pub(super) async fn count<B: Backend>(
        &self,
        connection: &mut B::Connection,
        sql: &'static str,
    ) -> Result<Option<i64>, Fault> {
        let count = self.article(Query::<B>::of(sql, query::Kind::Read));
        let found = count.run(connection).await.map_err(Fault::of::<B>)?;
        let count = found.rows.first().map(|row| required::<B, i64>(row, 0, self.stock.table));
        count.transpose().map_err(Fault::Other)
    }

    pub(super) fn texts<B: Backend>(&self) -> &'static Texts {
        self.stock.texts(B::DIALECT)
    }

    fn article<B: Backend>(&self, query: Query<B>) -> Query<B> {
        match &self.line.article {
            Article::Integer(number) => query.bind(number),
            Article::Text(text) => query.bind(text),
        }
    }

    fn placed<B: Backend>(&self, query: Query<B>) -> Query<B> {
        let operation = self.operation;
        query.text(self.stock.table).bind(&operation.source).bind(&operation.order).bind(&self.line.name)
    }

    fn keyed<B: Backend>(&self, query: Query<B>, kind: Kind) -> Query<B> {
        self.placed(query).text(kind.as_str()).bind(&self.operation.name)
    }
}
