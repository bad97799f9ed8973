-- Questions an analyst asks first, for any client of ClickHouse. Parameters: chain, pair, token.
--
--   clickhouse-client --database chaintape --param_chain=base --param_pair=0x… --param_token=0x… --multiquery <notebook.sql
--
-- FINAL returns the latest version of each row, without what a reorg removed. NULL is unknown, and never counted as zero.

-- Volume-weighted price of a pair by hour, and how much of it has no price.
SELECT toStartOfHour(time) AS hour,
    sum(value_usd) / (sumIf(if(side = 'buy', bought_amount_raw, sold_amount_raw), value_usd IS NOT NULL)
        / pow(10, any(if(side = 'buy', bought_decimals, sold_decimals)))) AS vwap_usd,
    sum(value_usd) AS volume_usd, count() AS swaps, countIf(value_usd IS NULL) AS unpriced
FROM trades FINAL
WHERE chain = {chain:String} AND pair = {pair:String} AND side IS NOT NULL
GROUP BY hour ORDER BY hour;

-- Who took more dollars out of a token than they put in.
SELECT wallet, sumIf(value_usd, side = 'sell') - sumIf(value_usd, side = 'buy') AS taken_usd,
    countIf(side = 'buy') AS buys, countIf(side = 'sell') AS sells, countIf(value_usd IS NULL) AS unpriced
FROM trades FINAL
WHERE chain = {chain:String} AND target_token = {token:String}
GROUP BY wallet ORDER BY taken_usd DESC LIMIT 20;

-- How far the pools of a token are apart, deepest first.
SELECT address, amm, tvl_usd,
    if(token0 = {token:String}, token0_price_usd, token1_price_usd) AS price_usd,
    toFloat64(price_usd) / toFloat64(first_value(price_usd) OVER (ORDER BY tvl_usd DESC)) - 1 AS from_deepest
FROM pairs FINAL
WHERE chain = {chain:String} AND (token0 = {token:String} OR token1 = {token:String}) AND tvl_usd > 0
ORDER BY tvl_usd DESC;

-- Launches by platform: how many graduated, and how long that took.
SELECT platform, count() AS launched, count(platform_graduated_at) AS graduated,
    median(dateDiff('minute', platform_created_at, platform_graduated_at)) AS minutes_to_graduate
FROM tokens FINAL
WHERE chain = {chain:String} AND platform IS NOT NULL
GROUP BY platform ORDER BY launched DESC;

-- Pools that lost most of their liquidity in one transaction: likely rug pulls.
SELECT time, pair, token0_symbol, token1_symbol, wallet, value_usd, liquidity_usd AS left_usd, transaction
FROM liquidity FINAL
WHERE chain = {chain:String} AND kind = 'removeLiquidity' AND value_usd > 9 * liquidity_usd
ORDER BY value_usd DESC LIMIT 20;

-- Wallets that buy and sell the same pair in one block: sandwiches and arbitrage.
SELECT wallet, count() AS blocks, sum(taken) AS taken_usd
FROM (
    SELECT wallet, block, pair, sumIf(value_usd, side = 'sell') - sumIf(value_usd, side = 'buy') AS taken
    FROM trades FINAL
    WHERE chain = {chain:String}
    GROUP BY wallet, block, pair
    HAVING countIf(side = 'buy') > 0 AND countIf(side = 'sell') > 0
)
GROUP BY wallet ORDER BY blocks DESC LIMIT 20;

-- Check a number: one-minute candles made again from the trades. No row: every candle is explained.
SELECT start, candles.usd_volume, made.usd_volume, candles.trade_count, made.trade_count
FROM (
    SELECT toStartOfMinute(time) AS start, sum(value_usd) AS usd_volume, count() AS trade_count
    FROM trades FINAL
    WHERE chain = {chain:String} AND pair = {pair:String}
    GROUP BY start
) AS made
FULL JOIN (
    SELECT start, usd_volume, trade_count FROM candles FINAL
    WHERE chain = {chain:String} AND pair = {pair:String} AND interval = 'k1'
) AS candles USING (start)
WHERE NOT (candles.usd_volume <=> made.usd_volume AND candles.trade_count = made.trade_count);
