import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex } from 'viem'
import { type Artifact, compile } from '../../dev/market/artifacts.ts'
import { Market } from '../../dev/market/market.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { Pipeline } from '../support/rigs/pipeline.ts'
import { waitFor } from '../support/rigs/wait-for.ts'

/**
 * How long a token's holders take that a client asks for, with thousands of other histories open:
 *
 *   TEST_HISTORIES=1000 npm run test:e2e -- holders-order
 *
 * With fewer than 5,000, the time that 5,000 would take follows from the measured rate.
 */
const HISTORIES = Number(process.env['TEST_HISTORIES'] ?? 5_000)
const FULL = 5_000
const SHARE = 50
const PER_TRANSACTION = 50
const BLOCK_MS = 500
const ASKED = 5
const QUEUE_MS = 500_000

/** What the first answers about tokens said. */
const reasons: (string | null)[] = []
let stack: Stack
let market: Market
let swarm: Hex
let pipeline: Pipeline
const artifact: Artifact = compile('TokenSwarm', new URL('TokenSwarm.sol', import.meta.url))

before(async () => {
  const anvil = ['--no-mining', '--gas-limit', '2000000000', '--hardfork', 'cancun']
  stack = await startStack({ anvil })
  market = await Market.deploy(stack.rpcUrl)
  swarm = await market.deploy(artifact, [])
  await inPortions(4, (from, to) => call('createTokens', [BigInt(to - from)]))
  const start = (await market.head()).number + 1
  // In few blocks, because each takes some histories along.
  await inPortions(10, (from, to) =>
    call('createPools', [market.factory, market.weth, BigInt(from), BigInt(to)]),
  )
  pipeline = new Pipeline(stack, 'order', {
    start_block: start,
    finality_depth: 20,
    dexes: [{ amm: 'uniswap_v2', protocol: 'uniswap_v2', factory: market.factory }],
    quote_assets: [{ address: market.weth, kind: 'native' }],
  })
  await pipeline.start('reader', 'engine', 'writer', 'gateway')
})

after(async () => {
  await pipeline?.stop()
  await stack?.stop()
})

function call(name: string, args: readonly unknown[]): Promise<Hex> {
  return market.send({ to: swarm, abi: artifact.abi, name, args, gas: 400_000_000n })
}

/** All tokens, a portion per transaction, `perBlock` transactions in a block. */
async function inPortions(perBlock: number, send: (from: number, to: number) => Promise<Hex>): Promise<void> {
  let waiting = 0
  for (let from = 0; from < HISTORIES; from += PER_TRANSACTION) {
    await send(from, Math.min(HISTORIES, from + PER_TRANSACTION))
    if (++waiting % perBlock === 0) await market.mine()
  }
  await market.mine()
}

async function tokenAt(at: number): Promise<string> {
  const token = await market.read({ to: swarm, abi: artifact.abi, name: 'tokens', args: [BigInt(at)] })
  return (token as string).toLowerCase()
}

async function openHistories(): Promise<number> {
  const { admin_port } = await pipeline.role('reader').logged('Admin server listening')
  const text = await (await fetch(`http://127.0.0.1:${admin_port}/metrics`)).text()
  return Number(/^chaintape_reader_open_histories\{[^}]*\} (\d+)$/m.exec(text)?.[1])
}

/** Undefined while unknown. */
async function holdersOf(token: string): Promise<number | undefined> {
  const { body } = await pipeline.get(`/v2/tokens/${token}-local`)
  const { holders, unknown } = (body as { data: { token: { holders: number; unknown: string[] } } }).data
    .token
  return unknown.includes('holders') ? undefined : holders
}

/** Seconds from a client's first look at the holders until their number is known. */
async function timeOf(token: string): Promise<number> {
  const asked = performance.now()
  const { headers } = await pipeline.get(`/v2/tokens/top100/${token}-local`)
  reasons.push(headers.get('X-Holders-Reason'))
  const holders = await waitFor(`holders of ${token}`, () => holdersOf(token), QUEUE_MS)
  assert.equal(holders, 2)
  return (performance.now() - asked) / 1_000
}

test('a token that is asked for is complete within a fiftieth of the time of the whole queue', async (t) => {
  const last = await tokenAt(HISTORIES - 1)
  await waitFor(
    'all tokens to be known',
    async () => ((await pipeline.get(`/v2/tokens/${last}-local`)).status === 200 ? true : undefined),
    QUEUE_MS,
  )
  const opened = await waitFor('the queue', async () => (await openHistories()) || undefined, QUEUE_MS)
  assert.ok(opened > HISTORIES * 0.8, `only ${opened} histories are open`)

  const isOver = new AbortController()
  const began = performance.now()
  const mining = (async () => {
    while (!isOver.signal.aborted) {
      await market.mine()
      await sleep(BLOCK_MS)
    }
  })()
  const times: number[] = []
  for (let at = 0; times.length < ASKED && at < HISTORIES; at++) {
    const token = await tokenAt((at * 7) % HISTORIES)
    // Some were read while the last ones were discovered.
    if ((await holdersOf(token)) === undefined) times.push(await timeOf(token))
  }
  assert.equal(times.length, ASKED)
  // A reader under load may answer too late.
  assert.ok(reasons.includes('history_open'), reasons.join())
  await waitFor(
    'the end of the queue',
    async () => ((await openHistories()) === 0 ? true : undefined),
    QUEUE_MS,
  )
  const queueSeconds = (performance.now() - began) / 1_000
  isOver.abort()
  await mining

  const median = times.toSorted((a, b) => a - b)[Math.floor(ASKED / 2)] as number
  const fullSeconds = (queueSeconds / opened) * Math.max(FULL, opened)
  const shown = times.map((time) => time.toFixed(2)).join(', ')
  t.diagnostic(`${opened} histories: ${queueSeconds.toFixed(1)} s; 5,000: ${fullSeconds.toFixed(1)} s`)
  t.diagnostic(`asked for: ${shown} s; median is 1/${Math.floor(fullSeconds / median)} of the queue`)
  assert.ok(median <= fullSeconds / SHARE, `${median} s of ${fullSeconds} s`)

  const rows = await waitFor('the holders of the last one to be written', async () => {
    const { headers, body } = await pipeline.get(`/v2/tokens/top100/${last}-local`)
    return headers.get('X-Holders-Complete') === 'true' ? body : undefined
  })
  assert.deepEqual(
    (rows as { amount_cur: number }[]).map(({ amount_cur }) => amount_cur),
    [600e-18, 400e-18],
  )
})
