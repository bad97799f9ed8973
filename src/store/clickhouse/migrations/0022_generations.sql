-- NATS decides; this copy exists because a lost NATS would otherwise take with it which rows are served.
CREATE TABLE IF NOT EXISTS generations
(
    chain LowCardinality(String) COMMENT 'Name of the chain',
    entry String COMMENT 'Its entry in the bucket GENERATIONS of NATS',
    written_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When this row was written, by the server''s clock'
)
ENGINE = ReplacingMergeTree(written_at)
ORDER BY chain
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
COMMENT 'Which generations of each chain exist; read with FINAL'
