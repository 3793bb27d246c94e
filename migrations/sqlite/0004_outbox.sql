-- Events, written in the transaction of what they tell about. Of the events of a key that are not done, only the one
-- with the smallest id is ever sent.
CREATE TABLE IF NOT EXISTS onward_outbox (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    outbox       TEXT NOT NULL,
    event_key    TEXT NOT NULL,
    -- What receivers know it by.
    event_id     TEXT NOT NULL,
    topic        TEXT NOT NULL,
    row_version  INTEGER,
    headers      TEXT NOT NULL,
    payload      BLOB NOT NULL,
    written_at   TEXT NOT NULL,
    status       TEXT NOT NULL CHECK (status IN ('pending', 'claimed', 'failed', 'needs_attention', 'sent', 'closed')),
    -- Every write of the event itself raises it; a claim is known by the version that it made.
    version      INTEGER NOT NULL,
    -- Claims since it was written or given back.
    attempts     INTEGER NOT NULL,
    owner        TEXT,
    -- From when it may be claimed; null for what is done, waits for a person or for an older event of its key.
    next_at      TEXT,
    -- How often others were put behind it; whoever finishes it cannot miss one.
    followers    INTEGER NOT NULL,
    note         TEXT,
    done_at      TEXT
);

CREATE INDEX IF NOT EXISTS onward_outbox_due ON onward_outbox (outbox, next_at, id);
CREATE INDEX IF NOT EXISTS onward_outbox_key ON onward_outbox (outbox, event_key, done_at, id);
CREATE INDEX IF NOT EXISTS onward_outbox_done ON onward_outbox (outbox, done_at, id);
