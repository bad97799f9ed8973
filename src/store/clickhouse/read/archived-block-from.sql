SELECT seq, number
FROM archived_blocks
WHERE chain = {chain:String} AND epoch = {epoch:String} AND kind = 'block'
    AND seq >= {from:UInt64} AND seq <= {until:UInt64}
ORDER BY seq
LIMIT 1
