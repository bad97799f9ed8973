-- The last message of each block: an earlier one was undone.
SELECT number, max(seq) AS last_seq, argMax(hash, seq) AS last_hash
FROM archived_blocks
WHERE chain = {chain:String} AND epoch = {epoch:String} AND kind = 'block'
    AND seq > {after:UInt64} AND seq <= {until:UInt64} AND number IN {numbers:Array(UInt64)}
GROUP BY number
