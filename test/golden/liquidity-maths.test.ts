import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { decodeEventLog, type Hex, parseAbi } from 'viem'
import { amountsOfLiquidity } from '../../src/dex/evm/concentrated-liquidity.ts'

const ABI = parseAbi([
  'event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick)',
  'event Mint(address sender, address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1)',
  'event Burn(address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1)',
  'event Collect(address indexed owner, address recipient, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount0, uint128 amount1)',
  'event Flash(address indexed sender, address indexed recipient, uint256 amount0, uint256 amount1, uint256 paid0, uint256 paid1)',
])
const FILES = [
  'uniswapv3-0x88e6a0c2-USDC-WETH-005-2024-01-05.raw.csv.gz',
  'uniswapv3-0x8ad599c3-USDC-WETH-03-2024-01-05.raw.csv.gz',
]

const repo = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
const fixtures = process.env['CHAINTAPE_FIXTURES'] ?? resolve(repo, '../shared/fixtures')
const folder = join(fixtures, 'evm', 'logs')
const isThere = existsSync(folder)
if (!isThere) console.log(`no fixtures at ${folder}: set CHAINTAPE_FIXTURES to run the golden tests`)

for (const file of FILES) {
  test(`${file}: liquidity is worth what the pool says it took or gave`, { skip: !isThere }, () => {
    let price: { sqrtPriceX96: bigint; tick: number } | undefined
    const counted = { added: 0, removed: 0, below: 0, around: 0, above: 0 }
    for (const log of logsOf(join(folder, file))) {
      const { eventName, args } = decodeEventLog({ abi: ABI, ...log })
      if (eventName === 'Swap') price = args
      if ((eventName !== 'Mint' && eventName !== 'Burn') || price === undefined) continue
      const { tickLower, tickUpper, amount, amount0, amount1 } = args
      if (amount === 0n) continue
      const sign = eventName === 'Mint' ? 1n : -1n
      const { sqrtPriceX96, tick } = price
      assert.deepEqual(
        amountsOfLiquidity(sign * amount, sqrtPriceX96, tick, tickLower, tickUpper),
        { amount0: sign * amount0, amount1: sign * amount1 },
        log.place,
      )
      counted[eventName === 'Mint' ? 'added' : 'removed'] += 1
      counted[tick < tickLower ? 'above' : tick < tickUpper ? 'around' : 'below'] += 1
    }
    for (const [kind, count] of Object.entries(counted)) assert.ok(count > 0, `none ${kind}`)
    console.log(`${counted.added} Mint and ${counted.removed} Burn logs agree`)
  })
}

/** In the order of the chain. */
function logsOf(path: string): { topics: [Hex, ...Hex[]]; data: Hex; place: string }[] {
  const [, ...lines] = gunzipSync(readFileSync(path)).toString().trim().split('\n')
  return lines
    .map((line) => {
      const [, block, index, topics, data] =
        /^(\d+),[^,]+,0x[0-9a-f]{64},\d+,(\d+),"\[(.*)\]",(0x[0-9a-f]*)\r?$/.exec(line) ?? []
      assert.ok(topics !== undefined && data !== undefined, line)
      return {
        block: Number(block),
        index: Number(index),
        topics: [...topics.matchAll(/0x[0-9a-f]{64}/g)].map(String) as [Hex, ...Hex[]],
        data: data as Hex,
        place: `log ${index} of block ${block}`,
      }
    })
    .sort((a, b) => a.block - b.block || a.index - b.index)
}
