-- One-time tokens that were issued, by their hash.
CREATE TABLE IF NOT EXISTS onward_token (
    hash       VARBINARY(64) PRIMARY KEY,
    purpose    VARBINARY(64) NOT NULL,
    expires_at DATETIME(6) NOT NULL,
    used_at    DATETIME(6),
    -- Who consumed it: told apart from every other call, so that a reply that was lost is settled.
    used_by    VARBINARY(64),
    INDEX onward_token_age (purpose, expires_at)
) ENGINE = InnoDB;
