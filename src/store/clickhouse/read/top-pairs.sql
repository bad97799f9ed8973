-- Pairs of a token by liquidity, highest first. Scans two columns, because no key serves this order.
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
