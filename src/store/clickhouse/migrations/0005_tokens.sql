CREATE TABLE IF NOT EXISTS tokens
(
    chain LowCardinality(String) COMMENT 'Name of the chain',
    address String COMMENT 'Address of the token' CODEC(ZSTD(1)),
    seq UInt64 COMMENT 'Version: the newest one of a key counts' CODEC(Delta, ZSTD(1)),
    is_deleted UInt8 COMMENT '1: its first appearance was undone by a fork',
    name String COMMENT 'As the token says' CODEC(ZSTD(1)),
    symbol String COMMENT 'As the token says' CODEC(ZSTD(1)),
    decimals Nullable(UInt8) COMMENT 'NULL if unknown',
    supply_raw Nullable(UInt256) COMMENT 'Supply in base units; NULL if unknown' CODEC(ZSTD(1)),
    price_usd Nullable(Decimal(76, 40)) COMMENT 'Dollars per whole token; NULL if unknown' CODEC(ZSTD(1)),
    price_native Nullable(Decimal(76, 40)) COMMENT 'Native coins per whole token; NULL if unknown' CODEC(ZSTD(1)),
    main_pair Nullable(String) COMMENT 'Deepest verified pair that has the token as its target; NULL if there is none' CODEC(ZSTD(1)),
    main_pair_tvl_usd Nullable(Decimal(76, 18)) COMMENT 'What that pair holds, in dollars; NULL if unknown' CODEC(ZSTD(1)),
    tvl_usd Nullable(Decimal(76, 18)) COMMENT 'What all its pairs hold, in dollars; NULL if unknown' CODEC(ZSTD(1)),
    fdv_usd Nullable(Decimal(76, 18)) COMMENT 'Supply at the price, in dollars; NULL if unknown' CODEC(ZSTD(1)),
    updated_at DateTime('UTC') COMMENT 'Time of the block that last changed it' CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(seq, is_deleted)
PARTITION BY chain
ORDER BY (chain, address)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
COMMENT 'Tokens; read with FINAL'
