-- Of each pair and interval the newest few, removals too. Which they are is found from the key's columns alone:
-- the others are many and wide.
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
