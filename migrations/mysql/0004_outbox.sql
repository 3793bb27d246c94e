-- Events, written in the transaction of what they tell about. Of the events of a key that are not done, only the one
-- with the smallest id is ever sent. Names are bytes here, whatever the default collation.
CREATE TABLE IF NOT EXISTS onward_outbox (
    id           BIGINT AUTO_INCREMENT PRIMARY KEY,
    outbox       VARBINARY(64) NOT NULL,
    event_key    VARBINARY(512) NOT NULL,
    -- What receivers know it by.
    event_id     VARBINARY(64) NOT NULL,
    topic        VARBINARY(512) NOT NULL,
    row_version  BIGINT,
    headers      LONGBLOB NOT NULL,
    payload      LONGBLOB NOT NULL,
    written_at   DATETIME(6) NOT NULL,
    status       VARBINARY(32) NOT NULL CHECK (status IN ('pending', 'claimed', 'failed', 'needs_attention', 'sent', 'closed')),
    -- Every write of the event itself raises it; a claim is known by the version that it made.
    version      BIGINT NOT NULL,
    -- Claims since it was written or given back.
    attempts     BIGINT NOT NULL,
    owner        VARBINARY(64),
    -- From when it may be claimed; null for what is done, waits for a person or for an older event of its key.
    next_at      DATETIME(6),
    -- How often others were put behind it; whoever finishes it cannot miss one.
    followers    BIGINT NOT NULL,
    note         BLOB,
    done_at      DATETIME(6),
    INDEX onward_outbox_due (outbox, next_at, id),
    INDEX onward_outbox_key (outbox, event_key, done_at, id),
    INDEX onward_outbox_done (outbox, done_at, id)
) ENGINE = InnoDB;
