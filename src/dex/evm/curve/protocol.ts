import type { RawLog } from '../../../domain/envelope.ts'
import type { LiquidityAdded, LiquidityRemoved, Swapped, TokenAmount } from '../../events.ts'
import type { Protocol, ReadEvent } from '../../protocol.ts'
import { itemsAt, listAt, smallUintAt, topicAddress, uintAt } from '../abi.ts'
import { findPools, identify } from './identify.ts'
import { readCurveState } from './pool-state.ts'

/** TokenExchange(address indexed buyer, int128 sold_id, uint256 tokens_sold, int128 bought_id, uint256 tokens_bought) */
const EXCHANGE = '0x8b3e96f2b889fa771c53c981b40daf005f63f637f1869f707052d15a3dd97140'
/** TokenExchange(address indexed buyer, uint256 sold_id, uint256 tokens_sold, uint256 bought_id, uint256 tokens_bought) */
const EXCHANGE_CRYPTO = '0xb2e76ae99761dc136e598d4a629bb347eccb9532a5f8bbd72e18467c3c34cc98'
/** TokenExchange(address indexed buyer, uint256 sold_id, uint256 tokens_sold, uint256 bought_id, uint256 tokens_bought, uint256 fee, uint256 packed_price_scale) */
const EXCHANGE_CRYPTO_NG = '0x143f1f8e861fbdeddd5b46e844b7d3ac7b86a122f36e8c463859ee6811b1f29c'
/** TokenExchangeUnderlying(address indexed buyer, int128 sold_id, uint256 tokens_sold, int128 bought_id, uint256 tokens_bought) */
const EXCHANGE_UNDERLYING = '0xd013ca23e77a65003c2c659c5442c00c805371b7fc1ebd4c206c41d1536bd90b'

/** AddLiquidity(address indexed provider, uint256[N] token_amounts, uint256[N] fees, uint256 invariant, uint256 token_supply) */
const ADD_2 = '0x26f55a85081d24974e85c6c00045d0f0453991e95873f52bff0d21af4079a768'
const ADD_3 = '0x423f6495a08fc652425cf4ed0d1f9e37e571d9b9529b1c1c23cce780b2e7df0d'
const ADD_4 = '0x3f1915775e0c9a38a57a7bb7f1f9005f486fb904e1f84aa215364d567319a58d'
/** AddLiquidity(address indexed provider, uint256[] token_amounts, uint256[] fees, uint256 invariant, uint256 token_supply) */
const ADD_NG = '0x189c623b666b1b45b83d7178f39b8c087cb09774317ca2f53c2d3c3726f222a2'
/** AddLiquidity(address indexed provider, uint256[N] token_amounts, uint256 fee, uint256 token_supply) */
const ADD_CRYPTO_2 = '0x540ab385f9b5d450a27404172caade516b3ba3f4be88239ac56a2ad1de2a1f5a'
const ADD_CRYPTO_3 = '0x96b486485420b963edd3fdec0b0195730035600feb7de6f544383d7950fa97ee'
/** AddLiquidity(address indexed provider, uint256[N] token_amounts, uint256 fee, uint256 token_supply, uint256 packed_price_scale) */
const ADD_CRYPTO_NG_2 = '0x7196cbf63df1f2ec20638e683ebe51d18260be510592ee1e2efe3f3cfd4c33e9'
const ADD_CRYPTO_NG_3 = '0xe1b60455bd9e33720b547f60e4e0cfbf1252d0f2ee0147d53029945f39fe3c1a'

/** RemoveLiquidity(address indexed provider, uint256[N] token_amounts, uint256[N] fees, uint256 token_supply) */
const REMOVE_2 = '0x7c363854ccf79623411f8995b362bce5eddff18c927edc6f5dbbb5e05819a82c'
const REMOVE_3 = '0xa49d4cf02656aebf8c771f5a8585638a2a15ee6c97cf7205d4208ed7c1df252d'
const REMOVE_4 = '0x9878ca375e106f2a43c3b599fc624568131c4c9a4ba66a14563715763be9d59d'
/** RemoveLiquidity(address indexed provider, uint256[] token_amounts, uint256[] fees, uint256 token_supply) */
const REMOVE_NG = '0x347ad828e58cbe534d8f6b67985d791360756b18f0d95fd9f197a66cc46480ea'
/** RemoveLiquidity(address indexed provider, uint256[N] token_amounts, uint256 token_supply) */
const REMOVE_CRYPTO_2 = '0xdd3c0336a16f1b64f172b7bb0dad5b2b3c7c76f91e8c4aafd6aae60dce800153'
const REMOVE_CRYPTO_3 = '0xd6cc314a0b1e3b2579f8e64248e82434072e8271290eef8ad0886709304195f5'

/** RemoveLiquidityImbalance(address indexed provider, uint256[N] token_amounts, uint256[N] fees, uint256 invariant, uint256 token_supply) */
const REMOVE_SOME_2 = '0x2b5508378d7e19e0d5fa338419034731416c4f5b219a10379956f764317fd47e'
const REMOVE_SOME_3 = '0x173599dbf9c6ca6f7c3b590df07ae98a45d74ff54065505141e7de6c46a624c2'
const REMOVE_SOME_4 = '0xb964b72f73f5ef5bf0fdc559b2fab9a7b12a39e47817a547f1f0aee47febd602'
/** RemoveLiquidityImbalance(address indexed provider, uint256[] token_amounts, uint256[] fees, uint256 invariant, uint256 token_supply) */
const REMOVE_SOME_NG = '0x3631c28b1f9dd213e0319fb167b554d76b6c283a41143eb400a0d1adb1af1755'
/** RemoveLiquidityImbalance(address indexed provider, uint256 lp_token_amount, uint256[2] token_amounts, uint256 approx_fee, uint256 price_scale) */
const REMOVE_SOME_CRYPTO_NG = '0x22f9ea3e7d7b113cb423896d2e121f96a66c17814ac7f63d69096769fa3e2a55'

/** RemoveLiquidityOne(address indexed provider, int128 token_id, uint256 token_amount, uint256 coin_amount, uint256 token_supply) */
const REMOVE_ONE_NG = '0x6f48129db1f37ccb9cc5dd7e119cb32750cabdf75b48375d730d26ce3659bbe1'
/** RemoveLiquidityOne(address indexed provider, uint256 token_amount, uint256 coin_index, uint256 coin_amount, uint256 approx_fee, uint256 packed_price_scale) */
const REMOVE_ONE_CRYPTO_NG = '0xe200e24d4a4c7cd367dd9befe394dc8a14e6d58c88ff5e2f512d65a9e0aa9c5c'

/**
 * Pools of two to eight coins, stable or not, of all generations; "crypto" pools have coins without a common price.
 * Reserves are unknown: the administrator's share of the fees leaves a pool without an event. Factories announce pools
 * in too many forms, so a pool is identified at its first event. Two older forms of RemoveLiquidityOne are ignored.
 * One, (provider, token_amount, coin_amount), does not identify the coin. The other has three numbers: in a stable pool
 * the last two are the amount of an unidentified coin and the supply, in a crypto pool the coin and its amount, and the
 * event does not distinguish the two.
 */
export const curve: Protocol = {
  announcements: {},
  events: {
    [EXCHANGE]: readExchange,
    [EXCHANGE_CRYPTO]: readExchange,
    [EXCHANGE_CRYPTO_NG]: readExchange,
    [EXCHANGE_UNDERLYING]: readExchangeUnderlying,
    [ADD_2]: added(fixed(2)),
    [ADD_3]: added(fixed(3)),
    [ADD_4]: added(fixed(4)),
    [ADD_NG]: added(listed),
    [ADD_CRYPTO_2]: added(fixed(2)),
    [ADD_CRYPTO_3]: added(fixed(3)),
    [ADD_CRYPTO_NG_2]: added(fixed(2)),
    [ADD_CRYPTO_NG_3]: added(fixed(3)),
    [REMOVE_2]: removed(fixed(2)),
    [REMOVE_3]: removed(fixed(3)),
    [REMOVE_4]: removed(fixed(4)),
    [REMOVE_NG]: removed(listed),
    [REMOVE_CRYPTO_2]: removed(fixed(2)),
    [REMOVE_CRYPTO_3]: removed(fixed(3)),
    [REMOVE_SOME_2]: removed(fixed(2)),
    [REMOVE_SOME_3]: removed(fixed(3)),
    [REMOVE_SOME_4]: removed(fixed(4)),
    [REMOVE_SOME_NG]: removed(listed),
    [REMOVE_SOME_CRYPTO_NG]: removed(fixed(2, 1)),
    [REMOVE_ONE_NG]: removed(one(0, 2)),
    [REMOVE_ONE_CRYPTO_NG]: removed(one(1, 2)),
  },
  isSingleton: false,
  payerOf: ({ address }) => address,
  reserves: 'unknown',
  identify,
  findPools,
  readState: readCurveState,
}

function readExchange(log: RawLog): Swapped | undefined {
  const sender = topicAddress(log.topics[1])
  const sold = smallUintAt(log.data, 0)
  const amountSold = uintAt(log.data, 1)
  const bought = smallUintAt(log.data, 2)
  const amountBought = uintAt(log.data, 3)
  if (sender === undefined || sold === undefined || bought === undefined) return undefined
  if (amountSold === undefined || amountBought === undefined) return undefined
  return {
    type: 'swapped',
    pool: log.address,
    sender,
    recipient: undefined,
    token0: sold,
    token1: bought,
    delta0: amountSold,
    delta1: -amountBought,
    price: undefined,
  }
}

/**
 * A metapool has two coins, the second being the base pool's LP token; here index 0 is its first coin and the others
 * are the base pool's coins. Only the bought amount is reliable: when a base coin is sold, some pools report its
 * amount, others (as in 0x83ac5abc6819fca458f614e4fdbca6fe324bbea8b7ce5fb072bf99407cd8c031 on Optimism) the amount of
 * the LP token it was converted to. A trade between two base coins is ignored, because the base pool emits its own
 * event.
 */
function readExchangeUnderlying(log: RawLog): Swapped | undefined {
  const swapped = readExchange(log)
  if (swapped?.token0 !== 0 || typeof swapped.token1 !== 'number') return undefined
  return { ...swapped, token1: swapped.token1 + 1 }
}

type ReadAmounts = (data: Uint8Array) => TokenAmount[] | undefined

function added(readAmounts: ReadAmounts): ReadEvent<LiquidityAdded> {
  return (log) => {
    const provider = topicAddress(log.topics[1])
    const amounts = readAmounts(log.data)
    if (provider === undefined || amounts === undefined) return undefined
    return { type: 'liquidityAdded', pool: log.address, provider, amounts }
  }
}

function removed(readAmounts: ReadAmounts): ReadEvent<LiquidityRemoved> {
  return (log) => {
    const provider = topicAddress(log.topics[1])
    const amounts = readAmounts(log.data)
    if (provider === undefined || amounts === undefined) return undefined
    return { type: 'liquidityRemoved', pool: log.address, provider, amounts, isPaidOut: true }
  }
}

/** Amounts of a fixed number of coins, starting at word `index`. */
function fixed(coins: number, index = 0): ReadAmounts {
  return (data) => itemsAt(data, index, coins, uintAt)?.map((amount, token) => ({ token, amount }))
}

function listed(data: Uint8Array): TokenAmount[] | undefined {
  return listAt(data, 0, uintAt)?.map((amount, token) => ({ token, amount }))
}

/** The amount of the coin that the event identifies. */
function one(coinIndex: number, amountIndex: number): ReadAmounts {
  return (data) => {
    const token = smallUintAt(data, coinIndex)
    const amount = uintAt(data, amountIndex)
    return token === undefined || amount === undefined ? undefined : [{ token, amount }]
  }
}
