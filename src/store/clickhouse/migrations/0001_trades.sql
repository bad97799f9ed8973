-- The sort key is the natural key: a version or a removal of a trade always meets the trade itself, and the
-- month, being made of the key, never changes under it.
CREATE TABLE IF NOT EXISTS trades
(
    chain LowCardinality(String) COMMENT 'Name of the chain',
    pair String COMMENT 'Address of the pool' CODEC(ZSTD(1)),
    time DateTime('UTC') COMMENT 'Time of the block' CODEC(DoubleDelta, ZSTD(1)),
    block UInt64 COMMENT 'Number of the block' CODEC(Delta, ZSTD(1)),
    tx UInt32 COMMENT 'Index of the transaction in the block' CODEC(ZSTD(1)),
    log UInt32 COMMENT 'Index of the log in the block' CODEC(ZSTD(1)),
    seq UInt64 COMMENT 'Version: the newest one of a key counts' CODEC(Delta, ZSTD(1)),
    is_deleted UInt8 COMMENT '1: the trade was undone by a fork',
    amm LowCardinality(String) COMMENT 'Name of the exchange',
    transaction String COMMENT 'Hash of the transaction' CODEC(ZSTD(1)),
    sender String COMMENT 'Who called the pool' CODEC(ZSTD(1)),
    recipient String COMMENT 'Who received the bought tokens' CODEC(ZSTD(1)),
    wallet String COMMENT 'Who signed the transaction' CODEC(ZSTD(1)),
    target_token Nullable(String) COMMENT 'The side that is not a quote asset; NULL if neither is one' CODEC(ZSTD(1)),
    side Nullable(Enum8('buy' = 1, 'sell' = 2)) COMMENT 'What was done with the target token',
    sold_token String COMMENT 'Token that went into the pool' CODEC(ZSTD(1)),
    sold_symbol String COMMENT 'Its symbol, as the token says' CODEC(ZSTD(1)),
    sold_decimals Nullable(UInt8) COMMENT 'Its decimals; NULL if unknown',
    sold_amount_raw UInt256 COMMENT 'Amount sold, in base units' CODEC(ZSTD(1)),
    sold_reserve_raw Nullable(UInt256) COMMENT 'Reserve of the pool after the swap, in base units; NULL if unknown' CODEC(ZSTD(1)),
    sold_price_usd Nullable(Decimal(76, 40)) COMMENT 'Dollars paid per whole token; NULL if unknown' CODEC(ZSTD(1)),
    sold_price_native Nullable(Decimal(76, 40)) COMMENT 'Native coins paid per whole token; NULL if unknown' CODEC(ZSTD(1)),
    bought_token String COMMENT 'Token that came out of the pool' CODEC(ZSTD(1)),
    bought_symbol String COMMENT 'Its symbol, as the token says' CODEC(ZSTD(1)),
    bought_decimals Nullable(UInt8) COMMENT 'Its decimals; NULL if unknown',
    bought_amount_raw UInt256 COMMENT 'Amount bought, in base units' CODEC(ZSTD(1)),
    bought_reserve_raw Nullable(UInt256) COMMENT 'Reserve of the pool after the swap, in base units; NULL if unknown' CODEC(ZSTD(1)),
    bought_price_usd Nullable(Decimal(76, 40)) COMMENT 'Dollars paid per whole token; NULL if unknown' CODEC(ZSTD(1)),
    bought_price_native Nullable(Decimal(76, 40)) COMMENT 'Native coins paid per whole token; NULL if unknown' CODEC(ZSTD(1)),
    value_usd Nullable(Decimal(76, 18)) COMMENT 'What changed hands, in dollars; NULL if unknown' CODEC(ZSTD(1)),
    value_native Nullable(Decimal(76, 18)) COMMENT 'What changed hands, in native coins; NULL if unknown' CODEC(ZSTD(1)),
    liquidity_usd Nullable(Decimal(76, 18)) COMMENT 'Both reserves after the swap, in dollars; NULL if unknown' CODEC(ZSTD(1)),
    liquidity_native Nullable(Decimal(76, 18)) COMMENT 'Both reserves after the swap, in native coins; NULL if unknown' CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(seq, is_deleted)
PARTITION BY (chain, toYYYYMM(time))
ORDER BY (chain, pair, time, block, tx, log)
-- A power cut must not take rows that the marker already vouches for; rows that are too old go by whole months.
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, ttl_only_drop_parts = 1
COMMENT 'Swaps; read with FINAL'
