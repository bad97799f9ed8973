import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { createServer, type Server } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import {
  freePorts,
  type RunningProcess,
  signalProcess,
  startProcess,
  waitUntilReady,
} from '../../../src/sandbox/servers/process.ts'
import { type Stack, startStack } from '../../../src/sandbox/servers/stack.ts'
import { migrate } from '../../../src/store/clickhouse/migrate.ts'
import { openHistoryReader } from '../../../src/store/clickhouse/read/history-reader.ts'
import { openHotStore } from '../../../src/store/redis/hot-store.ts'
import { makeCertificates } from '../../support/rigs/certificates.ts'
import { hasCode } from '../../support/rigs/log-reading.ts'
import { Pipeline } from '../../support/rigs/pipeline.ts'
import { createTestCommon } from '../../support/rigs/test-common.ts'

/** Redis and ClickHouse that ask for credentials and certificates. */

const dir = mkdtempSync(join(tmpdir(), 'chaintape-store-access-'))
const file = (name: string): string => join(dir, name)
const certificates = { ca_file: file('ca.pem'), cert_file: file('client.pem'), key_file: file('client.key') }
let stack: Stack
let redis: RunningProcess
let clickhouse: Server
let redisPort: number
let clickhousePort: number

before(async () => {
  makeCertificates(dir)
  const [ofRedis = 0, ofClickhouse = 0] = await freePorts(2)
  redisPort = ofRedis
  clickhousePort = ofClickhouse
  const starting = startStack({ services: ['nats', 'clickhouse'] })
  redis = startProcess({
    name: 'redis',
    command: 'redis-server',
    args: [
      ...['--port', '0', '--tls-port', `${redisPort}`, '--bind', '127.0.0.1', '--save', '', '--dir', dir],
      ...['--tls-cert-file', file('server.pem'), '--tls-key-file', file('server.key')],
      ...['--tls-ca-cert-file', file('ca.pem'), '--tls-auth-clients', 'yes', '--requirepass', 'right'],
    ],
    logFile: file('redis.log'),
    ports: [redisPort],
    isReady: async () => readFileSync(file('redis.log'), 'utf8').includes('Ready to accept connections'),
  })
  await waitUntilReady(redis)
  stack = await starting
  clickhouse = await startSecureClickhouse(stack.clickhouseUrl)
})

after(async () => {
  clickhouse?.closeAllConnections()
  clickhouse?.close()
  await Promise.all([redis && signalProcess(redis, 'SIGKILL'), stack?.stop()])
  rmSync(dir, { recursive: true, force: true })
})

/** The development server has neither TLS nor users: this proxy has both, and refuses as ClickHouse does. */
async function startSecureClickhouse(target: string): Promise<Server> {
  const [ca, cert, key] = ['ca.pem', 'server.pem', 'server.key'].map((name) => readFileSync(file(name)))
  const server = createServer({ ca, cert, key, requestCert: true, rejectUnauthorized: true })
  server.on('request', (incoming, outgoing) => {
    const [user, password] = Buffer.from(`${incoming.headers.authorization}`.replace('Basic ', ''), 'base64')
      .toString()
      .split(':')
    const isByCertificate = incoming.headers['x-clickhouse-ssl-certificate-auth'] === 'on'
    if (password !== 'right' && !isByCertificate) {
      incoming.resume()
      outgoing.writeHead(403, { 'X-ClickHouse-Exception-Code': '516' })
      outgoing.end(
        `Code: 516. DB::Exception: ${user}: Authentication failed: password is incorrect, or there is no user with such name. (AUTHENTICATION_FAILED) (version 26.1.1.1 (official build))\n`,
      )
      return
    }
    const { method, url = '/', headers } = incoming
    const forwarded = request(new URL(url, target), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(outgoing)
    })
    incoming.pipe(forwarded)
  })
  await new Promise<void>((resolve) => server.listen(clickhousePort, '127.0.0.1', resolve))
  return server
}

const redisAt = (password: string) => ({
  url: `rediss://:${password}@127.0.0.1:${redisPort}`,
  prefix: 'access',
})

function clickhouseAs(password: string) {
  const access = { username: 'chaintape', password, database: 'access', retention_days: {} }
  return { url: `https://127.0.0.1:${clickhousePort}`, ...access }
}

test('Redis with a password and certificates on both sides', async () => {
  const store = await openHotStore({ ...redisAt('right'), ...certificates }, createTestCommon())
  assert.equal(await store.head('eth'), undefined)
  await store.close()
})

test('a Redis certificate of an unknown authority is not accepted', async () => {
  await assert.rejects(openHotStore(redisAt('right'), createTestCommon()), hasCode('store_unavailable'))
})

test('a password that Redis refuses is not tried again', async () => {
  for (const url of [redisAt('canary-of-redis').url, `rediss://127.0.0.1:${redisPort}`]) {
    await assert.rejects(
      openHotStore({ url, prefix: 'access', ...certificates }, createTestCommon()),
      (error) => {
        assert.ok(hasCode('server_unauthorized')(error))
        assert.match(String(error), /^ChaintapeError: Redis at 127\.0\.0\.1:\d+ refused/)
        assert.doesNotMatch(String(error), /canary/)
        return true
      },
    )
  }
})

test('ClickHouse with a password and certificates on both sides', async () => {
  await migrate({ ...clickhouseAs('right'), ...certificates }, createTestCommon())
  const reader = openHistoryReader({ ...clickhouseAs('right'), ...certificates })
  assert.equal(await reader.marker('eth'), undefined)
  await reader.close()
  const withoutPassword = openHistoryReader({ ...clickhouseAs(''), ...certificates })
  assert.equal(await withoutPassword.marker('eth'), undefined)
  await withoutPassword.close()
})

test('a ClickHouse certificate of an unknown authority is not accepted', async () => {
  const reader = openHistoryReader(clickhouseAs('right'))
  await assert.rejects(reader.marker('eth'), hasCode('store_unavailable'))
  await reader.close()
})

test('a writer and a gateway whose password is refused end, and name the server', async () => {
  const servers = {
    natsUrls: stack.natsUrls,
    redisUrl: redisAt('right').url,
    clickhouseUrl: clickhouseAs('right').url,
    rpcUrl: 'http://127.0.0.1:1',
  }
  const clickhouseRefuses = new Pipeline(
    servers,
    'access',
    {},
    {
      clickhouse: { ...clickhouseAs('canary-of-clickhouse'), ...certificates },
      redis: { ...redisAt('right'), ...certificates },
    },
  )
  const redisRefuses = new Pipeline(
    servers,
    'access',
    {},
    {
      clickhouse: { ...clickhouseAs('right'), ...certificates },
      redis: { ...redisAt('canary-of-redis'), ...certificates },
    },
  )
  try {
    for (const [pipeline, server] of [
      [clickhouseRefuses, 'ClickHouse'],
      [redisRefuses, 'Redis'],
    ] as const) {
      const runs = await Promise.all([pipeline.run('writer'), pipeline.run('gateway')])
      for (const { code, output } of runs) {
        assert.equal(code, 1, output)
        assert.match(output, new RegExp(`server_unauthorized.*${server}|${server}.*server_unauthorized`))
        assert.doesNotMatch(output, /canary/)
      }
    }
  } finally {
    await Promise.all([clickhouseRefuses.stop('SIGKILL'), redisRefuses.stop('SIGKILL')])
  }
})
