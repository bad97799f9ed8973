CREATE TABLE IF NOT EXISTS markers
(
    chain LowCardinality(String) COMMENT 'Name of the chain',
    seq UInt64 COMMENT 'All rows up to this version are written; rows above it belong to a batch that is not',
    number UInt64 COMMENT 'Number of the head block',
    hash String COMMENT 'Hash of the head block',
    time DateTime('UTC') COMMENT 'Time of the head block',
    final_number UInt64 COMMENT 'Nothing at or below this block can change any more',
    log_epoch String COMMENT 'Epoch of the CHANGES log that was read',
    log_seq UInt64 COMMENT 'Sequence in that log up to which it was read',
    log_link UInt32 COMMENT 'Checksum of the log frame at that sequence',
    written_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When this row was written, by the server''s clock'
)
ENGINE = ReplacingMergeTree(seq)
ORDER BY chain
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
COMMENT 'How far each chain is written: the commit point of the writer; read with FINAL'
