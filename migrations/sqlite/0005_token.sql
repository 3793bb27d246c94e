-- One-time tokens that were issued, by their hash.
CREATE TABLE IF NOT EXISTS onward_token (
    hash       TEXT PRIMARY KEY,
    purpose    TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    used_at    TEXT,
    -- Who consumed it: told apart from every other call, so that a reply that was lost is settled.
    used_by    TEXT
) WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS onward_token_age ON onward_token (purpose, expires_at);
