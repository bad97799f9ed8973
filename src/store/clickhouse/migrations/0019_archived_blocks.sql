-- A replay needs every message exactly as it was in the log, so nothing here is decoded. The other columns are for people.
CREATE TABLE IF NOT EXISTS archived_blocks
(
    chain LowCardinality(String) COMMENT 'Name of the chain',
    epoch LowCardinality(String) COMMENT 'Epoch of the BLOCKS log',
    seq UInt64 COMMENT 'Sequence of the last frame of the message in that log' CODEC(Delta, ZSTD(1)),
    previous_seq UInt64 COMMENT 'The same of the message before, which shows that none is missing' CODEC(Delta, ZSTD(1)),
    link UInt32 COMMENT 'Checksum of that frame' CODEC(NONE),
    kind LowCardinality(String) COMMENT 'block, undo or final; unreadable for a quarantined message',
    number UInt64 COMMENT 'Number of the block, or of the last valid or last final one' CODEC(Delta, ZSTD(1)),
    hash String COMMENT 'Hash of that block' CODEC(ZSTD(1)),
    time DateTime('UTC') COMMENT 'Time of the block; 1970 for other kinds' CODEC(ZSTD(1)),
    checksum UInt32 COMMENT 'CRC-32 of the body' CODEC(NONE),
    body String COMMENT 'The message, byte for byte' CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree
PARTITION BY (chain, epoch, intDiv(seq, 1000000))
ORDER BY (chain, epoch, seq)
-- A row holds a whole block, so few of them make a granule. A power cut must not take what the log no longer holds.
SETTINGS index_granularity = 64, fsync_after_insert = 1, fsync_part_directory = 1
COMMENT 'BLOCKS up to the last final block; read with FINAL, up to archive_markers'
