import { encodeAbiParameters, type Hex, parseAbiParameters } from 'viem'
import type { Answer, Call, CurveInquiry, MarketInquiry, Protocol } from '../../../dex/protocol.ts'
import type { UntriedReason } from '../../../domain/inspection.ts'
import { ZERO_ADDRESS } from '../../../domain/known-addresses.ts'
import { Multicall } from '../rpc/multicall.ts'
import type { EvmNode } from '../rpc/rpc.ts'

export type MarketKind = Exclude<Protocol['trial'], 'cpmm' | undefined>

/** A pool to simulate a trade in. */
export type MarketPair = {
  /** Its address, or its ID in a vault. */
  readonly address: string
  readonly quote: string
} & (
  | { readonly kind: Exclude<MarketKind, 'vault' | 'curve'>; readonly manager?: undefined }
  /** Read in the state in which the trade is simulated. `manager` is the contract that tokens see as the pool. */
  | { readonly kind: 'vault'; readonly manager: string; readonly read: () => MarketInquiry }
  | { readonly kind: 'curve'; readonly manager: string; readonly read: () => CurveInquiry }
)

/** The pool as `trader.sol` takes it. */
export type Market = {
  readonly kind: number
  readonly pool: Hex
  readonly vault: Hex
  readonly token: Hex
  readonly quote: Hex
  readonly amount: bigint
  readonly hasHooks: boolean
  readonly opening: Hex
  readonly swap: Hex
}

type MarketRequest = {
  readonly token: string
  readonly block: { readonly hash: string }
  readonly pair: MarketPair
}

export const CURVE = 4
/** The contract's own kinds; a pool with plugins is a concentrated one with hooks. */
const KINDS: Readonly<Record<MarketKind, number>> = {
  v2: 0,
  v3: 1,
  algebra: 1,
  vault: 2,
  solidly: 3,
  curve: CURVE,
}
/** Enough for getters; a hostile one gets no more. */
const CALL_LIMITS = { gas: 200_000, answerBytes: 1_024 }
const CURVE_CALLS = parseAbiParameters('bytes, bytes, bytes')
/** Buys for a thousandth of the pool. */
const PARTS = 1_000n

export async function readMarket(
  node: EvmNode,
  { token, block, pair }: MarketRequest,
): Promise<Market | UntriedReason> {
  const market = {
    kind: KINDS[pair.kind],
    pool: pair.address as Hex,
    vault: pair.address as Hex,
    token: token as Hex,
    quote: pair.quote as Hex,
    amount: 0n,
    hasHooks: pair.kind === 'algebra',
    opening: '0x00000000',
    swap: '0x',
  } as const
  const asker = new Multicall(node, CALL_LIMITS)
  if (pair.kind === 'curve') {
    const curve = await lead(asker, pair.read(), block.hash)
    if (curve === undefined) return 'no_pair'
    if (curve.amount === 0n) return 'no_liquidity'
    const swap = encodeAbiParameters(CURVE_CALLS, [curve.purchase as Hex, ...(curve.sale as [Hex, Hex])])
    const platform = curve.platform as Hex
    return { ...market, pool: platform, vault: platform, amount: curve.amount, hasHooks: true, swap }
  }
  if (pair.kind !== 'vault') return pair.quote === ZERO_ADDRESS ? 'no_pair' : market
  const found = await lead(asker, pair.read(), block.hash)
  if (found === undefined) return 'no_pair'
  const { manager, vault, virtualReserves, hasHooks, opening, swap } = found
  // The tokens of a pool are in the order of their addresses.
  const amount = virtualReserves[pair.quote < token ? 0 : 1] / PARTS
  if (amount === 0n) return 'no_liquidity'
  return {
    ...market,
    ...{ pool: manager as Hex, vault: vault as Hex, amount, hasHooks },
    ...{ opening: opening as Hex, swap: swap as Hex },
  }
}

async function lead<Found>(
  asker: Multicall,
  inquiry: Generator<readonly Call[], Found | undefined, readonly Answer[]>,
  blockHash: string,
): Promise<Found | undefined> {
  let answers: readonly Answer[] = []
  for (;;) {
    const step = inquiry.next(answers)
    if (step.done) return step.value
    answers = await asker.askExactly(step.value, blockHash)
  }
}
