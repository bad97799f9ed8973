import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Stack, startStack } from '../../../src/sandbox/servers/stack.ts'
import { Pipeline } from '../../support/rigs/pipeline.ts'

/** Requests to an admin port that are made to end the role behind it. */

const NOWHERE = 'http://127.0.0.1:1'
let stack: Stack
let pipeline: Pipeline

before(async () => {
  stack = await startStack({ services: ['nats'] })
  const urls = { rpcUrl: NOWHERE, redisUrl: 'redis://127.0.0.1:1', clickhouseUrl: NOWHERE }
  pipeline = new Pipeline({ natsUrls: stack.natsUrls, ...urls }, 'admin')
  pipeline.spawn('engine')
  await pipeline.role('engine').logged('Engine starting')
})

after(async () => {
  await pipeline?.stop()
  await stack?.stop()
})

test('the engine answers any path of /explain, and lives', async () => {
  const { admin_port } = await pipeline.role('engine').logged('Admin server listening')
  const statusOf = async (path: string): Promise<number> =>
    (await fetch(`http://127.0.0.1:${admin_port}${path}`)).status
  assert.equal(await statusOf('/explain/local/0x00'), 404)
  assert.equal(await statusOf(`/explain/local/${'a'.repeat(200)}`), 404)
  assert.equal(await statusOf(`/explain/local/${'a'.repeat(700)}`), 400)
  assert.equal(await statusOf(`/explain/local/${encodeURIComponent('\u{1f4a3}'.repeat(15))}`), 404)
  assert.equal(await statusOf(`/${'a/'.repeat(5_000)}`), 400)
  assert.equal(await statusOf('/explain/__proto__/constructor'), 404)
  assert.equal(await statusOf('/healthz'), 200)
  assert.equal(pipeline.role('engine').exitCode, null)
})
