import { type Hex, type Log, zeroAddress } from 'viem'
import { uniswapV2Pair } from '../../dev/market/artifacts.ts'
import type { Market } from '../../dev/market/market.ts'
import { transferOf } from './token-flows.ts'

/** Nobody has their keys. */
export const DEAD: readonly Hex[] = [
  '0x000000000000000000000000000000000000dead',
  '0x0000000000000000000000000000000000000001',
  '0xdead000000000000000042069420694206942069',
]

export type ExpectedHolding = {
  /** All holders, largest first; at a tie, the lower address. */
  readonly holders: readonly { readonly holder: string; readonly raw: bigint; readonly nativeRaw: bigint }[]
  readonly supply: bigint
  readonly burned: bigint
  readonly locked: bigint
  /** Neither burned nor locked. */
  readonly circulating: bigint
  readonly createdAt: number
  readonly creator: string
}

type Seen = {
  readonly addresses: Set<string>
  readonly createdAt: number
  readonly creator: string
  /** Sent to the zero address. */
  unmade: bigint
}

/**
 * Holders, read from the tokens themselves: the balance of every address that ever appeared in one of a token's logs. No
 * balance is counted, so that only the tokens' own results can be right.
 */
export class ExpectedHoldings {
  readonly #all = new Map<string, ExpectedHolding>()

  static async read(
    market: Market,
    tokens: readonly string[],
    lastBlock: number,
    lockers: readonly string[] = [],
  ): Promise<ExpectedHoldings> {
    const seen = await readLogs(market, tokens, lastBlock)
    const expected = new ExpectedHoldings()
    for (const [token, each] of seen)
      expected.#all.set(token, await askToken(market, token as Hex, each, lastBlock, lockers))
    return expected
  }

  /** The native coin has no holders that could be known. */
  of(token: string): ExpectedHolding | undefined {
    return this.#all.get(token)
  }
}

async function readLogs(market: Market, tokens: readonly string[], lastBlock: number) {
  const wanted = new Set(tokens.filter((token) => token !== zeroAddress))
  const seen = new Map<string, Seen>()
  for (let block = 1; block <= lastBlock; block++) {
    const [time, receipts] = await Promise.all([market.timeOf(block), market.receipts(block)])
    for (const { from, logs } of receipts) {
      for (const log of logs) {
        const token = log.address.toLowerCase()
        const move = wanted.has(token) ? (transferOf(log) ?? wrappingOf(market, log)) : undefined
        if (move === undefined) continue
        const born = {
          addresses: new Set<string>(),
          createdAt: time,
          creator: from.toLowerCase(),
          unmade: 0n,
        }
        const known = seen.get(token) ?? born
        seen.set(token, known)
        known.addresses.add(move.from).add(move.to)
        // To unwrap a coin is not to burn it.
        if (move.to === zeroAddress && token !== market.weth.toLowerCase()) known.unmade += move.amount
      }
    }
  }
  return seen
}

const DEPOSIT = '0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c'

/** Wrapped native coins are made and unmade by events that name one address, and no other token's do. */
export function wrappingOf({ weth }: Pick<Market, 'weth'>, { address, topics, data }: Log) {
  if (address.toLowerCase() !== weth.toLowerCase() || topics.length !== 2) return undefined
  const owner = `0x${topics[1]?.slice(-40)}`
  const isIn = topics[0] === DEPOSIT
  return { from: isIn ? zeroAddress : owner, to: isIn ? owner : zeroAddress, amount: BigInt(data) }
}

async function askToken(
  market: Market,
  token: Hex,
  { addresses, createdAt, creator, unmade }: Seen,
  block: number,
  lockers: readonly string[],
): Promise<ExpectedHolding> {
  addresses.delete(zeroAddress)
  const holders = await Promise.all(
    [...addresses].map(async (holder) => ({
      holder,
      raw: await market.balanceOf(token, holder as Hex, block),
      nativeRaw: await market.nativeBalanceOf(holder as Hex, block),
    })),
  )
  const call = { to: token, abi: uniswapV2Pair.abi, name: 'totalSupply', args: [] }
  const supply = (await market.read(call, block)) as bigint
  const heldBy = (some: readonly string[]): bigint =>
    holders.filter(({ holder }) => some.includes(holder)).reduce((sum, { raw }) => sum + raw, 0n)
  const [dead, locked] = [heldBy(DEAD), heldBy(lockers)]
  return {
    holders: holders
      .filter(({ raw }) => raw > 0n)
      .sort((a, b) => (a.raw === b.raw ? (a.holder < b.holder ? -1 : 1) : a.raw > b.raw ? -1 : 1)),
    ...{ supply, locked, createdAt, creator },
    burned: unmade + dead,
    circulating: supply - dead - locked,
  }
}
