-- Newest first, each in its newest version. FINAL would do the same at half the speed: it merges before it filters.
SELECT * FROM
(
    SELECT * FROM candles
    WHERE chain = {chain:String} AND pair = {pair:String} AND interval = {interval:String}
        AND start >= toDateTime({from:UInt32}, 'UTC') AND start <= toDateTime({to:UInt32}, 'UTC')
        AND seq <= {up_to:UInt64}
    ORDER BY start DESC, seq DESC
    LIMIT 1 BY start
)
WHERE is_deleted = 0
ORDER BY start DESC
LIMIT {limit:UInt32}
