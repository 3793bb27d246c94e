-- Pieces of work that were claimed under a key, and what was answered.
CREATE TABLE IF NOT EXISTS onward_claim (
    business    VARBINARY(64) NOT NULL,
    claim_key   VARBINARY(512) NOT NULL,
    -- Of the payload: another one under the same key is refused.
    fingerprint BINARY(32) NOT NULL,
    -- Told apart from every other call; who takes over puts another in its place.
    owner       VARBINARY(64) NOT NULL,
    -- From when the work may be taken over, as long as there is no answer.
    expires_at  DATETIME(6) NOT NULL,
    -- Until when nothing of it may be forgotten.
    kept_until  DATETIME(6) NOT NULL,
    status      INT,
    answer      LONGBLOB,
    PRIMARY KEY (business, claim_key),
    INDEX onward_claim_age (business, kept_until)
) ENGINE = InnoDB;
