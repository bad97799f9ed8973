import assert from 'node:assert/strict'
import { test } from 'node:test'
import { words } from '../../../test/support/builders/abi-words.ts'
import { padded } from '../../../test/support/builders/raw-log.ts'
import { clanker } from '../../dex/evm/clanker/protocol.ts'
import { curve } from '../../dex/evm/curve/protocol.ts'
import { uniswapV2 } from '../../dex/evm/uniswap-v2/protocol.ts'
import { uniswapV4 } from '../../dex/evm/uniswap-v4/protocol.ts'
import type { Call } from '../../dex/protocol.ts'
import type { DexDeployment } from '../../domain/chain-settings.ts'
import { ExchangeLogs } from './exchange-logs.ts'
import type { LogFilter, RpcPastLog } from './rpc/history-rpc.ts'
import type { EvmNode } from './rpc/rpc.ts'

const address = (at: number): string => `0x${at.toString(16).padStart(40, '0')}`
const hex = (value: number) => `0x${value.toString(16)}` as const
const [PAIR_CREATED = ''] = Object.keys(uniswapV2.announcements)
const [SYNC = ''] = Object.keys(uniswapV2.events)
const [EXCHANGE = ''] = Object.keys(curve.events)
const [V4_SWAP = ''] = Object.keys(uniswapV4.events)

type Log = { block: number; index: number; address: string; topics: string[]; data?: string }

/** Nodes that have these logs; the first is asked first. */
function finder(...nodes: (readonly Log[])[]) {
  const filters: LogFilter[] = []
  const nodeOf = (logs: readonly Log[], label: string): EvmNode =>
    ({
      label,
      pastLogs: async (filter: LogFilter) => {
        filters.push(filter)
        return logs
          .filter(({ block }) => block >= filter.from && block <= filter.to)
          .filter((log) => filter.address === undefined || filter.address.includes(log.address))
          .filter(({ topics }) => filter.topics.includes(topics[0] as string))
          .map(({ block, index, ...log }) => ({
            ...{ data: '0x', ...log },
            ...{ blockNumber: hex(block), logIndex: hex(index), transactionHash: `0x${'1'.repeat(64)}` },
          })) as unknown as RpcPastLog[]
      },
    }) as unknown as EvmNode
  const all = nodes.map((logs, index) => nodeOf(logs, `node ${index}`))
  const asked: string[] = []
  const ask = async (calls: readonly Omit<Call, 'before'>[]) =>
    calls.map(({ to, data }) => {
      asked.push(`${to} ${data.slice(0, 10)}`)
      return undefined
    })
  const found = new ExchangeLogs(
    {
      verified: (work) => work(all[0] as EvmNode),
      elsewhere: async (label, work) => {
        const others = all.filter((node) => node.label !== label)
        return { asked: others.length, answers: await Promise.all(others.map(work)) }
      },
      blockByNumber: async () => ({ hash: hex(1), parentHash: hex(2) }) as never,
    },
    { ask, askExactly: ask },
  )
  return { found, filters, asked }
}

const dex = (protocol: string, at: number): DexDeployment => ({
  amm: protocol,
  protocol,
  factory: address(at),
})
const V2 = dex('uniswap_v2', 0xf2)
const pairCreated = (block: number, pair: string, factory = V2.factory): Log => ({
  ...{ block, index: 0, address: factory },
  topics: [PAIR_CREATED, padded(address(1)), padded(address(2))],
  data: words(pair, 1n),
})
const places = ({ logs }: Awaited<ReturnType<ExchangeLogs['find']>>): string[] =>
  logs.map(({ block, log, dex: of }) => `${of.amm} ${block}/${log.index}`)

test('pools are those that the factory announced, before the range or in it', async () => {
  const [old, fresh, foreign] = [address(0xa1), address(0xa2), address(0xa3)]
  const sync = (block: number, pair: string): Log => ({ block, index: 5, address: pair, topics: [SYNC] })
  const { found, filters } = finder([
    pairCreated(3, old),
    pairCreated(4, foreign, address(0xff)),
    pairCreated(20, fresh),
    ...[old, fresh, foreign].map((pair) => sync(20, pair)),
    sync(40, old),
  ])
  await found.findPools([V2], 9)
  assert.deepEqual(places(await found.find([V2], 10, 30)), [
    'uniswap_v2 20/0',
    'uniswap_v2 20/5',
    'uniswap_v2 20/5',
  ])
  assert.deepEqual(filters.at(-1)?.address, [old, fresh])
})

test('a log that one node leaves out is found at another', async () => {
  const { found } = finder([], [pairCreated(12, address(0xa1))])
  assert.deepEqual(places(await found.find([V2], 10, 30)), ['uniswap_v2 12/0'])
})

test('events of a singleton are found by its address', async () => {
  const v4 = dex('uniswap_v4', 0xf4)
  const swap = (block: number, from: string): Log => ({ block, index: 1, address: from, topics: [V4_SWAP] })
  const { found } = finder([swap(11, v4.factory), swap(12, address(0xbad))])
  assert.deepEqual(places(await found.find([v4], 10, 30)), ['uniswap_v4 11/1'])
})

test('pools that no factory announces are found by topic, and each unknown contract is asked about once', async () => {
  const registry = dex('curve', 0xc0)
  const exchange = (block: number): Log => ({ block, index: 1, address: address(0xb1), topics: [EXCHANGE] })
  const { found, filters, asked } = finder([exchange(11), exchange(12)])
  assert.deepEqual(places(await found.find([registry], 10, 30)), [])
  assert.equal(filters.length, 1)
  assert.equal(filters[0]?.address, undefined)
  const once = asked.length
  assert.ok(once > 0)
  await found.find([registry], 10, 30)
  assert.equal(asked.length, once)
})

test('a launch platform without pools is asked for its events alone', async () => {
  const CLANKER = dex('clanker', 0xf8)
  const [topic = ''] = Object.keys(clanker.tokenEvents ?? {})
  const launch = { block: 3, index: 1, address: CLANKER.factory, topics: [topic] }
  const { found, filters } = finder([launch, { ...launch, index: 2, address: address(0xbad) }])
  await found.findPools([CLANKER], 2)
  assert.deepEqual(places(await found.find([CLANKER], 3, 9)), ['clanker 3/1'])
  assert.deepEqual(
    filters.map((filter) => filter.address),
    [[CLANKER.factory]],
  )
  const log = { ...launch, data: Buffer.alloc(0) }
  assert.ok(found.selects(log, [CLANKER]))
  assert.ok(!found.selects({ ...log, address: address(0xbad) }, [CLANKER]))
})
