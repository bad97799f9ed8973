import type { DexEvent } from '../../../src/dex/events.ts'
import { inOrder, type Opinion, opinion, swapped } from './opinion.ts'

type Exchange = {
  buyer: string
  sold_id: bigint
  tokens_sold: bigint
  bought_id: bigint
  tokens_bought: bigint
}
type Moved = { provider: string; token_amounts: readonly bigint[] }
type Place = { address: string }

const exchange = (args: Exchange, { address }: Place): DexEvent => {
  const { buyer: sender, sold_id, tokens_sold, bought_id, tokens_bought } = args
  const tokens = { token0: Number(sold_id), token1: Number(bought_id) }
  return swapped(address, tokens_sold, -tokens_bought, { sender, ...tokens })
}

const added = ({ provider, token_amounts }: Moved, { address: pool }: Place): DexEvent => {
  return { type: 'liquidityAdded', pool, provider, amounts: inOrder(...token_amounts) }
}

const removed = ({ provider, token_amounts }: Moved, { address: pool }: Place): DexEvent => {
  return { type: 'liquidityRemoved', pool, provider, amounts: inOrder(...token_amounts), isPaidOut: true }
}

const one = (provider: string, coin: bigint, amount: bigint, pool: string): DexEvent => {
  return {
    type: 'liquidityRemoved',
    pool,
    provider,
    amounts: [{ token: Number(coin), amount }],
    isPaidOut: true,
  }
}

const exchangeOf = (id: string, more = ''): string => {
  return `(address indexed buyer, ${id} sold_id, uint256 tokens_sold, ${id} bought_id, uint256 tokens_bought${more})`
}
/** For this many coins; for any number with the empty string. */
const movedOf = (coins: number | '', more: string): string => {
  return `(address indexed provider, uint256[${coins}] token_amounts, ${more})`
}
const withFees = (coins: number | '', more: string): string =>
  movedOf(coins, `uint256[${coins}] fees, ${more}`)

const STABLE = 'uint256 invariant, uint256 token_supply'
const CRYPTO = 'uint256 fee, uint256 token_supply'
const CRYPTO_NG = 'uint256 fee, uint256 token_supply, uint256 packed_price_scale'

export const curve: readonly Opinion[] = [
  opinion(`TokenExchange${exchangeOf('int128')}`, exchange),
  opinion(`TokenExchange${exchangeOf('uint256')}`, exchange),
  opinion(`TokenExchange${exchangeOf('uint256', ', uint256 fee, uint256 packed_price_scale')}`, exchange),
  opinion<Exchange>(`TokenExchangeUnderlying${exchangeOf('int128')}`, (args, log) => {
    if (args.sold_id !== 0n) return "sold what is another pool's: pools report its amount differently"
    return exchange({ ...args, bought_id: args.bought_id + 1n }, log)
  }),
  ...([2, 3, 4, ''] as const).flatMap((coins) => [
    opinion(`AddLiquidity${withFees(coins, STABLE)}`, added),
    opinion(`RemoveLiquidity${withFees(coins, 'uint256 token_supply')}`, removed),
    opinion(`RemoveLiquidityImbalance${withFees(coins, STABLE)}`, removed),
  ]),
  ...([2, 3] as const).flatMap((coins) => [
    opinion(`AddLiquidity${movedOf(coins, CRYPTO)}`, added),
    opinion(`AddLiquidity${movedOf(coins, CRYPTO_NG)}`, added),
    opinion(`RemoveLiquidity${movedOf(coins, 'uint256 token_supply')}`, removed),
  ]),
  opinion(
    'RemoveLiquidityImbalance(address indexed provider, uint256 lp_token_amount, uint256[2] token_amounts, uint256 approx_fee, uint256 price_scale)',
    removed,
  ),
  opinion<{ provider: string; token_id: bigint; coin_amount: bigint }>(
    'RemoveLiquidityOne(address indexed provider, int128 token_id, uint256 token_amount, uint256 coin_amount, uint256 token_supply)',
    ({ provider, token_id, coin_amount }, { address }) => one(provider, token_id, coin_amount, address),
  ),
  opinion<{ provider: string; coin_index: bigint; coin_amount: bigint }>(
    'RemoveLiquidityOne(address indexed provider, uint256 token_amount, uint256 coin_index, uint256 coin_amount, uint256 approx_fee, uint256 packed_price_scale)',
    ({ provider, coin_index, coin_amount }, { address }) => one(provider, coin_index, coin_amount, address),
  ),
]
