-- A page of the latest versions, including removals.
SELECT * FROM windows
WHERE chain = {chain:String} AND kind = {kind:String} AND id > {after:String} AND seq <= {up_to:UInt64}
ORDER BY id, seq DESC
LIMIT 1 BY id
LIMIT {limit:UInt32}
