-- A page of the pairs that have candles of trades since a time, whatever their versions.
SELECT DISTINCT pair FROM candles
WHERE chain = {chain:String} AND pair > {after:String} AND interval = {shortest:String}
    AND start >= toDateTime({idle_since:UInt32}, 'UTC')
ORDER BY pair
LIMIT {limit:UInt32}
