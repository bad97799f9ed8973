CREATE TABLE IF NOT EXISTS contracts
(
    chain LowCardinality(String) COMMENT 'Name of the chain',
    token String COMMENT 'Address of the token' CODEC(ZSTD(1)),
    seq UInt64 COMMENT 'Version: the newest one of a key counts' CODEC(Delta, ZSTD(1)),
    is_deleted UInt8 COMMENT '1: its examination was undone by a fork',
    block UInt64 COMMENT 'The block whose state it was examined in' CODEC(ZSTD(1)),
    time DateTime('UTC') COMMENT 'Time of the block that told it' CODEC(ZSTD(1)),
    score UInt8 COMMENT 'From 0 to 100, higher is riskier',
    score_version UInt8 COMMENT 'Version of the formula',
    is_honeypot Nullable(Bool) COMMENT 'What was bought cannot be sold; NULL if not tried',
    report String COMMENT 'All that was found, as JSON' CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(seq, is_deleted)
PARTITION BY chain
ORDER BY (chain, token)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
COMMENT 'Contracts of tokens and their risk; read with FINAL'
