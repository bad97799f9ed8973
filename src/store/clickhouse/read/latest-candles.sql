-- The latest few candles of an interval of each pair, including removals. They are selected by the key columns alone,
-- because the other columns are many and wide.
SELECT * FROM candles
WHERE chain = {chain:String} AND pair IN {pairs:Array(String)} AND interval = {interval:String}
    AND start >= toDateTime({since:UInt32}, 'UTC') AND seq <= {up_to:UInt64}
    AND (pair, start) IN
    (
        SELECT DISTINCT pair, start FROM candles
        WHERE chain = {chain:String} AND pair IN {pairs:Array(String)} AND interval = {interval:String}
            AND start >= toDateTime({since:UInt32}, 'UTC') AND seq <= {up_to:UInt64}
        ORDER BY pair, start DESC
        LIMIT {recent:UInt32} BY pair
    )
ORDER BY pair, start DESC, seq DESC
LIMIT 1 BY pair, start
