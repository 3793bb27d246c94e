-- Messages from outside that were verified. The first payload under a message id has the variant '', each other one
-- the digest of its body.
CREATE TABLE IF NOT EXISTS onward_inbox (
    id           BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source       TEXT NOT NULL,
    message_id   TEXT NOT NULL,
    variant      TEXT NOT NULL,
    business_key TEXT,
    headers      TEXT NOT NULL,
    body         BYTEA NOT NULL,
    digest       BYTEA NOT NULL,
    received_at  TIMESTAMPTZ NOT NULL,
    status       TEXT NOT NULL CHECK (status IN ('received', 'claimed', 'applied', 'duplicate', 'refused', 'failed', 'needs_attention', 'closed')),
    -- Every write raises it; a claim is known by the version that it made.
    version      BIGINT NOT NULL,
    -- Claims since it was received or given back.
    attempts     BIGINT NOT NULL,
    owner        TEXT,
    -- From when it may be claimed; null for what is done or waits for a person.
    next_at      TIMESTAMPTZ,
    outcome      TEXT,
    note         TEXT,
    done_at      TIMESTAMPTZ,
    UNIQUE (source, message_id, variant)
);

CREATE INDEX IF NOT EXISTS onward_inbox_due ON onward_inbox (source, next_at, id);
CREATE INDEX IF NOT EXISTS onward_inbox_key ON onward_inbox (source, business_key, id);
CREATE INDEX IF NOT EXISTS onward_inbox_status ON onward_inbox (source, status, id);
CREATE INDEX IF NOT EXISTS onward_inbox_done ON onward_inbox (source, done_at, id);

-- What nobody could verify: kept by digest for a while, never processed.
CREATE TABLE IF NOT EXISTS onward_unverified (
    source       TEXT NOT NULL,
    digest       BYTEA NOT NULL,
    business_key TEXT,
    headers      TEXT NOT NULL,
    body         BYTEA NOT NULL,
    received_at  TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (source, digest)
);

CREATE INDEX IF NOT EXISTS onward_unverified_age ON onward_unverified (source, received_at);
