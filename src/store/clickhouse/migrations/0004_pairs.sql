CREATE TABLE IF NOT EXISTS pairs
(
    chain LowCardinality(String) COMMENT 'Name of the chain',
    address String COMMENT 'Address of the pool' CODEC(ZSTD(1)),
    seq UInt64 COMMENT 'Version: the newest one of a key counts' CODEC(Delta, ZSTD(1)),
    is_deleted UInt8 COMMENT '1: its creation was undone by a fork',
    amm LowCardinality(String) COMMENT 'Name of the exchange',
    token0 String COMMENT 'Address of the pool''s token 0' CODEC(ZSTD(1)),
    token0_symbol String COMMENT 'Its symbol, as the token says' CODEC(ZSTD(1)),
    token0_decimals Nullable(UInt8) COMMENT 'Its decimals; NULL if unknown',
    token0_reserve_raw Nullable(UInt256) COMMENT 'Reserve, in base units; NULL if unknown' CODEC(ZSTD(1)),
    token0_initial_reserve_raw Nullable(UInt256) COMMENT 'Reserve when first seen, in base units; NULL if unknown' CODEC(ZSTD(1)),
    token0_price_usd Nullable(Decimal(76, 40)) COMMENT 'Pool price in dollars; NULL if unknown' CODEC(ZSTD(1)),
    token0_price_native Nullable(Decimal(76, 40)) COMMENT 'Pool price in native coins; NULL if unknown' CODEC(ZSTD(1)),
    token1 String COMMENT 'Address of the pool''s token 1' CODEC(ZSTD(1)),
    token1_symbol String COMMENT 'Its symbol, as the token says' CODEC(ZSTD(1)),
    token1_decimals Nullable(UInt8) COMMENT 'Its decimals; NULL if unknown',
    token1_reserve_raw Nullable(UInt256) COMMENT 'Reserve, in base units; NULL if unknown' CODEC(ZSTD(1)),
    token1_initial_reserve_raw Nullable(UInt256) COMMENT 'Reserve when first seen, in base units; NULL if unknown' CODEC(ZSTD(1)),
    token1_price_usd Nullable(Decimal(76, 40)) COMMENT 'Pool price in dollars; NULL if unknown' CODEC(ZSTD(1)),
    token1_price_native Nullable(Decimal(76, 40)) COMMENT 'Pool price in native coins; NULL if unknown' CODEC(ZSTD(1)),
    target_token Nullable(String) COMMENT 'The side that is not a quote asset; NULL if neither is one' CODEC(ZSTD(1)),
    is_main Bool COMMENT 'The deepest verified pair of its target token',
    tvl_usd Nullable(Decimal(76, 18)) COMMENT 'Both reserves at the pool price, in dollars; NULL if unknown' CODEC(ZSTD(1)),
    tvl_native Nullable(Decimal(76, 18)) COMMENT 'Both reserves at the pool price, in native coins; NULL if unknown' CODEC(ZSTD(1)),
    fdv_usd Nullable(Decimal(76, 18)) COMMENT 'Supply of the target token at the pool price, in dollars; NULL if unknown' CODEC(ZSTD(1)),
    created_at Nullable(DateTime('UTC')) COMMENT 'Time of the block that made the pool; NULL if unknown' CODEC(ZSTD(1)),
    updated_at DateTime('UTC') COMMENT 'Time of the block that last changed it' CODEC(ZSTD(1)),
    first_trade_at Nullable(DateTime('UTC')) COMMENT 'Time of the first swap; NULL if there was none' CODEC(ZSTD(1)),
    last_trade_at Nullable(DateTime('UTC')) COMMENT 'Time of the last swap; NULL if there was none' CODEC(ZSTD(1)),
    last_trade_price_usd Nullable(Decimal(76, 40)) COMMENT 'Dollars paid per target token in the last swap; NULL if unknown' CODEC(ZSTD(1)),
    last_side Nullable(Enum8('buy' = 1, 'sell' = 2)) COMMENT 'What the last swap did with the target token',
    ath_price_usd Nullable(Decimal(76, 40)) COMMENT 'Highest price in dollars; NULL if unknown' CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(seq, is_deleted)
PARTITION BY chain
ORDER BY (chain, address)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
COMMENT 'Pools; read with FINAL'
