-- Pieces of work that were claimed under a key, and what was answered.
CREATE TABLE IF NOT EXISTS onward_claim (
    business    TEXT NOT NULL,
    claim_key   TEXT NOT NULL,
    -- Of the payload: another one under the same key is refused.
    fingerprint BYTEA NOT NULL,
    -- Told apart from every other call; who takes over puts another in its place.
    owner       TEXT NOT NULL,
    -- From when the work may be taken over, as long as there is no answer.
    expires_at  TIMESTAMPTZ NOT NULL,
    -- Until when nothing of it may be forgotten.
    kept_until  TIMESTAMPTZ NOT NULL,
    status      INTEGER,
    answer      BYTEA,
    PRIMARY KEY (business, claim_key)
);

CREATE INDEX IF NOT EXISTS onward_claim_age ON onward_claim (business, kept_until);
