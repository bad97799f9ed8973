import Type from 'typebox'
import { LIQUIDITY_KINDS } from '../../../domain/change.ts'
import { answerOf, integer, maybeText, text } from '../schemas.ts'

/** The same transactions that are pushed over WebSocket. */

const profile = Type.Optional(
  Type.String({
    description:
      'JSON object with the holdings of the wallet after the transaction. Present if one of them is known; unknown members are omitted.',
  }),
)

const swap = answerOf(
  {
    amm: text,
    amount_eth: text,
    amount_usd: text,
    block_number: integer,
    chain: text,
    from_address: text,
    from_amount: text,
    from_price_eth: text,
    from_price_usd: text,
    from_reserve: text,
    from_symbol: text,
    id: text,
    pair_address: text,
    pair_liquidity_eth: text,
    pair_liquidity_usd: text,
    profile,
    sender: text,
    target_token: text,
    time: integer,
    to: text,
    to_address: text,
    to_amount: text,
    to_price_eth: text,
    to_price_usd: text,
    to_reserve: text,
    to_symbol: text,
    transaction: text,
    tx_seq: text,
    tx_swap_type: integer,
    wallet_address: text,
    wallet_tag: Type.Null(),
  },
  'Swap',
)

const liquidity = answerOf(
  {
    id: text,
    time: integer,
    block_number: integer,
    chain: text,
    transaction: text,
    amm: text,
    sender: text,
    wallet_address: text,
    pair_address: text,
    type: Type.Enum([...LIQUIDITY_KINDS], { type: 'string' }),
    amount_usd: text,
    amount_eth: text,
    pair_liquidity_usd: text,
    pair_liquidity_eth: text,
    token0_address: text,
    token0_symbol: text,
    token0_price_usd: text,
    token0_price_eth: text,
    amount0: text,
    reserve0: text,
    token1_address: text,
    token1_symbol: text,
    token1_price_usd: text,
    token1_price_eth: text,
    amount1: text,
    reserve1: text,
  },
  'LiquidityTransaction',
)

const cursors = { next_cursor: maybeText, cursor: maybeText }

export const swapPage = answerOf({ txs: Type.Array(swap), ...cursors }, 'SwapPage')
export const liquidityPage = answerOf({ txs: Type.Array(liquidity), ...cursors }, 'LiquidityPage')
