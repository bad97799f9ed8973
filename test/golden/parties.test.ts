import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EVM_PROTOCOLS } from '../../src/dex/protocols.ts'
import { DexRegistry } from '../../src/dex/registry.ts'
import type { Trade } from '../../src/domain/change.ts'
import type { BlockEnvelope, Fact } from '../../src/domain/envelope.ts'
import {
  allTransactions,
  derivedTokens,
  hasRecordings,
  type RecordedTransaction,
} from '../support/recorded/recorded-transactions.ts'
import { EngineRun } from '../support/rigs/engine-run.ts'
import { type Leg, legsOf, NATIVE } from './transfers/legs.ts'
import { type Transfer, transfersOf } from './transfers/transfers.ts'

const CHAIN = 'recorded'
const WALLET = `0x${'e'.repeat(40)}`

type Count = { swaps: number; sender: number; recipient: number }

/** The transaction as a block of its own, after one with all pools that it trades in. */
function tradesOf(transaction: RecordedTransaction, legs: readonly Leg[], hasParties: boolean): Trade[] {
  const transfers = transfersOf(transaction.logs)
  const deployments = new Map<string, { amm: string; protocol: string; factory: string }>()
  const facts = new Map<string, Fact>()
  for (const [pool, own] of Map.groupBy(legs, (leg) => leg.pool)) {
    const [{ protocol, log }] = own as [Leg, ...Leg[]]
    // Factories of pools with contracts of their own are not recorded.
    const made = `0x${Object.keys(EVM_PROTOCOLS).indexOf(protocol).toString(16).padStart(40, 'f')}`
    const factory = EVM_PROTOCOLS[protocol]?.isSingleton ? log.address : made
    deployments.set(factory, { amm: protocol, protocol, factory })
    const tokens = tokensOf(own, transfers)
    const pricing = { kind: 'trades' } as const
    facts.set(pool, { type: 'pool', address: pool, factory, tokens, pricing, reservesBefore: undefined })
    for (const address of tokens)
      facts.set(address, {
        ...{ type: 'token', address, nameRaw: new Uint8Array(), symbolRaw: new Uint8Array() },
        ...{ decimals: 18, supplyRaw: undefined },
      })
  }
  const run = new EngineRun({
    ...{ chain: CHAIN, registry: new DexRegistry([...deployments.values()]), quoteAssets: [] },
    ...{ minDepthUsd: 0n, lockers: new Set<string>(), hasParties },
  })
  const block = (number: number, all: Fact[], logs: RecordedTransaction['logs']): BlockEnvelope => ({
    ...{ kind: 'block', chain: CHAIN, number, hash: hash(number), parentHash: hash(number - 1) },
    ...{ time: 1_700_000_000 + number, facts: all },
    transactions: [{ index: 0, hash: transaction.hash, from: WALLET, logs }],
  })
  run.apply(block(1, [...facts.values()], []))
  const { changes } = run.apply(block(2, [], transaction.logs))
  return changes.flatMap((change) => (change.type === 'trade' ? [change.trade] : []))
}

function hash(number: number): string {
  return `0x${number.toString(16).padStart(64, '0')}`
}

/** Those that events name, and for places without a name the token of an equal transfer. */
function tokensOf(legs: readonly Leg[], transfers: readonly Transfer[]): string[] {
  const named = new Set(legs.flatMap(({ ref }) => (typeof ref === 'string' ? [ref] : [])))
  if (named.size > 0) return [...named]
  const places = Math.max(2, ...legs.map(({ ref }) => Number(ref) + 1))
  return Array.from({ length: places }, (_, place) => {
    const own = legs.filter(({ ref }) => ref === place)
    const tokens = own.flatMap((leg) => leg.token ?? equalTransfer(leg, transfers)?.token ?? [])
    return tokens[0] ?? `0x${String(place).padStart(40, '9')}`
  })
}

function equalTransfer({ amount, holder }: Leg, transfers: readonly Transfer[]): Transfer | undefined {
  return transfers.find((transfer) =>
    amount > 0n
      ? transfer.to === holder && transfer.amount === amount
      : transfer.from === holder && transfer.amount === -amount,
  )
}

/** Received more of the bought token than it passed on to others. */
function hasReceived({ bought, recipient }: Trade, transfers: readonly Transfer[]): boolean {
  const own = transfers.filter(({ token, to }) => token === bought.token && to !== NATIVE)
  const sum = (all: readonly Transfer[]): bigint => all.reduce((total, { amount }) => total + amount, 0n)
  const received = sum(own.filter(({ to }) => to === recipient))
  return received > sum(own.filter(({ from }) => from === recipient))
}

test('swaps of real transactions have a sender and a recipient', { skip: !hasRecordings }, () => {
  const derived = derivedTokens()
  const counts = { before: new Map<string, Count>(), after: new Map<string, Count>() }
  for (const transaction of allTransactions()) {
    const transfers = transfersOf(transaction.logs)
    const legs = legsOf(transaction, transfers, derived).filter(({ isSwap }) => isSwap)
    if (legs.length === 0) continue
    const after = tradesOf(transaction, legs, true)
    const isConcerned = legs.some(({ protocol }) => EVM_PROTOCOLS[protocol]?.payerOf !== undefined)
    const before = isConcerned ? tradesOf(transaction, legs, false) : after
    assert.equal(after.length, before.length)
    for (const [at, trade] of after.entries()) {
      const { sender, recipient } = before[at] as Trade
      if (sender !== '') assert.equal(trade.sender, sender)
      if (recipient !== '') assert.equal(trade.recipient, recipient)
      else if (trade.recipient !== '') assert.ok(hasReceived(trade, transfers), transaction.hash)
    }
    for (const trade of before) add(counts.before, trade)
    for (const trade of after) add(counts.after, trade)
  }
  for (const [when, byProtocol] of Object.entries(counts))
    for (const [protocol, { swaps, sender, recipient }] of [...byProtocol].toSorted())
      console.log(`${when}: ${protocol}: ${swaps} swaps, ${sender} with sender, ${recipient} with recipient`)
  const [before, after] = [totalOf(counts.before), totalOf(counts.after)]
  console.log(`before: ${line(before)}\nafter: ${line(after)}`)
  assert.deepEqual(before, { swaps: 1_443, sender: 1_395, recipient: 1_281 })
  assert.deepEqual(after, { swaps: 1_443, sender: 1_443, recipient: 1_371 })
})

function add(counts: Map<string, Count>, { amm, sender, recipient }: Trade): void {
  const count = counts.get(amm) ?? { swaps: 0, sender: 0, recipient: 0 }
  counts.set(amm, count)
  count.swaps += 1
  count.sender += Number(sender !== '')
  count.recipient += Number(recipient !== '')
}

function totalOf(counts: ReadonlyMap<string, Count>): Count {
  const all = [...counts.values()]
  const sum = (field: keyof Count): number => all.reduce((total, count) => total + count[field], 0)
  return { swaps: sum('swaps'), sender: sum('sender'), recipient: sum('recipient') }
}

function line({ swaps, sender, recipient }: Count): string {
  const percent = (part: number): string => `${((100 * part) / swaps).toFixed(2)} %`
  return `${swaps} swaps, ${percent(sender)} with sender, ${percent(recipient)} with recipient`
}
