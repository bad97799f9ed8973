-- All versions of each candle, latest first; the reader deduplicates. Reading one granule at a time without read-ahead stops
-- each part once the page is full. Lazy materialization pays for short pages only: longer ones have rows in most granules.
SELECT * FROM candles
WHERE chain = {chain:String} AND pair = {pair:String} AND interval = {interval:String}
    AND start >= toDateTime({from:UInt32}, 'UTC') AND start <= toDateTime({to:UInt32}, 'UTC')
    AND seq <= {up_to:UInt64}
ORDER BY start DESC
LIMIT {limit:UInt32}
SETTINGS max_threads = 1, max_block_size = 512, read_in_order_use_buffering = 0,
    query_plan_max_limit_for_lazy_materialization = 500
