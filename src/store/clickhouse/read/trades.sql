-- All versions of the rows before a position, latest first; the reader deduplicates. The plain bounds on time serve the
-- index. Reading one granule at a time without read-ahead stops each part once the page is full. Lazy materialization pays
-- for short pages only: longer ones have rows in most of the granules they touch.
SELECT * FROM trades
WHERE chain = {chain:String} AND pair = {pair:String} AND seq <= {up_to:UInt64}
    AND time >= toDateTime({from:UInt32}, 'UTC') AND time <= toDateTime({before_time:UInt32}, 'UTC')
    AND (time, block, tx, log) < (
        toDateTime({before_time:UInt32}, 'UTC'), {before_block:UInt64}, {before_tx:UInt32}, {before_log:UInt32})
ORDER BY time DESC, block DESC, tx DESC, log DESC
LIMIT {limit:UInt32}
SETTINGS max_threads = 1, max_block_size = 512, read_in_order_use_buffering = 0,
    query_plan_max_limit_for_lazy_materialization = 500
