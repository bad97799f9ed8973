import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseRpcTransaction } from '../../src/chain/solana/parse-transaction.ts'
import type { DexEvent } from '../../src/dex/events.ts'
import { knownPrograms, SOLANA_PROTOCOLS } from '../../src/dex/solana/protocols.ts'
import { rawLogsOf } from '../../src/dex/solana/raw-logs.ts'
import { SolanaScenario } from '../e2e/solana-scenario.ts'
import type { PoolAction } from '../support/builders/solana-transaction.ts'
import { hasSolanaRecordings } from '../support/recorded/recorded-solana.ts'
import { SOLANA_DEPLOYMENTS } from '../support/recorded/solana-programs.ts'
import type { MarketEntry } from '../support/rigs/solana-market.ts'

const programs = knownPrograms(SOLANA_DEPLOYMENTS)
const protocolOf = new Map<string, string>(
  SOLANA_DEPLOYMENTS.map(({ factory, protocol }) => [factory, protocol]),
)

function scenario(): SolanaScenario {
  const made = new SolanaScenario()
  made.open()
  made.trade(30)
  made.graduate()
  made.trade(30)
  return made
}

function decode({ rpc, signature }: MarketEntry): DexEvent[] {
  const transaction = parseRpcTransaction(rpc, 1)
  assert.ok(transaction !== undefined, signature)
  assert.equal(transaction.signature, signature)
  return rawLogsOf(transaction, programs, 0).flatMap((log) => {
    const is = SOLANA_PROTOCOLS[protocolOf.get(log.address) ?? '']
    const topic = log.topics[0] ?? ''
    return is?.announcements[topic]?.(log) ?? is?.events[topic]?.(log) ?? []
  })
}

test('the decoders read what the programs of the synthetic market did', () => {
  const counts: Record<string, number> = {}
  for (const { entries } of scenario().market.canonical()) {
    for (const entry of entries) {
      if (entry.recorded !== undefined) continue
      for (const { type } of entry.actions) counts[type] = (counts[type] ?? 0) + 1
      const events = decode(entry).filter(({ type }) => type !== 'reservesSet')
      // A completed curve is closed by its last purchase, and again by its migration.
      assert.deepEqual(events.map(read), entry.actions.map(expected), entry.signature)
    }
  }
  console.log(counts)
  assert.ok((counts['swapped'] ?? 0) > 150 && counts['closed'] === 2 && counts['created'] === 5)
})

test('the decoders read the recorded swaps of the market', { skip: !hasSolanaRecordings }, () => {
  const protocols = new Set<string>()
  let swaps = 0
  for (const { entries } of scenario().market.canonical()) {
    for (const entry of entries) {
      if (entry.recorded === undefined) continue
      const decoded = decode(entry).flatMap((event) => (event.type === 'swapped' ? [event] : []))
      const amounts = decoded.map(({ pool, delta0, delta1 }) => [pool, ...ascending(delta0, delta1)])
      assert.deepEqual(
        amounts,
        entry.recorded.swaps.map(({ pool, amounts: [first, second] }) => [pool, ...ascending(first, second)]),
        entry.signature,
      )
      swaps += decoded.length
      for (const { protocol } of entry.recorded.swaps) protocols.add(protocol)
    }
  }
  console.log(`${swaps} recorded swaps of ${[...protocols].sort()}`)
  assert.equal(protocols.size, 12)
})

/** Both token accounts of one owner, and all transfers, are in the balances. */
test('the balances of the market add up to the supply of its mints', () => {
  const { accounts } = scenario().market
  for (const [address, { supply, symbol }] of accounts.mints) {
    const held = [...accounts.tokens.values()].filter(({ mint }) => mint === address)
    assert.equal(
      held.reduce((sum, { amount }) => sum + amount, 0n),
      supply,
      symbol,
    )
  }
})

type Read = { readonly type: string; readonly pool: string; readonly amounts?: readonly bigint[] }

function read(event: DexEvent): Read & { readonly reserves?: unknown } {
  switch (event.type) {
    case 'swapped':
      return {
        ...{ type: 'swapped', pool: event.pool, amounts: [event.delta0, event.delta1] },
        reserves: [...(event.reserves ?? []), priceOf(event.price)],
      }
    case 'liquidityAdded':
      return {
        ...{ type: 'supplied', pool: event.pool, amounts: event.amounts.map(({ amount }) => amount) },
        reserves: event.reserves,
      }
    case 'poolCreated':
      return { type: `created ${event.tokens} ${event.goalRaw}`, pool: event.pool }
    case 'curveClosed':
      return { type: 'closed', pool: event.pool }
    default:
      throw new Error(`unexpected ${event.type}`)
  }
}

function expected(action: PoolAction): ReturnType<typeof read> {
  const { type, pool, after } = action
  const { reserves, virtual = reserves, tokens, goal } = after
  switch (action.type) {
    case 'swapped': {
      const price = Number(virtual[1]) / Number(virtual[0])
      return { type, pool, amounts: action.amounts, reserves: [...reserves, price.toPrecision(12)] }
    }
    case 'supplied':
      return { type, pool, amounts: action.amounts, reserves }
    case 'created':
      return { type: `created ${tokens} ${goal}`, pool }
    default:
      return { type, pool }
  }
}

function priceOf(price: unknown): string {
  const { sqrtPriceX96 } = price as { sqrtPriceX96: bigint }
  return ((Number(sqrtPriceX96) / 2 ** 96) ** 2).toPrecision(12)
}

function ascending(a: bigint, b: bigint): [bigint, bigint] {
  return a < b ? [a, b] : [b, a]
}
