import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { decodeEventLog, type Hex, parseAbi } from 'viem'
import type { PoolEvent, TokenAmount } from '../../src/dex/events.ts'
import { uniswapV3 } from '../../src/dex/evm/uniswap-v3/protocol.ts'
import type { RawLog } from '../../src/domain/envelope.ts'
import { rawLog } from '../support/builders/raw-log.ts'

type Row = { readonly minute: string; readonly log: RawLog; readonly transaction: string }
type Minute = {
  netAmount0: bigint
  netAmount1: bigint
  inAmount0: bigint
  inAmount1: bigint
  openTick: number
  closeTick: number
  lowestTick: number
  highestTick: number
}
type Amounts = { readonly amount0: bigint; readonly amount1: bigint }

// Written out once more, so that a slip in the decoder's own constants shows.
const abi = parseAbi([
  'event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick)',
  'event Mint(address sender, address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1)',
  'event Burn(address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1)',
  'event Collect(address indexed owner, address recipient, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount0, uint128 amount1)',
])
/** Events of the position manager: the pools emit the same in their own events. */
const positionEvents: Readonly<Record<string, string>> = {
  '0x3067048beee31b25b2f1681f88dac838c8bba36af25bfb2b7cf7473a5847e35f': 'IncreaseLiquidity',
  '0x26f6a048ee9138f2c0ce266f322cb99228e8d619ae2bff30c67f8dcf9d2377b4': 'DecreaseLiquidity',
  '0x40d0efd1a53d60ecbf40971b9daf7dc90178c3aadc7aab1765632738fa8b8f01': 'Collect',
}

const repo = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
const fixtures = process.env['CHAINTAPE_FIXTURES'] ?? resolve(repo, '../shared/fixtures')
const folder = join(fixtures, 'evm', 'logs')
const isThere = existsSync(folder)
if (!isThere) console.log(`no fixtures at ${folder}: set CHAINTAPE_FIXTURES to run the golden tests`)

const POOL = '0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640'
const pools: Readonly<Record<string, string>> = {
  [POOL]: 'uniswapv3-0x88e6a0c2-USDC-WETH-005-2024-01-05.raw',
  '0x8ad599c3a0ff1de082011efddc58f1908eb6e6d8': 'uniswapv3-0x8ad599c3-USDC-WETH-03-2024-01-05.raw',
  // Its whole address is not recorded: any will do.
  '0x82c427ad00000000000000000000000000000000': 'uniswapv3-0x82c427ad-2024-01-05.raw',
}

test('a day of a pool has the minutes that others found in it', { skip: !isThere }, () => {
  const minutes = new Map<string, Minute>()
  let swaps = 0
  for (const { minute, log } of rowsOf(POOL)) {
    const event = decode(log)
    if (event?.type !== 'swapped') continue
    assert.ok(event.price?.kind === 'sqrt')
    addTo(minutes, minute, event.delta0, event.delta1, event.price.tick)
    swaps += 1
  }
  assert.equal(swaps, 6_046)

  const [header = '', ...expected] = linesOf('uniswapv3-0x88e6a0c2-2024-01-05.expected-minute')
  const columns = header.split(',')
  let lastTick: number | undefined
  let still = 0
  for (const line of expected) {
    const cells = line.split(',')
    const cell = (name: string): string => cells[columns.indexOf(name)] ?? ''
    const minute = cell('timestamp').slice(0, 16)
    const of: Minute = {
      netAmount0: BigInt(cell('netAmount0')),
      netAmount1: BigInt(cell('netAmount1')),
      inAmount0: BigInt(cell('inAmount0')),
      inAmount1: BigInt(cell('inAmount1')),
      openTick: Number(cell('openTick')),
      closeTick: Number(cell('closeTick')),
      lowestTick: Number(cell('lowestTick')),
      highestTick: Number(cell('highestTick')),
    }
    if (!minutes.has(minute)) still += 1
    assert.deepEqual(minutes.get(minute) ?? withoutTrade(lastTick), of, minute)
    lastTick = of.closeTick
    minutes.delete(minute)
  }
  assert.equal(expected.length, 1_440)
  assert.deepEqual([...minutes.keys()], [], 'every minute with a trade is among the expected')
  console.log(
    `${swaps} swaps make the ${expected.length} minutes that were expected, ${still} of them without a trade`,
  )
})

test('every log of the pools decodes as viem decodes it', { skip: !isThere }, () => {
  const counts: Record<string, number> = {}
  for (const pool of Object.keys(pools)) {
    for (const { log, transaction } of rowsOf(pool)) {
      const event = decode(log)
      const name = event?.type ?? 'poke'
      counts[name] = (counts[name] ?? 0) + 1
      assert.deepEqual(event, byViem(log), transaction)
    }
  }
  assert.deepEqual(counts, {
    swapped: 6_354,
    liquidityAdded: 59,
    liquidityRemoved: 67,
    poke: 20,
    feesCollected: 82,
  })
})

test('no log of the position manager is taken for one of a pool', { skip: !isThere }, () => {
  const counts: Record<string, number> = {}
  for (const { log } of rows(
    'uniswapv3-NFPM-lp-2024-01-05.raw',
    '0xc36442b4a4522e871399cd717abdd847ab11fe88',
  )) {
    assert.equal(decode(log), undefined)
    const name = positionEvents[log.topics[0] ?? ''] ?? 'unknown'
    counts[name] = (counts[name] ?? 0) + 1
  }
  assert.deepEqual(counts, { IncreaseLiquidity: 1_350, DecreaseLiquidity: 1_082, Collect: 1_421 })
})

function decode(log: RawLog): PoolEvent | undefined {
  return uniswapV3.events[log.topics[0] ?? '']?.(log)
}

function byViem(log: RawLog): PoolEvent | undefined {
  const pool = log.address
  const { eventName, args } = decodeEventLog({
    abi,
    topics: log.topics as [Hex, ...Hex[]],
    data: `0x${Buffer.from(log.data).toString('hex')}`,
  })
  switch (eventName) {
    case 'Swap':
      return {
        type: 'swapped',
        pool,
        sender: args.sender.toLowerCase(),
        recipient: args.recipient.toLowerCase(),
        token0: 0,
        token1: 1,
        delta0: args.amount0,
        delta1: args.amount1,
        price: { kind: 'sqrt', sqrtPriceX96: args.sqrtPriceX96, tick: args.tick },
      }
    case 'Mint':
      return { type: 'liquidityAdded', pool, provider: args.owner.toLowerCase(), amounts: amounts(args) }
    case 'Burn': {
      const isPoke = args.amount0 === 0n && args.amount1 === 0n
      const provider = args.owner.toLowerCase()
      if (isPoke) return undefined
      return { type: 'liquidityRemoved', pool, provider, amounts: amounts(args), isPaidOut: false }
    }
    case 'Collect':
      return { type: 'feesCollected', pool, provider: args.owner.toLowerCase(), amounts: amounts(args) }
  }
}

function amounts({ amount0, amount1 }: Amounts): TokenAmount[] {
  return [
    { token: 0, amount: amount0 },
    { token: 1, amount: amount1 },
  ]
}

function addTo(
  minutes: Map<string, Minute>,
  minute: string,
  delta0: bigint,
  delta1: bigint,
  tick: number,
): void {
  // A minute opens with the price after its first trade, not with the one it found.
  const of = minutes.get(minute) ?? withoutTrade(tick)
  of.netAmount0 += delta0
  of.netAmount1 += delta1
  if (delta0 > 0n) of.inAmount0 += delta0
  if (delta1 > 0n) of.inAmount1 += delta1
  of.closeTick = tick
  of.lowestTick = Math.min(of.lowestTick, tick)
  of.highestTick = Math.max(of.highestTick, tick)
  minutes.set(minute, of)
}

function withoutTrade(tick: number | undefined): Minute {
  assert.ok(tick !== undefined, 'the day begins with a trade')
  const [netAmount0, netAmount1, inAmount0, inAmount1] = [0n, 0n, 0n, 0n]
  const ticks = { openTick: tick, closeTick: tick, lowestTick: tick, highestTick: tick }
  return { netAmount0, netAmount1, inAmount0, inAmount1, ...ticks }
}

function rowsOf(pool: string): Row[] {
  return rows(pools[pool] ?? '', pool)
}

function rows(name: string, address: string): Row[] {
  const [header, ...lines] = linesOf(name)
  assert.equal(
    header,
    'block_number,block_timestamp,transaction_hash,transaction_index,log_index,topics,data',
  )
  return lines.map((line) => {
    const [, time, transaction, topics, data] =
      /^\d+,([^,]+),(0x[0-9a-f]+),\d+,\d+,"?\[(.*)\]"?,(0x[0-9a-f]*)$/.exec(line) ?? []
    assert.ok(time !== undefined && transaction !== undefined, line)
    assert.ok(topics !== undefined && data !== undefined, line)
    const log = rawLog(address, topics.match(/0x[0-9a-f]+/g) ?? [], data)
    return { minute: time.slice(0, 16), transaction, log }
  })
}

function linesOf(name: string): string[] {
  const text = gunzipSync(readFileSync(join(folder, `${name}.csv.gz`))).toString('utf8')
  return text.split(/\r?\n/).filter((line) => line !== '')
}
