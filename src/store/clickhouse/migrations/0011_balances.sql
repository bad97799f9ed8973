CREATE TABLE IF NOT EXISTS balances
(
    chain LowCardinality(String) COMMENT 'Name of the chain',
    token String COMMENT 'Address of the token, or of a pool whose shares these are' CODEC(ZSTD(1)),
    magnitude UInt16 COMMENT 'Roughly how much: grows with the amount, 0 for none or less. The largest stand together' CODEC(ZSTD(1)),
    holder String COMMENT 'Who holds it' CODEC(ZSTD(1)),
    seq UInt64 COMMENT 'Version: the newest one of a key counts' CODEC(Delta, ZSTD(1)),
    is_deleted UInt8 COMMENT '1: holds nothing, or no longer so much',
    amount_raw Int256 COMMENT 'In base units; below zero while older transfers are still being read' CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(seq, is_deleted)
PARTITION BY chain
ORDER BY (chain, token, magnitude, holder)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
COMMENT 'What each address holds of a token; read with FINAL'
