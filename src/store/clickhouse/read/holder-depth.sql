-- Rows and current holders per magnitude, among the last rows of the token's key range.
SELECT magnitude, countIf(is_gone = 0) AS holders, sum(versions) AS rows
FROM (
    SELECT magnitude, argMax(is_deleted, seq) AS is_gone, count() AS versions
    FROM (
        SELECT magnitude, holder, seq, is_deleted FROM balances
        WHERE chain = {chain:String} AND token = {token:String} AND magnitude > 0 AND seq <= {up_to:UInt64}
        ORDER BY magnitude DESC
        LIMIT {rows:UInt32}
    )
    GROUP BY magnitude, holder
)
GROUP BY magnitude
ORDER BY magnitude DESC
