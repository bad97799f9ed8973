import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { decodeEventLog, type Hex } from 'viem'
import { uniswapV2Factory, uniswapV2Pair } from '../../dev/market/artifacts.ts'
import { decodeUniswapV2 } from '../../src/dex/evm/uniswap-v2/decode.ts'

type RpcLog = { address: Hex; topics: [Hex, ...Hex[]]; data: Hex; logIndex: Hex; transactionHash: Hex }
type RpcReceipt = { transactionHash: Hex; logs: RpcLog[] }
type Swap = {
  sender: Hex
  to: Hex
  amount0In: bigint
  amount1In: bigint
  amount0Out: bigint
  amount1Out: bigint
}
type Sync = { reserve0: bigint; reserve1: bigint }
type PairCreated = { token0: Hex; token1: Hex; pair: Hex }

// Written out once more, so that a slip in the decoder's own constants shows.
const SWAP = '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822'
const SYNC = '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1'
const PAIR_CREATED = '0x0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9'

const repo = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
const fixtures = process.env['CHAINTAPE_FIXTURES'] ?? resolve(repo, '../shared/fixtures')
const folder = join(fixtures, 'evm', 'blocks')
const isThere = existsSync(folder)
if (!isThere) console.log(`no fixtures at ${folder}: set CHAINTAPE_FIXTURES to run the golden tests`)

test('every V2 log of the fixture blocks decodes as viem decodes it', { skip: !isThere }, () => {
  const logs = readdirSync(folder)
    .filter((file) => file.endsWith('.receipts.json'))
    .flatMap((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as RpcReceipt[])
    .flatMap((receipt) => receipt.logs)
  const counted = { swapped: 0, reservesSet: 0, poolCreated: 0 }
  const decoded = { swapped: 0, reservesSet: 0, poolCreated: 0 }
  for (const log of logs) {
    if (log.topics[0] === SWAP) counted.swapped += 1
    if (log.topics[0] === SYNC) counted.reservesSet += 1
    if (log.topics[0] === PAIR_CREATED) counted.poolCreated += 1

    const data = Buffer.from(log.data.slice(2), 'hex')
    const event = decodeUniswapV2({ index: 0, address: log.address, topics: log.topics, data })
    if (event === undefined) continue
    decoded[event.type] += 1
    assert.deepEqual(event, byViem(log), `log ${log.logIndex} of ${log.transactionHash}`)
  }
  assert.deepEqual(decoded, counted)
  assert.ok(counted.swapped > 100 && counted.reservesSet > 100, 'the fixtures hold V2 trades')
  console.log(`${counted.swapped} Swap and ${counted.reservesSet} Sync logs agree`)
})

function byViem(log: RpcLog): ReturnType<typeof decodeUniswapV2> {
  const { topics, data } = log
  const abi = [...uniswapV2Pair.abi, ...uniswapV2Factory.abi]
  const { eventName, args } = decodeEventLog({ abi, topics, data }) as { eventName?: string; args: unknown }
  switch (eventName) {
    case 'Swap': {
      const swap = args as Swap
      return {
        type: 'swapped',
        sender: swap.sender.toLowerCase(),
        recipient: swap.to.toLowerCase(),
        delta0: swap.amount0In - swap.amount0Out,
        delta1: swap.amount1In - swap.amount1Out,
      }
    }
    case 'Sync': {
      const { reserve0, reserve1 } = args as Sync
      return { type: 'reservesSet', reserve0, reserve1 }
    }
    case 'PairCreated': {
      const { token0, token1, pair } = args as PairCreated
      return {
        type: 'poolCreated',
        pool: pair.toLowerCase(),
        token0: token0.toLowerCase(),
        token1: token1.toLowerCase(),
      }
    }
    default:
      return undefined
  }
}
