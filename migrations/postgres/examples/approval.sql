-- The tables of the example `approval`.
CREATE TABLE expense_requests (
    id          UUID PRIMARY KEY,
    asked_by    TEXT NOT NULL,
    cents       BIGINT NOT NULL,
    revision_of UUID,
    status      SMALLINT NOT NULL CHECK (status IN (1, 2, 3, 9)),
    version     BIGINT NOT NULL DEFAULT 0,
    reviewer    TEXT,
    approver    TEXT,
    rejected_by TEXT,
    reason      TEXT,
    -- One rework of a rejected request, not two.
    UNIQUE (revision_of)
);
