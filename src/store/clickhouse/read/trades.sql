-- Newest first, from right before a given place on. The time bound alone is what the index understands.
SELECT * FROM
(
    SELECT * FROM trades
    WHERE chain = {chain:String} AND pair = {pair:String} AND seq <= {up_to:UInt64}
        AND time <= toDateTime({before_time:UInt32}, 'UTC')
        AND (time, block, tx, log) < (
            toDateTime({before_time:UInt32}, 'UTC'), {before_block:UInt64}, {before_tx:UInt32}, {before_log:UInt32})
    ORDER BY time DESC, block DESC, tx DESC, log DESC, seq DESC
    LIMIT 1 BY time, block, tx, log
)
WHERE is_deleted = 0
ORDER BY time DESC, block DESC, tx DESC, log DESC
LIMIT {limit:UInt32}
