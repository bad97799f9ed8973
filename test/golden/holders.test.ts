import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeEventLog, type Hex, parseAbi } from 'viem'
import { EvmFacts } from '../../src/chain/evm/facts/facts.ts'
import { Multicall } from '../../src/chain/evm/rpc/multicall.ts'
import type { EvmRpc } from '../../src/chain/evm/rpc/rpc.ts'
import type { KnownFacts } from '../../src/chain/source.ts'
import type { Token } from '../../src/domain/change.ts'
import type { BlockEnvelope, TokenFact, TransfersFact } from '../../src/domain/envelope.ts'
import { RecordedEnvelopes } from '../support/recorded/recorded-envelopes.ts'
import {
  hasRecordings,
  type RecordedBlock,
  receiptsText,
  recordedBlocks,
} from '../support/recorded/recorded-transactions.ts'
import { type World, worldOf } from '../support/recorded/recorded-worlds.ts'
import { foldChangeSets, type Tables } from '../support/reference/change-tables.ts'
import { EngineRun } from '../support/rigs/engine-run.ts'

/**
 * Gains and losses of holders in real blocks, counted here from the JSON of their receipts, and by the engine from what
 * passes the reader's filter. All tokens count as discovered before, and every sender holds what it sends.
 */

type RpcLog = { readonly address: string; readonly topics: [Hex, ...Hex[]]; readonly data: Hex }
type Move = { readonly token: string; readonly from: string; readonly to: string; readonly amount: bigint }

const ZERO = `0x${'0'.repeat(40)}`
const SUPPLY = 10n ** 60n
const PLAIN = parseAbi(['event Transfer(address indexed from, address indexed to, uint256 value)'])
const UNINDEXED = parseAbi(['event Transfer(address from, address to, uint256 value)'])
const WRAPPING = parseAbi([
  'event Deposit(address indexed owner, uint256 value)',
  'event Withdrawal(address indexed owner, uint256 value)',
])

/** A node whose contracts all fail: nothing is found out from it. */
const SILENT = new Multicall({ runCode: async () => undefined } as Partial<EvmRpc> as EvmRpc, {
  gas: 1_000_000,
  answerBytes: 1_024,
})
const COIN = { name: 'Coin', symbol: 'COIN', decimals: 18 }

test('holders of real blocks are those of their receipts', { skip: !hasRecordings }, async () => {
  const seen = { moves: 0, ofWrapped: 0, made: 0, gone: 0, tokens: 0, gains: 0 }
  for (const block of recordedBlocks()) {
    const world = worldOf(block)
    const wrapped = new Set(
      world.settings.quoteAssets.flatMap((each) => (each.kind === 'native' ? each.address : [])),
    )
    const moves = movesOf(block, wrapped)
    const tokens = [...new Set(moves.map(({ token }) => token))]
    const { tables, before } = await fold(block, world, wrapped, moves)
    for (const token of tokens) {
      const own = moves.filter((move) => move.token === token)
      const gains = gainsOf(own)
      const place = `${token} in ${block.file}`
      const held = [...tables.balances.values()].filter((balance) => balance.token === token)
      const balances = new Map(held.map(({ holder, amountRaw }) => [holder, amountRaw]))
      for (const [holder, gain] of gains) {
        const start = before.get(`${token}/${holder}`) ?? 0n
        assert.equal((balances.get(holder) ?? 0n) - start, gain, `gain of ${holder}, ${place}`)
      }
      const record = tables.tokens.get(token) as Token
      const expected = [...gains].filter(([holder, gain]) => {
        return (before.get(`${token}/${holder}`) ?? 0n) + gain > 0n
      })
      assert.equal(record.holding?.holders, expected.length, `holders of ${place}`)
      assert.equal(balances.size, expected.length, `balances of ${place}`)
      const made = sum(own.filter(({ from }) => from === ZERO))
      const gone = sum(own.filter(({ from, to }) => to === ZERO && from !== ZERO))
      assert.equal((record.supplyRaw ?? 0n) - SUPPLY, made - gone, `supply of ${place}`)
      seen.tokens += 1
      seen.gains += [...gains.values()].filter((gain) => gain !== 0n).length
      seen.made += made > 0n ? 1 : 0
      seen.gone += gone > 0n ? 1 : 0
    }
    seen.moves += moves.length
    seen.ofWrapped += moves.filter(({ token }) => wrapped.has(token)).length
  }
  console.log(JSON.stringify(seen))
  assert.ok(
    seen.moves > 4_000 && seen.made > 50 && seen.gone > 20 && seen.ofWrapped > 500,
    'too little to compare',
  )
})

/** The engine after the block, and what everyone was given before it. */
async function fold(
  block: RecordedBlock,
  { settings, deployments }: World,
  wrapped: ReadonlySet<string>,
  moves: readonly Move[],
): Promise<{ tables: Tables; before: Map<string, bigint> }> {
  const tokens = [...new Set(moves.map(({ token }) => token))]
  const { recorded, before: parent } = new RecordedEnvelopes(deployments).of(settings.chain, block)
  const known: KnownFacts = { knowsPool: () => true, knowsToken: (token) => tokens.includes(token) }
  const facts = new EvmFacts(SILENT, settings.registry, COIN, wrapped)
  const { transactions } = await facts.gather(recorded, recorded.transactions, known)
  const starts = new Map<string, bigint>()
  const pasts = tokens.map((token): TransfersFact => {
    const gains = [...gainsOf(moves.filter((move) => move.token === token))].map(([holder, gain]) => {
      // Some are left with nothing, some with a unit, some had something and kept it.
      const amountRaw = (gain < 0n ? -gain : 0n) + (BigInt(holder) % 2n)
      starts.set(`${token}/${holder}`, amountRaw)
      return { holder, amountRaw }
    })
    const sums = { issuedRaw: 0n, burnedRaw: 0n, mintedToZeroRaw: 0n }
    return { type: 'transfers', address: token, upTo: 1, isLast: true, first: undefined, gains, ...sums }
  })
  const run = new EngineRun(settings)
  const untouched: BlockEnvelope = { ...parent, transactions: [], facts: [...tokens.map(factOf), ...pasts] }
  run.apply(untouched)
  const state = run.stateHash()
  run.apply({ ...recorded, transactions })
  const tables = foldChangeSets(run.sets)
  const { number, hash } = untouched
  run.apply({ kind: 'undo', chain: settings.chain, lastValid: { number, hash } })
  assert.equal(run.stateHash(), state, `${block.file}, taken back`)
  const back = foldChangeSets(run.sets)
  for (const [id, amountRaw] of starts) assert.equal(back.balances.get(id)?.amountRaw ?? 0n, amountRaw)
  return { tables, before: starts }
}

function factOf(address: string): TokenFact {
  const text = Buffer.from('T')
  return { type: 'token', address, nameRaw: text, symbolRaw: text, decimals: 18, supplyRaw: SUPPLY }
}

function movesOf(block: RecordedBlock, wrapped: ReadonlySet<string>): Move[] {
  const receipts = JSON.parse(receiptsText(block)) as { readonly logs: readonly RpcLog[] }[]
  return receipts.flatMap(({ logs }) => {
    const transfers = logs.flatMap(transferOf)
    const wrappings = logs.flatMap((log) => (wrapped.has(log.address.toLowerCase()) ? wrappingOf(log) : []))
    const isLoggedTwice = (move: Move): boolean =>
      transfers.some((other) => JSON.stringify(other, text) === JSON.stringify(move, text))
    return [...transfers, ...wrappings.filter((move) => !isLoggedTwice(move))]
  })
}

function transferOf({ address, topics, data }: RpcLog): Move[] {
  for (const abi of [PLAIN, UNINDEXED]) {
    try {
      const { args } = decodeEventLog({ abi, topics, data, strict: true })
      // A fourth topic is the number of a thing.
      if (topics.length > 3) return []
      const [from, to] = [args.from.toLowerCase(), args.to.toLowerCase()]
      return [{ token: address.toLowerCase(), from, to, amount: args.value }]
    } catch {
      // Another event, or another form of it.
    }
  }
  return []
}

function wrappingOf({ address, topics, data }: RpcLog): Move[] {
  try {
    const { eventName, args } = decodeEventLog({ abi: WRAPPING, topics, data, strict: true })
    const owner = args.owner.toLowerCase()
    const [from, to] = eventName === 'Deposit' ? [ZERO, owner] : [owner, ZERO]
    return [{ token: address.toLowerCase(), from, to, amount: args.value }]
  } catch {
    return []
  }
}

function gainsOf(moves: readonly Move[]): Map<string, bigint> {
  const holders = new Set(moves.flatMap(({ from, to }) => [from, to]).filter((holder) => holder !== ZERO))
  return new Map(
    [...holders].map((holder) => {
      return [
        holder,
        sum(moves.filter(({ to }) => to === holder)) - sum(moves.filter(({ from }) => from === holder)),
      ]
    }),
  )
}

function sum(moves: readonly Move[]): bigint {
  return moves.reduce((all, { amount }) => all + amount, 0n)
}

function text(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
