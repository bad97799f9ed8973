CREATE TABLE IF NOT EXISTS liquidity
(
    chain LowCardinality(String) COMMENT 'Name of the chain',
    pair String COMMENT 'Address of the pool' CODEC(ZSTD(1)),
    time DateTime('UTC') COMMENT 'Time of the block' CODEC(DoubleDelta, ZSTD(1)),
    block UInt64 COMMENT 'Number of the block' CODEC(Delta, ZSTD(1)),
    tx UInt32 COMMENT 'Index of the transaction in the block' CODEC(ZSTD(1)),
    log UInt32 COMMENT 'Index of the log in the block' CODEC(ZSTD(1)),
    seq UInt64 COMMENT 'Version: the newest one of a key counts' CODEC(Delta, ZSTD(1)),
    is_deleted UInt8 COMMENT '1: the event was undone by a fork',
    kind LowCardinality(String) COMMENT 'addLiquidity, removeLiquidity, createPair or collectFee',
    amm LowCardinality(String) COMMENT 'Name of the exchange',
    transaction String COMMENT 'Hash of the transaction' CODEC(ZSTD(1)),
    provider String COMMENT 'Whose liquidity it is; empty where the exchange does not say' CODEC(ZSTD(1)),
    wallet String COMMENT 'Who signed the transaction' CODEC(ZSTD(1)),
    token0 String COMMENT 'Address of the pool''s token 0' CODEC(ZSTD(1)),
    token0_symbol String COMMENT 'Its symbol, as the token says' CODEC(ZSTD(1)),
    token0_decimals Nullable(UInt8) COMMENT 'Its decimals; NULL if unknown',
    token0_amount_raw UInt256 COMMENT 'Amount that came or went, in base units' CODEC(ZSTD(1)),
    token0_reserve_raw Nullable(UInt256) COMMENT 'Reserve of the pool after the event, in base units; NULL if unknown' CODEC(ZSTD(1)),
    token0_price_usd Nullable(Decimal(76, 40)) COMMENT 'Pool price in dollars; NULL if unknown' CODEC(ZSTD(1)),
    token0_price_native Nullable(Decimal(76, 40)) COMMENT 'Pool price in native coins; NULL if unknown' CODEC(ZSTD(1)),
    token1 String COMMENT 'Address of the pool''s token 1' CODEC(ZSTD(1)),
    token1_symbol String COMMENT 'Its symbol, as the token says' CODEC(ZSTD(1)),
    token1_decimals Nullable(UInt8) COMMENT 'Its decimals; NULL if unknown',
    token1_amount_raw UInt256 COMMENT 'Amount that came or went, in base units' CODEC(ZSTD(1)),
    token1_reserve_raw Nullable(UInt256) COMMENT 'Reserve of the pool after the event, in base units; NULL if unknown' CODEC(ZSTD(1)),
    token1_price_usd Nullable(Decimal(76, 40)) COMMENT 'Pool price in dollars; NULL if unknown' CODEC(ZSTD(1)),
    token1_price_native Nullable(Decimal(76, 40)) COMMENT 'Pool price in native coins; NULL if unknown' CODEC(ZSTD(1)),
    value_usd Nullable(Decimal(76, 18)) COMMENT 'Both amounts at the pool price, in dollars; NULL if unknown' CODEC(ZSTD(1)),
    value_native Nullable(Decimal(76, 18)) COMMENT 'Both amounts at the pool price, in native coins; NULL if unknown' CODEC(ZSTD(1)),
    liquidity_usd Nullable(Decimal(76, 18)) COMMENT 'Both reserves after the event, in dollars; NULL if unknown' CODEC(ZSTD(1)),
    liquidity_native Nullable(Decimal(76, 18)) COMMENT 'Both reserves after the event, in native coins; NULL if unknown' CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(seq, is_deleted)
PARTITION BY (chain, toYYYYMM(time))
ORDER BY (chain, pair, time, block, tx, log)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, ttl_only_drop_parts = 1
COMMENT 'What was added to pools and taken from them, and new pools; read with FINAL'
