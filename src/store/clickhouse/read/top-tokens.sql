-- Tokens of a group by rank, highest first, without unranked ones. Computes the same rankings as the writer does for Redis
-- (src/store/redis/ranks.ts), by a scan.
SELECT address FROM
(
    SELECT address, is_deleted, platform, platform_graduated_at,
        multiIf(
            {by:String} = 'volume_24h', toFloat64(ifNull(volume, 0)),
            {by:String} = 'fdv', toFloat64(ifNull(fdv_usd, 0)),
            {by:String} = 'main_pair_tvl', toFloat64(ifNull(main_pair_tvl_usd, 0)),
            {by:String} = 'almost' AND platform_graduated_at IS NULL AND platform_progress_ppm >= {almost_ppm:UInt32},
                toFloat64(ifNull(platform_progress_ppm, 0)),
            {by:String} = 'new', toFloat64(toUInt32(coalesce(platform_graduated_at, platform_created_at, 0))),
            0) AS score
    FROM
    (
        SELECT address, is_deleted, platform, platform_created_at, platform_progress_ppm, platform_graduated_at, fdv_usd,
            main_pair_tvl_usd
        FROM tokens
        WHERE chain = {chain:String}
        ORDER BY address, seq DESC
        LIMIT 1 BY address
    ) AS latest
    LEFT JOIN
    (
        SELECT id, if(is_deleted = 1, NULL, buy_usd_24h + sell_usd_24h) AS volume
        FROM windows
        WHERE chain = {chain:String} AND kind = 'token' AND {by:String} = 'volume_24h'
        ORDER BY id, seq DESC
        LIMIT 1 BY id
    ) AS traded ON traded.id = latest.address
)
WHERE is_deleted = 0 AND score > 0
    AND ({is_launched:UInt8} = 0 OR platform IS NOT NULL)
    AND ({platform:String} = '' OR platform = {platform:String} AND (platform_graduated_at IS NULL) = {is_in:UInt8})
ORDER BY score DESC, address DESC
LIMIT {limit:UInt32}
