SELECT seq
FROM archived_blocks
WHERE chain = {chain:String} AND epoch = {epoch:String} AND seq <= {upTo:UInt64}
ORDER BY seq DESC
LIMIT 1
