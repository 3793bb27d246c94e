-- The tables of the example `payment_callback`.
CREATE TABLE shop_orders (
    order_no     TEXT PRIMARY KEY,
    amount_cents INTEGER NOT NULL,
    article      TEXT NOT NULL,
    quantity     INTEGER NOT NULL,
    status       TEXT NOT NULL CHECK (status IN ('pending', 'paid', 'cancelled')),
    version      INTEGER NOT NULL DEFAULT 0,
    provider     TEXT,
    trade_no     TEXT,
    paid_at      TEXT,
    -- A payment settles one order: the database has the last word.
    UNIQUE (provider, trade_no)
);

CREATE TABLE shop_stock (
    article   TEXT PRIMARY KEY,
    available INTEGER NOT NULL CHECK (available >= 0)
);

-- One row for every deduction that took effect.
CREATE TABLE shop_deductions (
    order_no TEXT NOT NULL,
    article  TEXT NOT NULL,
    quantity INTEGER NOT NULL
);
