-- A page of all pairs, whatever their versions.
SELECT DISTINCT address FROM pairs
WHERE chain = {chain:String} AND address > {after:String}
ORDER BY address
LIMIT {limit:UInt32}
