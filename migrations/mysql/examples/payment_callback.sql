-- The tables of the example `payment_callback`.
-- Numbers from outside are compared byte by byte, whatever the default collation.
CREATE TABLE shop_orders (
    order_no     VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY,
    amount_cents BIGINT NOT NULL,
    article      VARCHAR(128) NOT NULL,
    quantity     BIGINT NOT NULL,
    status       VARCHAR(128) NOT NULL CHECK (status IN ('pending', 'paid', 'cancelled')),
    version      BIGINT NOT NULL DEFAULT 0,
    provider     VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin,
    trade_no     VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin,
    paid_at      DATETIME(6),
    -- A payment settles one order: the database has the last word.
    UNIQUE (provider, trade_no)
);

CREATE TABLE shop_stock (
    article   VARCHAR(128) PRIMARY KEY,
    available BIGINT NOT NULL CHECK (available >= 0)
);

-- One row for every deduction that took effect.
CREATE TABLE shop_deductions (
    order_no VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    article  VARCHAR(128) NOT NULL,
    quantity BIGINT NOT NULL
);
