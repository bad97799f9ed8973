-- Latest first.
SELECT * FROM
(
    SELECT * FROM switches
    WHERE chain = {chain:String} AND token = {token:String} AND seq <= {up_to:UInt64}
    ORDER BY block DESC, seq DESC
    LIMIT 1 BY block
)
WHERE is_deleted = 0
ORDER BY block DESC
LIMIT {limit:UInt32}
