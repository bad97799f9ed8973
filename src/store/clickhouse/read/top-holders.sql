-- The largest holders, all with at least this magnitude: a key range, so smaller holders cost nothing.
SELECT holder, argMax(amount_raw, seq) AS amount FROM balances
WHERE chain = {chain:String} AND token = {token:String} AND magnitude >= {least:UInt16} AND seq <= {up_to:UInt64}
GROUP BY magnitude, holder
HAVING argMax(is_deleted, seq) = 0
ORDER BY amount DESC, holder
LIMIT {limit:UInt32}
