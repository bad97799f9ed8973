-- Rows after a position whose version is later than `since`, oldest first, including removals. The plain bound on time
-- serves the index.
SELECT * FROM
(
    SELECT * FROM trades
    WHERE chain = {chain:String} AND pair = {pair:String} AND seq <= {up_to:UInt64}
        AND time >= toDateTime({after_time:UInt32}, 'UTC')
        AND (time, block, tx, log) > (
            toDateTime({after_time:UInt32}, 'UTC'), {after_block:UInt64}, {after_tx:UInt32}, {after_log:UInt32})
    ORDER BY time, block, tx, log, seq DESC
    LIMIT 1 BY time, block, tx, log
)
WHERE seq > {since:UInt64}
ORDER BY time, block, tx, log
LIMIT {limit:UInt32}
