-- What was done once: one row for each source and business key, written in the transaction of the work itself.
CREATE TABLE IF NOT EXISTS onward_once (
    source       TEXT NOT NULL,
    business_key TEXT NOT NULL,
    first_at     TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (source, business_key)
);

CREATE INDEX IF NOT EXISTS onward_once_age ON onward_once (source, first_at);
