-- What moved stock: one row for each order line, kind of movement and operation, written where the stock row is.
-- A quantity of 0 is a tombstone: a release that came before its reserve, and that reserve. Names are bytes here,
-- whatever the default collation.
CREATE TABLE IF NOT EXISTS onward_stock_ledger (
    stock     VARBINARY(192) NOT NULL,
    source    VARBINARY(192) NOT NULL,
    order_key VARBINARY(512) NOT NULL,
    line      VARBINARY(512) NOT NULL,
    kind      VARBINARY(16) NOT NULL CHECK (kind IN ('deduct', 'reserve', 'confirm', 'release', 'restore')),
    operation VARBINARY(512) NOT NULL,
    article   VARBINARY(512) NOT NULL,
    quantity  BIGINT NOT NULL CHECK (quantity >= 0),
    moved_at  DATETIME(6) NOT NULL,
    PRIMARY KEY (stock, source, order_key, line, kind, operation)
) ENGINE = InnoDB;
