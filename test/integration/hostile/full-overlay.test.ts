import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Redis } from 'ioredis'
import { type Stack, startStack } from '../../../src/sandbox/servers/stack.ts'
import { PAIR, TwoChains } from '../../support/builders/two-chains.ts'
import { waitFor } from '../../support/rigs/wait-for.ts'

const WAIT_MS = 120_000
/** Limit for both chains together; the smallest allowed. */
const OVERLAY_BYTES = 1_048_576
/** Their change sets are several times as large as that. */
const MANY_BLOCKS = 600

let stack: Stack
let chains: TwoChains

before(async () => {
  stack = await startStack({ services: ['nats', 'redis', 'clickhouse'] })
  chains = new TwoChains(stack, 'fulloverlay', { gateway: { port: 0, overlay_bytes: OVERLAY_BYTES } })
  await Promise.all([chains.mine('good', 3), chains.mine('bad', 3)])
  await chains.pipeline.start('engine', 'writer', 'gateway')
})

after(async () => {
  await chains?.stop()
  await stack?.stop()
})

async function overlayBytes(): Promise<number> {
  const { text } = await chains.admin('gateway', '/metrics')
  const values = [...text.matchAll(/^chaintape_gateway_overlay_bytes{.*} (\S+)$/gm)]
  assert.equal(values.length, 2)
  return values.reduce((sum, [, value]) => sum + Number(value), 0)
}

/** Until the gateway has read the chain up to this block; meanwhile every answer is true or a 503, and memory is bounded. */
async function followed(chain: string, block: number): Promise<void> {
  const isThere = async (): Promise<true | undefined> => {
    assert.ok((await overlayBytes()) <= OVERLAY_BYTES)
    const { status, headers, body } = await chains.pipeline.get(`/v2/pairs/${PAIR}-${chain}`)
    if (status !== 200) {
      assert.equal((body as { code: string }).code, 'chain_unavailable')
      assert.equal(status, 503)
      assert.equal(headers.get('retry-after'), '1')
    }
    const { body: overview } = await chains.pipeline.get('/v2/status')
    const known = (overview as { chains: { chain: string; block?: number }[] }).chains
    return known.find((each) => each.chain === chain)?.block === block ? true : undefined
  }
  await waitFor(`block ${block} of ${chain} to be read`, isThere, WAIT_MS)
}

async function assertUnavailable(chain: string): Promise<void> {
  const { status, body } = await chains.pipeline.get(`/v2/pairs/${PAIR}-${chain}`)
  assert.deepEqual([status, (body as { code: string }).code], [503, 'chain_unavailable'])
}

let tip = 0

test('without a writer the overlay stays within its bytes, and the chain becomes unavailable', async () => {
  await chains.pipeline.role('writer').kill('SIGTERM')
  tip = await chains.mine('good', MANY_BLOCKS)
  await followed('good', tip)
  await assertUnavailable('good')
  assert.match((await chains.readiness('gateway')).text, /unavailable until the writer has caught up: good/)
  await chains.served('bad', await chains.mine('bad', 1))
})

test('a gateway that starts with an empty Redis takes in no more than that either', async () => {
  await chains.pipeline.role('gateway').kill('SIGTERM')
  const redis = new Redis(stack.redisUrl)
  await redis.flushall()
  await redis.quit()
  chains.pipeline.spawn('gateway')
  await chains.pipeline.gatewayUrl()
  await followed('good', tip)
  await assertUnavailable('good')
  // All that CHANGES holds of this one fits.
  await chains.served('bad', await chains.mine('bad', 1))
  tip = await chains.mine('good', 5)
  await followed('good', tip)
  await assertUnavailable('good')
})

test('it recovers by itself once the writer has caught up', async () => {
  chains.pipeline.spawn('writer')
  await chains.served('good', tip)
  await chains.reported('gateway', /^ready/)
  await chains.served('good', await chains.mine('good', 1))
})
