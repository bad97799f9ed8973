-- Pairs of a token, those that hold most first. Which they are is found by a scan of two columns: there is no key for it.
SELECT address FROM
(
    SELECT address, is_deleted, tvl_usd FROM pairs
    WHERE chain = {chain:String} AND (token0 = {token:String} OR token1 = {token:String})
    ORDER BY address, seq DESC
    LIMIT 1 BY address
)
WHERE is_deleted = 0
ORDER BY tvl_usd DESC NULLS LAST, address
LIMIT {limit:UInt32}
