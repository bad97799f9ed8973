-- Not by month: a fork may bring the switch of a block back with another time, and it has to meet the one before.
CREATE TABLE IF NOT EXISTS switches
(
    chain LowCardinality(String) COMMENT 'Name of the chain',
    token String COMMENT 'Address of the token' CODEC(ZSTD(1)),
    block UInt64 COMMENT 'Number of the block' CODEC(Delta, ZSTD(1)),
    seq UInt64 COMMENT 'Version: the newest one of a key counts' CODEC(Delta, ZSTD(1)),
    is_deleted UInt8 COMMENT '1: the switch was undone by a fork',
    time DateTime('UTC') COMMENT 'Time of the block' CODEC(DoubleDelta, ZSTD(1)),
    old_pair String COMMENT 'Main pair before' CODEC(ZSTD(1)),
    new_pair String COMMENT 'Main pair from then on' CODEC(ZSTD(1)),
    reason LowCardinality(String) COMMENT 'deeper: the new pair is; emptied: what the old one holds is not known any more'
)
ENGINE = ReplacingMergeTree(seq, is_deleted)
PARTITION BY chain
ORDER BY (chain, token, block)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
COMMENT 'Changes of the main pair of a token; read with FINAL'
