import assert from 'node:assert/strict'
import { test } from 'node:test'
import { words } from '../../../test/support/builders/abi-words.ts'
import { padded } from '../../../test/support/builders/raw-log.ts'
import { createTestCommon } from '../../../test/support/rigs/test-common.ts'
import type { LogFilter, RpcPastLog } from '../../chain/evm/rpc/history-rpc.ts'
import type { EvmNode, EvmNodes } from '../../chain/evm/rpc/rpc.ts'
import type { Header } from '../../chain/source.ts'
import { uniswapV2 } from '../../dex/evm/uniswap-v2/protocol.ts'
import type { DexDeployment } from '../../domain/chain-settings.ts'
import type { RawLog } from '../../domain/envelope.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import { MissingDexes } from '../../domain/missing-dexes.ts'
import type { ArchivedMessage, BlockArchive } from '../../store/clickhouse/block-archive.ts'
import { decodeEnvelope, encodeEnvelope } from '../../wire/envelope-codec.ts'
import { SupplementReader } from './supplement-reader.ts'

const [PAIR_CREATED = ''] = Object.keys(uniswapV2.announcements)
const [SYNC = ''] = Object.keys(uniswapV2.events)
const address = (at: number): string => `0x${at.toString(16).padStart(40, '0')}`
const hash = (at: number): string => `0x${at.toString(16).padStart(64, '0')}`
const hex = (value: number) => `0x${value.toString(16)}` as const
const [FACTORY, PAIR, FOREIGN] = [address(0xf), address(0xa), address(0xb)]
const FIRST = 10
/** Blocks 10 to 59 are messages 1 to 50 of BLOCKS; settings follow, and one more block. */
const SETTINGS_AT = 51
const NAME = 'eth@2#'

const sync = (index: number, pair = PAIR): RawLog => ({
  index,
  address: pair,
  topics: [SYNC],
  data: Buffer.from(words(1_000n, 2_000n).slice(2), 'hex'),
})
const created: RawLog = {
  index: 0,
  address: FACTORY,
  topics: [PAIR_CREATED, padded(address(1)), padded(address(2))],
  data: Buffer.from(words(PAIR, 1n).slice(2), 'hex'),
}

class World {
  /** Logs of all contracts, by block. */
  readonly logs = new Map<number, RawLog[]>([
    [20, [created, sync(1), sync(2, FOREIGN)]],
    [25, [sync(0, FOREIGN)]],
    [31, [sync(0, FOREIGN), sync(1), sync(2)]],
    [44, [sync(0)]],
    [60, [sync(0)]],
  ])
  readonly common = createTestCommon()
  readonly read: number[] = []
  readonly blamed: string[] = []
  readonly filters: LogFilter[] = []
  /** Rows and commit points, by name. */
  readonly rows = new Map<string, ArchivedMessage[]>()
  readonly ends = new Map<string, number>()
  list = (filter: LogFilter): readonly RpcPastLog[] => this.find(filter)
  commits = Number.POSITIVE_INFINITY
  failed: (error: unknown) => void = () => undefined

  find({ address: asked, topics, from, to }: LogFilter): RpcPastLog[] {
    return [...this.logs].flatMap(([block, logs]) =>
      logs
        .filter(
          (log) =>
            (asked === undefined || asked.includes(log.address)) && topics.includes(log.topics[0] ?? ''),
        )
        .filter(() => block >= from && block <= to)
        .map(
          (log) =>
            ({
              ...log,
              data: `0x${Buffer.from(log.data).toString('hex')}`,
              blockNumber: hex(block),
              logIndex: hex(log.index),
              transactionHash: hash(block),
            }) as unknown as RpcPastLog,
        ),
    )
  }

  async run(attempt: number): Promise<number | undefined> {
    const dexes: DexDeployment[] = [{ amm: 'new', protocol: 'uniswap_v2', factory: FACTORY }]
    const none = { rules: 1, dexes: [], quoteAssets: [], minDepthUsd: 1n, lockers: [] }
    const missing = new MissingDexes([
      { sequence: 0, settings: none },
      { sequence: SETTINGS_AT, settings: { ...none, dexes } },
    ])
    const node = {
      label: 'node',
      pastLogs: async (filter: LogFilter) => {
        this.filters.push(filter)
        return this.list(filter)
      },
    } as unknown as EvmNode
    const nodes: Pick<EvmNodes, 'verified' | 'elsewhere' | 'blame' | 'blockByNumber'> = {
      verified: (ask) => ask(node),
      elsewhere: async () => ({ asked: 0, answers: [] }),
      blame: (_label, reason) => this.blamed.push(reason),
      blockByNumber: async () => null,
    }
    const ask = async (calls: readonly unknown[]) => calls.map(() => undefined)
    const names = Array.from({ length: attempt }, (_, index) => `${NAME}${index + 1}`)
    const { logger, shutdown } = this.common
    return new SupplementReader({
      ...{ chain: 'eth', epoch: 'e', missing, nodes, logger, settingsAt: SETTINGS_AT },
      archive: this.#archive(),
      name: names.at(-1) as string,
      earlier: names.slice(0, -1),
      source: {
        headerOf: async (wanted) => this.#header(Number(wanted)),
        transactions: async ({ number }) => {
          this.read.push(number)
          return [{ index: 3, hash: hash(3), from: address(9), logs: this.logs.get(number) ?? [] }]
        },
      },
      asker: { ask, askExactly: ask },
      native: { name: 'Ether', symbol: 'ETH', decimals: 18 },
      width: 1,
      mustRead: () => undefined,
      waiting: { failed: (error) => this.failed(error), succeeded: () => undefined },
      progress: { update: () => undefined, end: () => undefined },
      note: () => undefined,
      signal: shutdown.signal,
    }).run()
  }

  #header(number: number): Header {
    return { number, hash: hash(number), parentHash: hash(number - 1), time: 1_000 + number }
  }

  #archive(): BlockArchive {
    const sequenceOf = (number: number): number => (number < 60 ? number - FIRST + 1 : SETTINGS_AT + 1)
    const rows = this.rows
    return {
      end: async (name, epoch) => {
        const sequence = name === 'eth' ? SETTINGS_AT + 1 : this.ends.get(name)
        return sequence === undefined ? undefined : { epoch, sequence, link: 0 }
      },
      blockFrom: async (_chain, epoch, from) => {
        const number = from >= SETTINGS_AT ? 60 : from - 1 + FIRST
        const block = {
          kind: 'block',
          chain: 'eth',
          ...this.#header(number),
          transactions: [],
          facts: [],
        } as const
        return { body: encodeEnvelope(block), position: { epoch, sequence: from, link: 0 } }
      },
      blocksOf: async (_chain, _epoch, numbers) =>
        new Map(
          numbers.map((number) => [number, { number, hash: hash(number), sequence: sequenceOf(number) }]),
        ),
      write: async (name, messages) => {
        rows.set(name, [...(rows.get(name) ?? []), ...messages])
      },
      commit: async (name, { sequence }) => {
        if (this.commits-- <= 0) throw new Error('killed')
        this.ends.set(name, sequence)
      },
      read: async function* (name: string) {
        yield* rows.get(name) ?? []
      },
    } as Partial<BlockArchive> as BlockArchive
  }

  blocksIn(name: string) {
    return (this.rows.get(name) ?? []).map(({ body, position, previousSequence }) => {
      const block = decodeEnvelope(body)
      assert.ok(block.kind === 'block')
      const logs = block.transactions.flatMap((transaction) => transaction.logs.map(({ index }) => index))
      const facts = block.facts.map(({ type, address: of }) => `${type} ${Number(of)}`)
      return { number: block.number, seq: position.sequence, previousSequence, logs, facts }
    })
  }
}

const EXPECTED = [
  { number: 20, seq: 11, previousSequence: 0, logs: [0, 1], facts: ['token 1', 'token 2', 'pool 10'] },
  { number: 31, seq: 22, previousSequence: 11, logs: [1, 2], facts: [] },
  { number: 44, seq: 35, previousSequence: 22, logs: [0], facts: [] },
]

test('blocks with logs of the exchange are read, and only its logs are taken', async () => {
  const world = new World()
  assert.equal(await world.run(1), 35)
  assert.deepEqual(world.read, [20, 31, 44])
  assert.deepEqual(world.blocksIn(`${NAME}1`), EXPECTED)
  const [first] = world.rows.get(`${NAME}1`) ?? []
  const block = decodeEnvelope(first?.body as Uint8Array)
  assert.ok(block.kind === 'block')
  const [token, , pool] = block.facts
  // Both are known from transfers only.
  assert.ok(token?.type === 'token' && token.supplyRaw === undefined)
  assert.ok(pool?.type === 'pool' && pool.reservesBefore === undefined)
})

test('another attempt copies what was committed, and reads the rest', async () => {
  const world = new World()
  const before = world.logs.get(44) ?? []
  world.logs.delete(44)
  assert.equal(await world.run(1), 22)
  world.logs.set(44, before)
  world.read.length = 0
  assert.equal(await world.run(2), 35)
  assert.deepEqual(world.read, [44])
  assert.deepEqual(world.blocksIn(`${NAME}2`), EXPECTED)
  assert.equal(world.ends.get(`${NAME}2`), 35)
})

test('rows without a commit point are not copied', async () => {
  const world = new World()
  world.commits = 0
  await assert.rejects(world.run(1), /killed/)
  assert.equal(world.rows.get(`${NAME}1`)?.length, 3)
  world.commits = Number.POSITIVE_INFINITY
  assert.equal(await world.run(2), 35)
  assert.deepEqual(world.blocksIn(`${NAME}2`), EXPECTED)
})

test('a node that leaves out a log of a block is blamed, and asked again', async () => {
  const world = new World()
  let isIncomplete = true
  world.list = (filter) => {
    const found = world.find(filter)
    const isOfPools = filter.address?.includes(PAIR)
    if (!isIncomplete || !isOfPools) return found
    isIncomplete = false
    return found.filter(({ blockNumber, logIndex }) => blockNumber !== hex(31) || logIndex !== hex(2))
  }
  assert.equal(await world.run(1), 35)
  assert.deepEqual(world.blamed, ['eth_getLogs left out log 2 of block 31'])
  assert.deepEqual(world.blocksIn(`${NAME}1`), EXPECTED)
})

test('a range that is too large for all nodes is asked for in parts', async () => {
  const world = new World()
  world.list = (filter) => {
    if (filter.to - filter.from >= 7) throw new ChaintapeError('node_answer_too_large', 'narrow')
    return world.find(filter)
  }
  assert.equal(await world.run(1), 35)
  assert.deepEqual(world.blocksIn(`${NAME}1`), EXPECTED)
  assert.ok(world.filters.length > 10)
})

test('malformed logs of all nodes are asked for again, each time after a longer pause', async () => {
  const world = new World()
  const failedAtMs: number[] = []
  world.failed = (error) => {
    assert.ok(error instanceof ChaintapeError && error.code === 'node_answer_invalid')
    failedAtMs.push(performance.now())
    assert.equal(world.filters.length, failedAtMs.length)
    if (failedAtMs.length === 4) world.list = (filter) => world.find(filter)
  }
  world.list = () => [{ blockNumber: 'twenty' } as unknown as RpcPastLog]
  assert.equal(await world.run(1), 35)
  assert.deepEqual(world.blocksIn(`${NAME}1`), EXPECTED)
  // At least half of 100, 200 and 400 ms; timers may fire a millisecond early.
  const [first = 0, second = 0, third = 0, last = 0] = failedAtMs
  assert.ok(second - first >= 49 && third - second >= 99 && last - third >= 199, failedAtMs.join(' '))
})
