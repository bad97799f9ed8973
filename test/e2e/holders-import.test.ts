import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { formatUnits, type Hex } from 'viem'
import { Market } from '../../dev/market/market.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { FaultyProxy } from '../support/rigs/faulty-proxy.ts'
import { Pipeline } from '../support/rigs/pipeline.ts'
import { waitFor } from '../support/rigs/wait-for.ts'

/** Balances of a token whose old logs the node no longer has, imported from a file. */

const HOLDERS = 30
const DEPTH = 2
/** Large enough to be seen in the rounded numbers of an answer. */
const UNIT = 10n ** 17n

let stack: Stack
let market: Market
let proxy: FaultyProxy
let pipeline: Pipeline
let token: Hex
let pair: Hex
/** The last block before the token's discovery. */
let older: number

const holder = (at: number): Hex => `0x${(0xb000 + at).toString(16).padStart(40, '0')}`

before(async () => {
  stack = await startStack({ anvil: ['--no-mining'] })
  market = await Market.deploy(stack.rpcUrl)
  token = await market.createToken({ name: 'Old', symbol: 'OLD', decimals: 18, supply: 10n ** 24n })
  for (let at = 0; at < HOLDERS; at++) await market.transfer(token, holder(at), BigInt(at + 1) * 10n ** 18n)
  await market.mine()
  await market.mine()
  older = (await market.head()).number
  proxy = await FaultyProxy.start(stack.rpcUrl, 0)
  proxy.fault = { kind: 'pruned', before: older + 1 }
  pipeline = new Pipeline(stack, 'import', {
    rpc_urls: [proxy.url],
    start_block: older + 1,
    finality_depth: DEPTH,
    dexes: [{ amm: 'uniswap_v2', protocol: 'uniswap_v2', factory: market.factory }],
    quote_assets: [{ address: market.weth, kind: 'native' }],
  })
  await market.addLiquidityNative(token, 10n ** 23n, 10n ** 18n)
  await market.mine()
  pair = await market.pairOf(token, market.weth)
  await market.transfer(token, holder(3), 7n * UNIT)
  await market.transfer(token, holder(HOLDERS), 5n * UNIT)
  await market.mine()
  await pipeline.start('reader', 'engine', 'writer', 'gateway')
})

after(async () => {
  await pipeline?.stop()
  await proxy?.close()
  await stack?.stop()
})

async function balancesAt(block: number): Promise<[Hex, bigint][]> {
  const all = [market.owner, pair, ...Array.from({ length: HOLDERS + 2 }, (_, at) => holder(at))]
  const found = await Promise.all(
    all.map(async (each): Promise<[Hex, bigint]> => [each, await market.balanceOf(token, each, block)]),
  )
  return found.filter(([, amountRaw]) => amountRaw > 0n)
}

async function importing(rows: readonly (readonly [Hex, bigint])[], block: number, of: string = token) {
  const file = join(pipeline.dir, 'balances.csv')
  writeFileSync(file, ['address,balance', ...rows.map((row) => row.join(','))].join('\n'))
  return pipeline.run('holders', 'import', 'local', of, file, '--block', String(block))
}

async function top() {
  const { headers, body } = await pipeline.get(`/v2/tokens/top100/${token.toLowerCase()}-local`)
  return {
    isComplete: headers.get('X-Holders-Complete') === 'true',
    reason: headers.get('X-Holders-Reason'),
    rows: body as { holder: string; amount_cur: number }[],
  }
}

/** The holders of the API become those of the token at its head. */
async function expectTrueHolders(): Promise<void> {
  const truth = new Map(
    (await balancesAt((await market.head()).number)).map(([each, amountRaw]) => [
      each.toLowerCase(),
      Number(formatUnits(amountRaw, 18)),
    ]),
  )
  await waitFor('the true holders', async () => {
    const { isComplete, rows } = await top()
    const known = new Map(rows.map((row) => [row.holder, row.amount_cur]))
    return isComplete && isDeepStrictEqual([...known].sort(), [...truth].sort()) ? true : undefined
  })
}

test('a token without old logs says so, refuses wrong balances, and has its holders once true ones are imported', async () => {
  const unavailable = await waitFor('the refusal to be reported', async () => {
    const found = await top()
    return found.reason === 'logs_unavailable' ? found : undefined
  })
  assert.equal(unavailable.isComplete, false)

  const block = (await market.head()).number
  await market.mineMany(DEPTH + 1)
  const rows = await balancesAt(block)
  const attempt = async (message: RegExp, ...args: Parameters<typeof importing>): Promise<void> => {
    const { code, output } = await importing(...args)
    assert.match(output, message)
    assert.equal(code, 1)
  }
  const [first, second, ...rest] = rows as [[Hex, bigint], [Hex, bigint], ...[Hex, bigint][]]
  await attempt(
    /holds \d+, not \d+/,
    [[first[0], first[1] - 1n], [second[0], second[1] + 1n], ...rest],
    block,
  )
  await attempt(/add up to \d+, the total supply is \d+/, rows.slice(0, -1), block)
  await attempt(/not final yet/, rows, (await market.head()).number)
  await attempt(/nothing to import/, rows, block, `0x${'9'.repeat(40)}`)
  await attempt(/listed twice/, [first, first], block)
  assert.equal((await top()).isComplete, false)

  const mining = setInterval(() => void market.mine(), 200)
  const { code, output } = await importing(rows, block)
  clearInterval(mining)
  assert.equal(code, 0, output)
  await expectTrueHolders()
})

test('imported balances are moved by transfers, and folded again to the same', async () => {
  await market.transfer(token, holder(HOLDERS + 1), 11n * UNIT)
  await market.transfer(token, holder(0), 13n * UNIT)
  await market.mine()
  await expectTrueHolders()
  await pipeline.role('engine').kill('SIGKILL')
  rmSync(join(pipeline.dir, 'data', 'engine'), { recursive: true, force: true })
  // It compares what it folds with what was published before.
  await pipeline.start('engine')
  await pipeline.killAndRestart('reader')
  await market.transfer(token, holder(1), 17n * UNIT)
  await market.mine()
  await expectTrueHolders()
  const again = await importing([[holder(1), 1n]], older)
  assert.match(again.output, /nothing to import/)
})
