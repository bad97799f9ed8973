-- A page of the latest versions, including removals.
SELECT * FROM pairs
WHERE chain = {chain:String} AND address > {after:String} AND seq <= {up_to:UInt64}
ORDER BY address, seq DESC
LIMIT 1 BY address
LIMIT {limit:UInt32}
