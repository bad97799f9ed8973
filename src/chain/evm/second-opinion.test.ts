import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { NOTHING_COMMITTED } from '../../../test/support/rigs/memory-state.ts'
import { START } from '../../../test/support/rigs/reader-setup.ts'
import { ScriptedChain } from '../../../test/support/rigs/scripted-chain.ts'
import { createTestCommon } from '../../../test/support/rigs/test-common.ts'
import type { BlockRef, Envelope } from '../../domain/envelope.ts'
import { ChaintapeError, type ErrorCode } from '../../domain/errors.ts'
import { Reader } from '../reader.ts'
import { ReaderIndex } from '../reader-index.ts'
import type { Header } from '../source.ts'
import type { EvmNode, EvmNodes } from './rpc/rpc.ts'
import type { RpcBlock } from './rpc/rpc-answers.ts'
import { createEvmSource } from './source.ts'

/** A scripted chain as a node would show it, its hashes spelled as hashes. */
class ScriptedNode {
  readonly label: string
  readonly chain: ScriptedChain
  isUp = true
  isBlamed = false

  constructor(label: string) {
    this.label = label
    this.chain = new ScriptedChain(START)
  }

  rpc(): EvmNode {
    const show = (header: Header | undefined): RpcBlock | null =>
      header === undefined
        ? null
        : {
            number: `0x${header.number.toString(16)}`,
            hash: spelled(header.hash),
            parentHash: spelled(header.parentHash),
            timestamp: `0x${header.time.toString(16)}`,
            logsBloom: null,
            transactions: [],
          }
    return {
      label: this.label,
      blockByTag: async () => show(await this.chain.head()),
      blockByNumber: async (number: number) => show(await this.chain.headerAt(number)),
      blockByHash: async (hash: string) => show(await this.chain.headerOf(unspelled(hash))),
      receipts: async () => [],
    } as unknown as EvmNode
  }
}

const spelled = (hash: string) => `0x${Buffer.from(hash).toString('hex').padStart(64, '0')}` as const
const unspelled = (hash: string) => Buffer.from(hash.slice(2).replace(/^(00)+/, ''), 'hex').toString()

/** Asks the first node that is up and not blamed, as a pool would that likes the first best. */
class TwoNodes implements Pick<EvmNodes, 'verified' | 'elsewhere' | 'blame'> {
  readonly suspect = new ScriptedNode('suspect')
  readonly witness = new ScriptedNode('witness')
  readonly blamed: string[] = []
  readonly #all = [this.suspect, this.witness]

  verified<T>(ask: (node: EvmNode) => Promise<T>, only?: string): Promise<T> {
    const able = this.#all.filter(({ isUp, isBlamed }) => isUp && !isBlamed)
    const chosen = only === undefined ? able[0] : able.find(({ label }) => label === only)
    if (chosen === undefined) throw new ChaintapeError('node_unavailable', 'nobody is up')
    return ask(chosen.rpc())
  }

  async elsewhere<T>(label: string, ask: (node: EvmNode) => Promise<T>) {
    const others = this.#all.filter((node) => node.label !== label)
    const answers = await Promise.all(others.filter(({ isUp }) => isUp).map((node) => ask(node.rpc())))
    return { asked: others.length, answers }
  }

  blame(label: string, reason: string): void {
    this.blamed.push(`${label}: ${reason}`)
    for (const node of this.#all) if (node.label === label) node.isBlamed = true
  }

  mine(count: number): void {
    for (const { chain } of this.#all) chain.mine(count)
  }
}

class Reading {
  readonly nodes = new TwoNodes()
  readonly log: string[] = []
  readonly #index = new ReaderIndex(NOTHING_COMMITTED)

  /** Reads until `isDone` says so after a look, at most so many looks. */
  async read(isDone: (tip: BlockRef | undefined) => boolean = () => false, looks = 5): Promise<void> {
    const stop = new AbortController()
    const { logger } = createTestCommon()
    const end = setTimeout(() => stop.abort(), 500)
    let left = looks
    await new Reader({
      chain: 'testchain',
      source: createEvmSource(this.nodes, { finalityDepth: 20, receiptsRoot: 'unverifiable' }),
      index: this.#index,
      gather: async (_block, transactions) => ({ transactions: [...transactions], facts: [] }),
      append: async (envelope: Envelope) => {
        this.#index.apply(envelope)
        if (envelope.kind === 'undo') this.log.push(`undo to ${envelope.lastValid.number}`)
      },
      flush: async () => undefined,
      startBlock: START,
      readAheadBlocks: 2,
      pollMs: 0,
      logger,
      signal: stop.signal,
      onBlock: () => undefined,
      onProgress: ({ tip }) => {
        left -= 1
        if (left <= 0 || isDone(tip)) stop.abort()
      },
    }).run()
    clearTimeout(end)
  }

  get tip(): number | undefined {
    return this.#index.tip?.number
  }
}

async function caughtUp(): Promise<Reading> {
  const reading = new Reading()
  reading.nodes.mine(60)
  await reading.read()
  assert.equal(reading.tip, START + 59)
  return reading
}

const hasCode = (code: ErrorCode) => (error: unknown) =>
  error instanceof ChaintapeError && error.code === code

describe('a fork below what is final', () => {
  test('that another node denies counts against its node, and reading continues', async () => {
    const reading = await caughtUp()
    const { nodes } = reading
    nodes.suspect.chain.fork(30, 40)
    nodes.witness.chain.mine(3)
    await reading.read()
    assert.deepEqual(nodes.blamed, [
      `suspect: the node's chain forks off below the final block ${START + 39}`,
    ])
    assert.equal(reading.tip, START + 62)
    assert.deepEqual(reading.log, [])
  })

  test('that the others confirm halts the chain', async () => {
    const reading = await caughtUp()
    const { suspect, witness, blamed } = reading.nodes
    for (const { chain } of [suspect, witness]) chain.fork(30, 40)
    await assert.rejects(reading.read(), hasCode('fork_below_final'))
    assert.deepEqual([blamed, reading.log], [[], []])
  })

  test('is denied even by a node that lags', async () => {
    const reading = await caughtUp()
    const { suspect, witness, blamed } = reading.nodes
    suspect.chain.fork(30, 400)
    witness.chain.reportLower(15)
    await reading.read()
    assert.equal(blamed.length, 1)
  })

  test('neither halts nor is believed while the others are away', async () => {
    const reading = await caughtUp()
    const { nodes } = reading
    nodes.suspect.chain.fork(30, 40)
    nodes.witness.isUp = false
    await reading.read()
    assert.deepEqual([nodes.blamed, reading.log, reading.tip], [[], [], START + 59])
    nodes.witness.isUp = true
    nodes.witness.chain.mine(1)
    await reading.read()
    assert.equal(nodes.blamed.length, 1)
    assert.equal(reading.tip, START + 60)
  })
})

describe('a deep fork', () => {
  test('that another node denies is not followed', async () => {
    const reading = await caughtUp()
    const { nodes } = reading
    nodes.suspect.chain.fork(12, 13)
    nodes.witness.chain.mine(1)
    await reading.read()
    assert.deepEqual(nodes.blamed, ["suspect: the node's chain forks off 12 blocks deep"])
    assert.deepEqual([reading.log, reading.tip], [[], START + 60])
  })

  test('is followed when the others confirm it, are away, or lag too far behind to know', async () => {
    const cases: ((nodes: TwoNodes) => void)[] = [
      ({ witness }) => witness.chain.fork(12, 16),
      ({ witness }) => {
        witness.isUp = false
      },
      ({ witness }) => witness.chain.reportLower(9),
    ]
    for (const prepare of cases) {
      const reading = await caughtUp()
      reading.nodes.suspect.chain.fork(12, 16)
      prepare(reading.nodes)
      await reading.read()
      assert.deepEqual([reading.nodes.blamed, reading.log], [[], [`undo to ${START + 47}`]])
    }
  })

  test('a shallow one needs no second endpoint', async () => {
    const reading = await caughtUp()
    reading.nodes.suspect.chain.fork(7, 8)
    await reading.read()
    assert.deepEqual([reading.nodes.blamed, reading.log], [[], [`undo to ${START + 52}`]])
  })
})

test('a branch of which its own node knows no parents is blamed on it', async () => {
  const reading = await caughtUp()
  const { suspect, witness, blamed } = reading.nodes
  suspect.chain.fork(3, 5)
  const { chain } = suspect
  const known = chain.headerOf.bind(chain)
  chain.headerOf = async (hash) => (hash === chain.tip.hash ? known(hash) : undefined)
  witness.chain.mine(1)
  await reading.read()
  assert.match(String(blamed), /^suspect: the node lacks its own block/)
  assert.equal(reading.tip, START + 60)
})

test('a final block that differs from the one read counts against its node, if another node has ours', async () => {
  const reading = await caughtUp()
  const { suspect, witness, blamed } = reading.nodes
  // Its head is ours, what it says of the blocks below is not.
  witness.chain.mine(1)
  suspect.chain.mine(1)
  await reading.read()
  const { chain } = suspect
  const known = chain.headerAt.bind(chain)
  chain.mine(1)
  witness.chain.mine(1)
  chain.headerAt = async (number) => {
    const header = await known(number)
    return header !== undefined && number < START + 50 ? { ...header, hash: `${number}.9` } : header
  }
  await reading.read()
  assert.deepEqual(blamed, [`suspect: final block ${START + 41} differs from the one read before`])
  assert.equal(reading.tip, START + 61)
})
