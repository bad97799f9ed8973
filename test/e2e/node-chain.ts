import assert from 'node:assert/strict'
import { createPublicClient, type Hex, http, type Log, parseAbi, toEventSelector } from 'viem'
import type { RawLog } from '../../src/domain/envelope.ts'
import type { CanonicalView } from '../support/reference/canonical-view.ts'

/** Events of the test market's pools and of their LP tokens; their other events are not for the log. */
const POOL_EVENTS = parseAbi([
  'event Sync(uint112 reserve0, uint112 reserve1)',
  'event Swap(address indexed sender, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out, address indexed to)',
  'event Mint(address indexed sender, uint256 amount0, uint256 amount1)',
  'event Burn(address indexed sender, uint256 amount0, uint256 amount1, address indexed to)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
]).map(toEventSelector)

/** Compares a log with what the node says now: every block, and every event of these pools. */
export async function assertSameAsNode(
  view: CanonicalView,
  rpcUrl: string,
  pools: readonly Hex[],
): Promise<{ blocks: number; events: number }> {
  const client = createPublicClient({ transport: http(rpcUrl, { batch: true }) })
  const head = Number(await client.getBlockNumber({ cacheTime: 0 }))
  const numbers = Array.from({ length: head + 1 }, (_, number) => BigInt(number))
  const [blocks, logs] = await Promise.all([
    Promise.all(numbers.map((blockNumber) => client.getBlock({ blockNumber }))),
    client.getLogs({ address: [...pools], fromBlock: 0n, toBlock: BigInt(head) }),
  ])
  assert.deepEqual(
    view.blocks.map(({ number, hash, parentHash, time }) => [number, hash, parentHash, time]),
    blocks.map(({ number, hash, parentHash, timestamp }) => {
      return [Number(number), hash, parentHash, Number(timestamp)]
    }),
  )
  const logged = view.blocks.flatMap(({ hash, transactions }) =>
    transactions.flatMap((transaction) =>
      transaction.logs
        .filter(({ address }) => pools.includes(address as Hex))
        .map((log) => ({ block: hash, transaction: transaction.hash, ...plain(log) })),
    ),
  )
  const expected = logs.filter(({ topics }) => POOL_EVENTS.includes(topics[0] as Hex)).map(fromNode)
  assert.deepEqual(logged, expected)
  return { blocks: blocks.length, events: expected.length }
}

function plain({ index, address, topics, data }: RawLog) {
  return { index, address, topics: [...topics], data: `0x${Buffer.from(data).toString('hex')}` }
}

function fromNode({ blockHash, transactionHash, logIndex, address, topics, data }: Log) {
  const log = { index: logIndex, address: address.toLowerCase(), topics: [...topics], data }
  return { block: blockHash, transaction: transactionHash, ...log }
}
