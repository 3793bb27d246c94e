-- Messages from outside that were verified. The first payload under a message id has the variant '', each other one
-- the digest of its body. Names from outside are bytes here, whatever the default collation.
CREATE TABLE IF NOT EXISTS onward_inbox (
    id           BIGINT AUTO_INCREMENT PRIMARY KEY,
    source       VARBINARY(64) NOT NULL,
    message_id   VARBINARY(512) NOT NULL,
    variant      VARBINARY(64) NOT NULL,
    business_key VARBINARY(512),
    headers      LONGBLOB NOT NULL,
    body         LONGBLOB NOT NULL,
    digest       BINARY(32) NOT NULL,
    received_at  DATETIME(6) NOT NULL,
    status       VARBINARY(32) NOT NULL CHECK (status IN ('received', 'claimed', 'applied', 'duplicate', 'refused', 'failed', 'needs_attention', 'closed')),
    -- Every write raises it; a claim is known by the version that it made.
    version      BIGINT NOT NULL,
    -- Claims since it was received or given back.
    attempts     BIGINT NOT NULL,
    owner        VARBINARY(64),
    -- From when it may be claimed; null for what is done or waits for a person.
    next_at      DATETIME(6),
    outcome      VARBINARY(64),
    note         BLOB,
    done_at      DATETIME(6),
    UNIQUE onward_inbox_message (source, message_id, variant),
    INDEX onward_inbox_due (source, next_at, id),
    INDEX onward_inbox_key (source, business_key, id),
    INDEX onward_inbox_status (source, status, id),
    INDEX onward_inbox_done (source, done_at, id)
) ENGINE = InnoDB;

-- What nobody could verify: kept by digest for a while, never processed.
CREATE TABLE IF NOT EXISTS onward_unverified (
    source       VARBINARY(64) NOT NULL,
    digest       BINARY(32) NOT NULL,
    business_key VARBINARY(512),
    headers      LONGBLOB NOT NULL,
    body         LONGBLOB NOT NULL,
    received_at  DATETIME(6) NOT NULL,
    PRIMARY KEY (source, digest),
    INDEX onward_unverified_age (source, received_at)
) ENGINE = InnoDB;
