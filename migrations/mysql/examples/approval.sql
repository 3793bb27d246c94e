-- The tables of the example `approval`.
CREATE TABLE expense_requests (
    id          BINARY(16) PRIMARY KEY,
    asked_by    VARCHAR(128) NOT NULL,
    cents       BIGINT NOT NULL,
    revision_of BINARY(16),
    status      SMALLINT NOT NULL CHECK (status IN (1, 2, 3, 9)),
    version     BIGINT NOT NULL DEFAULT 0,
    reviewer    VARCHAR(128),
    approver    VARCHAR(128),
    rejected_by VARCHAR(128),
    reason      VARCHAR(128),
    -- One rework of a rejected request, not two.
    UNIQUE (revision_of)
);
