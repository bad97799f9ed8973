CREATE TABLE IF NOT EXISTS archive_markers
(
    chain LowCardinality(String) COMMENT 'Name of the chain',
    epoch String COMMENT 'Epoch of the BLOCKS log',
    seq UInt64 COMMENT 'All messages up to this sequence are archived',
    link UInt32 COMMENT 'Checksum of the frame at that sequence',
    written_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When this row was written, by the server''s clock'
)
ENGINE = ReplacingMergeTree(seq)
ORDER BY (chain, epoch)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
COMMENT 'How far BLOCKS is archived; read with FINAL'
