import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'

/** Trades recorded from real pools, from which the generated market samples. */
export type RecordedSwaps = {
  /** Pools that store a price: the events of one pool's day, in order. */
  readonly concentrated: readonly RecordedLog[]
  /** Pairs that store reserves. */
  readonly pairs: readonly PairTrade[]
}

export type RecordedLog = { readonly topics: readonly string[]; readonly data: Uint8Array }

export type PairTrade = {
  readonly topics: readonly string[]
  readonly reserves: readonly [bigint, bigint]
  /** What came in, on which side. */
  readonly amountIn: bigint
  readonly isFirstIn: boolean
}

export const SYNC = '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1'
export const PAIR_SWAP = '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822'
const POOL_SWAP = '0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67'
const POOL_DAY = 'logs/uniswapv3-0x88e6a0c2-USDC-WETH-005-2024-01-05.raw.csv.gz'

export function readRecordedSwaps(): RecordedSwaps {
  const fixtures =
    process.env['CHAINTAPE_FIXTURES'] ?? path.join(import.meta.dirname, '../../../shared/fixtures')
  const folder = path.join(fixtures, 'evm')
  if (!existsSync(folder)) {
    console.log(`no fixtures in ${folder}: measuring made-up swaps of the same shape`)
    return inventSwaps()
  }
  const swaps = { concentrated: readPoolDay(folder), pairs: readPairTrades(path.join(folder, 'blocks')) }
  assert.ok(swaps.concentrated.length > 5_000 && swaps.pairs.length > 100)
  return swaps
}

function readPoolDay(folder: string): RecordedLog[] {
  const text = gunzipSync(readFileSync(path.join(folder, POOL_DAY))).toString('utf8')
  return text.split(/\r?\n/).flatMap((line) => {
    const [, topics = '', data = ''] = /\[(.*)\]"?,0x([0-9a-f]*)$/.exec(line) ?? []
    if (!topics.includes(POOL_SWAP)) return []
    return [{ topics: topics.match(/0x[0-9a-f]+/g) ?? [], data: Buffer.from(data, 'hex') }]
  })
}

type RpcLog = { address: string; topics: string[]; data: string }

function readPairTrades(folder: string): PairTrade[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.receipts.json'))
    .flatMap((name) => {
      const receipts: { logs: RpcLog[] }[] = JSON.parse(readFileSync(path.join(folder, name), 'utf8'))
      return receipts.flatMap(({ logs }) => pairTradesOf(logs))
    })
}

/** A pair says what it holds right before it says what was traded. */
function pairTradesOf(logs: readonly RpcLog[]): PairTrade[] {
  return logs.flatMap((swap, at) => {
    const sync = logs[at - 1]
    if (swap.topics[0] !== PAIR_SWAP || sync?.topics[0] !== SYNC || sync.address !== swap.address) return []
    const [reserve0 = 0n, reserve1 = 0n] = wordsOf(sync.data)
    const [in0 = 0n, in1 = 0n] = wordsOf(swap.data)
    if (reserve0 === 0n || reserve1 === 0n || (in0 === 0n) === (in1 === 0n)) return []
    const isFirstIn = in0 > 0n
    return [
      {
        topics: swap.topics,
        reserves: [reserve0, reserve1],
        amountIn: isFirstIn ? in0 : in1,
        isFirstIn,
      } as const,
    ]
  })
}

function wordsOf(data: string): bigint[] {
  return (data.slice(2).match(/.{64}/g) ?? []).map((word) => BigInt(`0x${word}`))
}

export function words(...values: readonly bigint[]): Uint8Array {
  const word = (value: bigint) => BigInt.asUintN(256, value).toString(16).padStart(64, '0')
  return Buffer.from(values.map(word).join(''), 'hex')
}

function inventSwaps(): RecordedSwaps {
  const router = `0x${'0'.repeat(24)}${'12'.repeat(20)}`
  const concentrated = Array.from({ length: 5_000 }, (_, at) => {
    const tick = 200_000 + Math.round(2_000 * Math.sin(at / 50))
    const sqrtPriceX96 = BigInt(Math.round(1.0001 ** (tick / 2) * 2 ** 40)) << 56n
    const amount = BigInt(1_000_000 * (1 + (at % 977)))
    const [delta0, delta1] =
      at % 2 === 0 ? [amount, -amount * 400_000_000n] : [-amount, amount * 400_000_000n]
    const data = words(delta0, delta1, sqrtPriceX96, 10n ** 19n, BigInt(tick))
    return { topics: [POOL_SWAP, router, router], data }
  })
  const pairs = Array.from({ length: 500 }, (_, at): PairTrade => {
    const topics = [PAIR_SWAP, router, router]
    const reserves = [10n ** 24n + BigInt(at) ** 7n, 10n ** 20n + BigInt(at) ** 5n] as const
    return { topics, reserves, amountIn: 10n ** 16n * BigInt(at + 1), isFirstIn: at % 2 === 0 }
  })
  return { concentrated, pairs }
}
