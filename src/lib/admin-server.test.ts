import assert from 'node:assert/strict'
import { request } from 'node:http'
import { after, before, test } from 'node:test'
import { createTestCommon } from '../../test/support/rigs/test-common.ts'
import { type AdminServer, startAdminServer } from './admin-server.ts'

const common = createTestCommon()
const asked: string[] = []
let reason: string | undefined
let server: AdminServer

before(async () => {
  server = await startAdminServer({
    host: '127.0.0.1',
    port: 0,
    metrics: common.metrics,
    readiness: () => reason,
    details: () => [],
    answer: (path) => {
      asked.push(path)
      if (path.startsWith('/throws')) throw new RangeError('no such thing')
      return path === '/known' ? { is: 'known' } : undefined
    },
    logger: common.logger,
  })
})

after(() => server.close())

/** `fetch` would normalize some paths. */
function statusOf(path: string, method = 'GET'): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request({ port: server.port, host: '127.0.0.1', path, method }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode))
    })
      .on('error', reject)
      .end()
  })
}

test("health, readiness, metrics and the role's own paths", async () => {
  for (const path of ['/healthz', '/readyz', '/metrics', '/known'])
    assert.equal(await statusOf(path), 200, path)
})

test('the gauge of readiness follows /readyz', async () => {
  for (const [why, status, value] of [
    [undefined, 200, 1],
    ['starting', 503, 0],
    [undefined, 200, 1],
  ] as const) {
    reason = why
    assert.equal(await statusOf('/readyz'), status)
    assert.match(await common.metrics.metrics(), new RegExp(`^chaintape_ready ${value}$`, 'm'))
  }
})

test('an unknown path is not found, and a long one is refused unread', async () => {
  assert.equal(await statusOf('/explain/%zz/%ff%00'), 404)
  asked.length = 0
  assert.equal(await statusOf(`/explain/local/${'a'.repeat(700)}`), 400)
  assert.deepEqual(asked, [])
})

test('a handler that throws answers 500, is logged, and the server keeps running', async () => {
  assert.equal(await statusOf('/throws/1'), 500)
  const line = common.lines.find(({ msg }) => msg === 'Admin request failed')
  assert.equal(line?.['path'], '/throws/1')
  assert.equal(await statusOf('/known'), 200)
})

test('any method and any bytes get a response', async () => {
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAD'])
    assert.equal(await statusOf('/healthz', method), 200)
  for (const path of [
    '//',
    '/..',
    '/?',
    '/__proto__',
    '/explain//',
    '/explain/local/0x',
    `/${'%00'.repeat(60)}`,
  ])
    assert.equal(await statusOf(path), 404, path)
})
