-- Leases by their names. Rows stay when a lease is given back: the number must never come again.
CREATE TABLE IF NOT EXISTS onward_lease (
    name       VARBINARY(512) PRIMARY KEY,
    -- Of whoever has it, or had it last. It grows with each of them.
    fence      BIGINT NOT NULL,
    -- Raised by each transaction that holds the lease: on a cluster only a change counts.
    held       BIGINT NOT NULL,
    -- Null once it was given back.
    owner      VARBINARY(64),
    expires_at DATETIME(6) NOT NULL
) ENGINE = InnoDB;
