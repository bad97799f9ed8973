import type { Protocol } from '../../protocol.ts'
import { launchPlatform, tokenLaunches } from '../launch-events.ts'

/**
 * CoinCreated(address indexed caller, address indexed payoutRecipient, address indexed platformReferrer, address
 * currency, string uri, string name, string symbol, address coin, address pool, string version)
 */
const COIN_CREATED = '0x3d1462491f7fa8396808c230d95c3fa60fd09ef59506d0b9bd1cf072d2a03f56'
/**
 * CoinCreatedV4(address indexed caller, address indexed payoutRecipient, address indexed platformReferrer, address
 * currency, string uri, string name, string symbol, address coin, PoolKey poolKey, bytes32 poolKeyHash, string version),
 * where PoolKey is (address currency0, address currency1, uint24 fee, int24 tickSpacing, address hooks), here and below.
 */
const COIN_CREATED_V4 = '0x2de436107c2096e039c98bbcc3c5a2560583738ce15c234557eecb4d3221aa81'
/** CreatorCoinCreated(…), with the parameters of CoinCreatedV4. */
const CREATOR_COIN_CREATED = '0x74b670d628e152daa36ca95dda7cb0002d6ea7a37b55afe4593db7abd1515781'
/**
 * TrendCoinCreated(address indexed caller, string symbol, address coin, PoolKey poolKey, bytes32 poolKeyHash, bytes
 * poolConfig, string version)
 */
const TREND_COIN_CREATED = '0xfb9e81c36dd4134d4eb5055e20d3238cb29a63daef0dd0f8b0f131da85891959'

const IN_V4_POOL = { indexed: 3, token: 4, addresses: [0, 5, 6, 9], texts: [1, 2, 3, 11] }

/** Zora: each coin starts in a Uniswap pool (V3, later V4) that the same transaction creates. */
export const zora: Protocol = launchPlatform(
  tokenLaunches({
    [COIN_CREATED]: { indexed: 3, token: 4, addresses: [0, 5], texts: [1, 2, 3, 6] },
    [COIN_CREATED_V4]: IN_V4_POOL,
    [CREATOR_COIN_CREATED]: IN_V4_POOL,
    [TREND_COIN_CREATED]: { indexed: 1, token: 1, addresses: [2, 3, 6], texts: [0, 8, 9] },
  }),
)
