-- A page of the latest versions, including removals.
SELECT token, seq, is_deleted, report FROM contracts
WHERE chain = {chain:String} AND token > {after:String} AND seq <= {up_to:UInt64}
ORDER BY token, seq DESC
LIMIT 1 BY token
LIMIT {limit:UInt32}
