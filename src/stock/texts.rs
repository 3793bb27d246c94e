//! The statements about one stock on one database: written once, with the names of its own put in.

use crate::{
    query::{self, made},
    statement::{Dialect, quoted},
    stock::{declaration::Stock, kind::Kind},
};

/// Made when they are first needed, and kept.
#[derive(Debug)]
pub(super) struct Texts {
    /// The guarded statement of each kind, in the order of [`Kind`].
    moves: [String; 5],
    /// What there is of an article, and what is reserved; with a lock, so that it is what is committed now.
    pub(super) available: String,
    pub(super) reserved: String,
    pub(super) insert: String,
    pub(super) entry: String,
    pub(super) delete: String,
    pub(super) sums: String,
}

/// Values before the article, then the article, then values behind it: the quantity in all of these places.
const MOVES: [&str; 5] = [
    "UPDATE {table} SET {available} = {available} - ? WHERE {article} = ? AND {available} >= ?",
    "UPDATE {table} SET {available} = {available} - ?, {reserved} = {reserved} + ? WHERE {article} = ? \
     AND {available} >= ? AND {reserved} <= 9223372036854775807 - ?",
    "UPDATE {table} SET {reserved} = {reserved} - ? WHERE {article} = ? AND {reserved} >= ?",
    "UPDATE {table} SET {reserved} = {reserved} - ?, {available} = {available} + ? WHERE {article} = ? \
     AND {reserved} >= ? AND {available} <= 9223372036854775807 - ?",
    "UPDATE {table} SET {available} = {available} + ? WHERE {article} = ? \
     AND {available} <= 9223372036854775807 - ?",
];

const ENTRY: &str =
    "WHERE stock = ? AND source = ? AND order_key = ? AND line = ? AND kind = ? AND operation = ?";

impl Texts {
    pub(super) fn new(stock: &Stock, dialect: Dialect) -> Self {
        let (integer, locked, shared) = match dialect {
            Dialect::Sqlite => ("INTEGER", "", ""),
            Dialect::Postgres => ("BIGINT", " FOR UPDATE", ""),
            // Its snapshot may be older than what the statement before has met.
            Dialect::MySql => ("SIGNED", " FOR UPDATE", " LOCK IN SHARE MODE"),
        };
        let name = |placeholder: &str| match placeholder {
            "table" => quoted(dialect, stock.table),
            "article" => quoted(dialect, stock.article),
            "available" => quoted(dialect, stock.available),
            "reserved" => quoted(dialect, stock.reserved),
            _ => quoted(dialect, stock.ledger),
        };
        let write = |text: &str| named(&made(text, query::Kind::Write, dialect), name);
        let insert = "INSERT INTO {ledger} (stock, source, order_key, line, kind, operation, article, quantity, moved_at) \
                      VALUES (?, ?, ?, ?, ?, ?, ?, ?, {now})";
        let count = |column: &str| {
            format!("SELECT CAST({{{column}}} AS {integer}) FROM {{table}} WHERE {{article}} = ?{locked}")
        };
        let sums = format!(
            "SELECT kind, CAST(SUM(quantity) AS {integer}) FROM {{ledger}} WHERE stock = ? AND source = ? \
             AND order_key = ? AND line = ? AND article = ? GROUP BY kind{shared}"
        );
        Self {
            moves: MOVES.map(write),
            available: write(&count("available")),
            reserved: write(&count("reserved")),
            insert: named(&made(insert, query::Kind::InsertOnce, dialect), name),
            entry: write(&format!("SELECT quantity, article FROM {{ledger}} {ENTRY}{shared}")),
            delete: write(&format!("DELETE FROM {{ledger}} {ENTRY}")),
            sums: write(&sums),
        }
    }

    pub(super) fn moves(&self, kind: Kind) -> &str {
        &self.moves[kind as usize]
    }
}

/// Puts names in, in one pass: they may have anything in them.
fn named(text: &str, name: impl Fn(&str) -> String) -> String {
    let mut parts = text.split('{');
    let mut named = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (placeholder, rest) = part.split_once('}').unwrap_or(("", part));
        named.push_str(&name(placeholder));
        named.push_str(rest);
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_anything_in_them() {
        let stock = Stock::new("shop.the {stock}?").article("a\"b").available("on `hand`").ledger("l");
        let postgres = Texts::new(&stock, Dialect::Postgres);
        assert_eq!(
            postgres.moves(Kind::Deduct),
            r#"UPDATE "shop"."the {stock}?" SET "on `hand`" = "on `hand`" - $1 WHERE "a""b" = $2 AND "on `hand`" >= $3"#
        );
        let mysql = Texts::new(&stock, Dialect::MySql);
        assert_eq!(
            mysql.available,
            "SELECT CAST(`on ``hand``` AS SIGNED) FROM `shop`.`the {stock}?` WHERE `a\"b` = ? FOR UPDATE"
        );
    }

    #[test]
    fn an_entry_is_never_written_over() {
        let stock = Stock::new("stock");
        assert!(Texts::new(&stock, Dialect::Sqlite).insert.ends_with("ON CONFLICT DO NOTHING"));
        assert!(!Texts::new(&stock, Dialect::MySql).insert.contains("IGNORE"));
    }
}
