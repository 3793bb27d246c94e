-- What was done once: one row for each source and business key, written in the transaction of the work itself.
-- Names from outside are bytes here: a collation would take 'a' and 'A', or 'a' and 'a ', for one.
CREATE TABLE IF NOT EXISTS onward_once (
    source       VARBINARY(64) NOT NULL,
    business_key VARBINARY(512) NOT NULL,
    first_at     DATETIME(6) NOT NULL,
    PRIMARY KEY (source, business_key),
    INDEX onward_once_age (source, first_at)
) ENGINE = InnoDB;
