import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { BlockEnvelope } from '../../../src/domain/envelope.ts'
import { type Stack, startStack } from '../../../src/sandbox/servers/stack.ts'
import { encodeEnvelope } from '../../../src/wire/envelope-codec.ts'
import {
  DEPLOYMENTS,
  EVIL,
  EVIL_USDC,
  floodBlock,
  QUOTE_ASSETS,
} from '../../support/builders/extreme-market.ts'
import { withLogs } from '../../support/builders/test-key.ts'
import { readWorld } from '../../support/reference/stored-rows.ts'
import { Pipeline } from '../../support/rigs/pipeline.ts'
import { waitFor } from '../../support/rigs/wait-for.ts'

const NAME = 'bounds'
const DAY_SECONDS = 86_400

let stack: Stack
let pipeline: Pipeline

before(async () => {
  stack = await startStack({ services: ['nats', 'redis', 'clickhouse'] })
  const { natsUrls, redisUrl, clickhouseUrl } = stack
  pipeline = new Pipeline({ natsUrls, redisUrl, clickhouseUrl, rpcUrl: 'http://127.0.0.1:1' }, NAME, {
    quote_assets: QUOTE_ASSETS,
    dexes: DEPLOYMENTS,
  })
})

after(async () => {
  await pipeline?.stop()
  await stack?.stop()
})

async function publish(...blocks: BlockEnvelope[]): Promise<void> {
  await withLogs({ urls: stack.natsUrls, prefix: NAME }, async (logs) => {
    const publisher = await (await logs.open('BLOCKS', 'local')).openPublisher()
    for (const block of blocks) await publisher.publish(encodeEnvelope(block))
  })
}

type Answer = Record<string, unknown>

async function pairAt(block: BlockEnvelope): Promise<Answer> {
  return waitFor(`block ${block.number} to be served`, async () => {
    const { status, headers, body } = await pipeline.get(`/v2/pairs/${EVIL_USDC}-local`)
    return status === 200 && headers.get('x-block') === String(block.number) ? (body as Answer) : undefined
  })
}

test('130 swaps of 2^249 units: their sum is unknown until they leave the window, all else is served', async () => {
  const flood = floodBlock(130)
  await publish(flood)
  await pipeline.start('engine', 'writer', 'gateway')
  const pair = await pairAt(flood)
  assert.deepEqual([pair['buys_tx_24h_count'], pair['volume_u_24h']], [130, '0.00208'])
  const token = await pipeline.post('/v2/tokens/search', { token_ids: [`${EVIL}-local`] })
  const row = (token.body as Record<string, Answer>)[`${EVIL}-local`]
  assert.ok(row !== undefined)
  assert.deepEqual(['tx_amount_24h' in row, 'total' in row], [false, true])
  assert.ok((row['unknown'] as string[]).includes('tx_amount_24h'))
  const klines = await pipeline.get(`/v2/klines/pair/${EVIL_USDC}-local?interval=k1`)
  assert.equal(klines.status, 200)
  assert.equal((await storedAmounts(flood))?.amountRaw, undefined)

  const later = floodBlock(2, flood, DAY_SECONDS)
  await publish(later)
  assert.equal((await pairAt(later))['buys_tx_24h_count'], 2)
  assert.equal((await storedAmounts(later))?.amountRaw, 2n ** 250n)
  for (const role of ['engine', 'writer', 'gateway'] as const)
    assert.equal(pipeline.role(role).exitCode, null)
})

async function storedAmounts(block: BlockEnvelope) {
  return waitFor(`block ${block.number} to be written`, async () => {
    const { windows, trades } = await readWorld(stack.clickhouseUrl, NAME, 'local')
    const isWritten = [...trades.values()].some(({ record }) => record.key.block === block.number)
    return isWritten ? windows.get(`pair/${EVIL_USDC}`)?.record : undefined
  })
}
