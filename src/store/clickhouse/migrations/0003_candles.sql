CREATE TABLE IF NOT EXISTS candles
(
    chain LowCardinality(String) COMMENT 'Name of the chain',
    pair String COMMENT 'Address of the pool' CODEC(ZSTD(1)),
    interval LowCardinality(String) COMMENT 's1, k1, k5 ... k10080: seconds or minutes',
    start DateTime('UTC') COMMENT 'First second of the candle' CODEC(DoubleDelta, ZSTD(1)),
    seq UInt64 COMMENT 'Version: the newest one of a key counts' CODEC(Delta, ZSTD(1)),
    is_deleted UInt8 COMMENT '1: all its trades were undone by a fork',
    usd_open Nullable(Decimal(76, 40)) COMMENT 'First price in dollars; NULL if unknown' CODEC(ZSTD(1)),
    usd_high Nullable(Decimal(76, 40)) COMMENT 'Highest price in dollars; NULL if unknown' CODEC(ZSTD(1)),
    usd_low Nullable(Decimal(76, 40)) COMMENT 'Lowest price in dollars; NULL if unknown' CODEC(ZSTD(1)),
    usd_close Nullable(Decimal(76, 40)) COMMENT 'Last price in dollars; NULL if unknown' CODEC(ZSTD(1)),
    usd_volume Nullable(Decimal(76, 18)) COMMENT 'Value traded, in dollars; NULL if unknown' CODEC(ZSTD(1)),
    native_open Nullable(Decimal(76, 40)) COMMENT 'First price in native coins; NULL if unknown' CODEC(ZSTD(1)),
    native_high Nullable(Decimal(76, 40)) COMMENT 'Highest price in native coins; NULL if unknown' CODEC(ZSTD(1)),
    native_low Nullable(Decimal(76, 40)) COMMENT 'Lowest price in native coins; NULL if unknown' CODEC(ZSTD(1)),
    native_close Nullable(Decimal(76, 40)) COMMENT 'Last price in native coins; NULL if unknown' CODEC(ZSTD(1)),
    native_volume Nullable(Decimal(76, 18)) COMMENT 'Value traded, in native coins; NULL if unknown' CODEC(ZSTD(1)),
    trade_count UInt64 COMMENT 'Number of trades' CODEC(ZSTD(1)),
    first_block UInt64 COMMENT 'Block of the first trade' CODEC(Delta, ZSTD(1)),
    first_tx UInt32 COMMENT 'Transaction index of the first trade' CODEC(ZSTD(1)),
    first_log UInt32 COMMENT 'Log index of the first trade' CODEC(ZSTD(1)),
    last_block UInt64 COMMENT 'Block of the last trade' CODEC(Delta, ZSTD(1)),
    last_tx UInt32 COMMENT 'Transaction index of the last trade' CODEC(ZSTD(1)),
    last_log UInt32 COMMENT 'Log index of the last trade' CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(seq, is_deleted)
PARTITION BY (chain, toYYYYMM(start))
ORDER BY (chain, pair, interval, start)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, ttl_only_drop_parts = 1
COMMENT 'Candles of trade prices, aligned to UTC; read with FINAL'
