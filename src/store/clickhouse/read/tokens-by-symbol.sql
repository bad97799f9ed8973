-- Equal ones first, then those that begin with it; among them by the order asked for. Tokens are few and their newest
-- versions fewer: the symbol is looked at before versions are compared, so a token that changed its name is read twice.
SELECT chain, address FROM
(
    SELECT chain, address, symbol, is_deleted, main_pair_tvl_usd, fdv_usd FROM tokens
    WHERE chain IN {chains:Array(String)}
        AND (chain, address) IN
        (
            SELECT chain, address FROM tokens
            WHERE chain IN {chains:Array(String)} AND startsWith(lowerUTF8(symbol), lowerUTF8({symbol:String}))
        )
    ORDER BY chain, address, seq DESC
    LIMIT 1 BY chain, address
) AS t
LEFT JOIN
(
    SELECT chain, id AS address, buy_usd_24h + sell_usd_24h AS volume_usd FROM windows
    WHERE kind = 'token' AND chain IN {chains:Array(String)}
    ORDER BY chain, id, seq DESC
    LIMIT 1 BY chain, id
) AS w USING (chain, address)
WHERE is_deleted = 0 AND startsWith(lowerUTF8(symbol), lowerUTF8({symbol:String}))
ORDER BY
    lowerUTF8(symbol) = lowerUTF8({symbol:String}) DESC,
    multiIf({order:String} = 'fdv', fdv_usd, {order:String} = 'main_pair_tvl', main_pair_tvl_usd, toNullable(volume_usd)) DESC NULLS LAST,
    chain, address
LIMIT {limit:UInt32}
