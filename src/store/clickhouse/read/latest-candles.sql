-- The latest few candles of each pair and interval, including removals. They are selected by the key columns alone, because
-- the other columns are many and wide.
SELECT * FROM candles
WHERE chain = {chain:String} AND pair IN {pairs:Array(String)} AND seq <= {up_to:UInt64}
    AND (pair, interval, start) IN
    (
        SELECT DISTINCT pair, interval, start FROM candles
        WHERE chain = {chain:String} AND pair IN {pairs:Array(String)} AND seq <= {up_to:UInt64}
        ORDER BY pair, interval, start DESC
        LIMIT {recent:UInt32} BY pair, interval
    )
ORDER BY pair, interval, start DESC, seq DESC
LIMIT 1 BY pair, interval, start
