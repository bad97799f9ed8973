-- The last message of a block: an earlier one was undone.
SELECT seq
FROM archived_blocks
WHERE chain = {chain:String} AND epoch = {epoch:String} AND kind = 'block' AND number = {number:UInt64}
    AND seq >= {from:UInt64} AND seq <= {until:UInt64}
ORDER BY seq DESC
LIMIT 1
