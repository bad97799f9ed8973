import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestCommon } from '../../../../test/support/rigs/test-common.ts'
import type { PastLaunch } from '../../../domain/found-launch.ts'
import type { MetBlock } from '../../facts/block-facts.ts'
import { RpcFailure } from '../../rpc/rpc-failure.ts'
import type { EvmNode } from '../rpc/rpc.ts'
import { PastLaunches } from './past-launches.ts'

const address = (n: number): string => `0x${n.toString(16).padStart(40, '0')}`
const [TOKEN, FACTORY] = [address(1), address(0xf)]
const NOW = { number: 1_000, hash: '0x01', parentHash: '0x00', time: 1_700_000_000 }

type Node = {
  readonly times: Map<number, string | null>
  readonly asked: number[]
  isDown: boolean
}

function setUp(launches: Record<string, PastLaunch>) {
  const node: Node = { times: new Map(), asked: [], isDown: false }
  const blockByNumber = async (number: number) => {
    node.asked.push(number)
    if (node.isDown) throw new RpcFailure('failed', 'down')
    const timestamp = node.times.get(number) ?? null
    return timestamp === null ? null : { timestamp }
  }
  const verified = <T>(ask: (node: EvmNode) => Promise<T>): Promise<T> =>
    ask({ blockByNumber } as unknown as EvmNode)
  const { logger, lines } = createTestCommon()
  const past = new PastLaunches({ launchOf: (token) => launches[token], nodes: { verified }, logger })
  const ask = async (met: Partial<MetBlock> = {}) => {
    const block = met.block ?? NOW
    const known = { knowsPool: () => false, knowsToken: () => false }
    const answers = await past.ask({
      ...{ block, tokens: [TOKEN], transactions: [], known, head: block.number, ...met },
    })
    return { ...answers, learn: () => past.learn(answers, block) }
  }
  return { node, ask, lines }
}

const hex = (time: number): string => `0x${time.toString(16)}`
const graduated: PastLaunch = { factory: FACTORY, createdIn: 10, graduatedIn: 20 }
const fact = { type: 'launch', address: TOKEN, factory: FACTORY, block: 10, createdAt: 100, graduatedAt: 200 }

test('the launch of a new token has the times of its blocks, each of which is asked for once', async () => {
  const { node, ask } = setUp({ [TOKEN]: graduated })
  node.times.set(10, hex(100)).set(20, hex(200))
  assert.deepEqual((await ask()).facts, [fact])
  assert.deepEqual((await ask()).facts, [fact])
  assert.deepEqual(node.asked, [10, 20])
})

test('a known token has it with its next event, unless the log has it', async () => {
  const { node, ask } = setUp({ [TOKEN]: graduated })
  node.times.set(10, hex(100)).set(20, hex(200))
  const log = { index: 0, address: TOKEN, topics: [], data: new Uint8Array() }
  const transactions = [{ index: 0, hash: '0x02', from: FACTORY, logs: [log, { ...log, index: 1 }] }]
  const known = { knowsPool: () => false, knowsToken: () => true }
  assert.deepEqual((await ask({ tokens: [], transactions, known })).facts, [fact])
  const logged = { ...known, knowsLaunch: () => true }
  assert.deepEqual((await ask({ tokens: [], transactions, known: logged })).facts, [])
  const foreign = { ...known, knowsToken: () => false }
  assert.deepEqual((await ask({ tokens: [], transactions, known: foreign })).facts, [])
})

test('events that are not before the block are left to the log', async () => {
  const { node, ask } = setUp({ [TOKEN]: graduated })
  node.times.set(10, hex(100)).set(20, hex(200))
  const at = (number: number) => ask({ block: { ...NOW, number } })
  assert.deepEqual((await at(20)).facts, [{ ...fact, graduatedAt: undefined }])
  assert.deepEqual((await at(10)).facts, [])
})

test('what a node lacks or gets wrong is no fact, stops nothing, and is tried again much later', async () => {
  for (const time of [null, '', '0x', 'now', hex(NOW.time + 1), `0x${'f'.repeat(16)}`]) {
    const { node, ask, lines } = setUp({ [TOKEN]: graduated })
    node.times.set(10, hex(100)).set(20, time)
    const { facts, failures, learn } = await ask()
    assert.deepEqual([facts.length, failures.length], [0, 1], String(time))
    learn()
    assert.ok(lines.some(({ msg }) => msg === 'Launch of an older token could not be read'))
    node.times.set(20, hex(200))
    assert.deepEqual((await ask()).facts, [])
    assert.deepEqual((await ask({ block: { ...NOW, number: NOW.number + 4_096 } })).facts, [fact])
  }
})

test('a node that is down while a block is asked about in advance changes nothing', async () => {
  const { node, ask } = setUp({ [TOKEN]: graduated })
  node.times.set(10, hex(100)).set(20, hex(200))
  node.isDown = true
  assert.equal((await ask()).failures.length, 1)
  node.isDown = false
  assert.deepEqual((await ask()).facts, [fact])
})

test('a block has a limited number of launches', async () => {
  const tokens = Array.from({ length: 100 }, (_, at) => address(at + 1))
  const { node, ask } = setUp(Object.fromEntries(tokens.map((token) => [token, graduated])))
  node.times.set(10, hex(100)).set(20, hex(200))
  assert.equal((await ask({ tokens })).facts.length, 32)
})
