-- What moved stock: one row for each order line, kind of movement and operation, written where the stock row is.
-- A quantity of 0 is a tombstone: a release that came before its reserve, and that reserve.
CREATE TABLE IF NOT EXISTS onward_stock_ledger (
    stock     TEXT NOT NULL,
    source    TEXT NOT NULL,
    order_key TEXT NOT NULL,
    line      TEXT NOT NULL,
    kind      TEXT NOT NULL CHECK (kind IN ('deduct', 'reserve', 'confirm', 'release', 'restore')),
    operation TEXT NOT NULL,
    article   TEXT NOT NULL,
    quantity  BIGINT NOT NULL CHECK (quantity >= 0),
    moved_at  TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (stock, source, order_key, line, kind, operation)
);
