import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { connectLogs } from '../../../src/log/connect.ts'
import {
  freePorts,
  type RunningProcess,
  signalProcess,
  startProcess,
  waitUntilReady,
} from '../../../src/sandbox/servers/process.ts'
import { makeCertificates } from '../../support/rigs/certificates.ts'
import { hasCode } from '../../support/rigs/log-reading.ts'
import { Pipeline } from '../../support/rigs/pipeline.ts'
import { createTestCommon } from '../../support/rigs/test-common.ts'

/** Servers that ask for credentials and certificates. */

const dir = mkdtempSync(join(tmpdir(), 'chaintape-access-'))
const file = (name: string): string => join(dir, name)
let nats: RunningProcess
let redis: RunningProcess
let natsUrl: string
let redisPort: number

before(async () => {
  makeCertificates(dir)
  const [port = 0, monitor = 0, ofRedis = 0] = await freePorts(3)
  natsUrl = `tls://127.0.0.1:${port}`
  redisPort = ofRedis
  writeFileSync(
    file('nats.conf'),
    `listen: 127.0.0.1:${port}
http: 127.0.0.1:${monitor}
jetstream { store_dir: ${JSON.stringify(file('store'))} }
authorization { users: [{ user: chaintape, password: "right password" }] }
tls { cert_file: ${JSON.stringify(file('server.pem'))}, key_file: ${JSON.stringify(file('server.key'))}, ca_file: ${JSON.stringify(file('ca.pem'))}, verify: true }
`,
  )
  nats = startProcess({
    name: 'nats',
    command: 'nats-server',
    args: ['--config', file('nats.conf')],
    logFile: file('nats.log'),
    ports: [port, monitor],
    isReady: async () => (await fetch(`http://127.0.0.1:${monitor}/healthz`)).ok,
  })
  redis = startProcess({
    name: 'redis',
    command: 'redis-server',
    args: [
      '--port',
      String(redisPort),
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--requirepass',
      'right password',
      '--dir',
      dir,
    ],
    logFile: file('redis.log'),
    ports: [redisPort],
    isReady: async () => readFileSync(file('redis.log'), 'utf8').includes('Ready to accept connections'),
  })
  await Promise.all([waitUntilReady(nats), waitUntilReady(redis)])
})

after(async () => {
  await Promise.all([nats, redis].map((each) => each && signalProcess(each, 'SIGKILL')))
  rmSync(dir, { recursive: true, force: true })
})

function natsSettings(password: string) {
  const certificates = {
    ca_file: file('ca.pem'),
    cert_file: file('client.pem'),
    key_file: file('client.key'),
  }
  return { urls: [natsUrl], username: 'chaintape', password, prefix: 'access', ...certificates }
}

test('NATS with a user, a password and certificates on both sides', async () => {
  const limits = { replicas: 1, max_frame_bytes: 900_000 }
  const logs = await connectLogs({ ...natsSettings('right password'), ...limits }, createTestCommon())
  try {
    const log = await logs.open('BLOCKS', 'eth')
    await (await log.openPublisher()).publish(Buffer.from('one'))
    assert.equal(await log.lastSequence(), 1)
  } finally {
    await logs.close()
  }
  await assert.rejects(
    connectLogs({ ...natsSettings('wrong'), ...limits }, createTestCommon()),
    hasCode('server_unauthorized'),
  )
})

test('a refused password ends the process, and is in none of its output', async () => {
  const servers = {
    natsUrls: [natsUrl],
    redisUrl: 'redis://127.0.0.1:1',
    clickhouseUrl: 'http://127.0.0.1:1',
    rpcUrl: 'http://127.0.0.1:1',
  }
  const pipeline = new Pipeline(servers, 'access', {}, { nats: natsSettings('canary-of-nats') })
  try {
    for (const command of [['engine'], ['keys', 'list'], ['quarantine', 'list']]) {
      const { code, output } = await pipeline.run(...command)
      assert.equal(code, 1)
      assert.match(output, /refused the credentials/)
      assert.doesNotMatch(output, /canary/)
    }
  } finally {
    await pipeline.stop('SIGKILL')
  }
})

test('a password that Redis refuses is in none of the output', async () => {
  const servers = {
    natsUrls: [natsUrl],
    redisUrl: `redis://:canary-of-redis@127.0.0.1:${redisPort}`,
    clickhouseUrl: 'http://127.0.0.1:1',
    rpcUrl: 'http://127.0.0.1:1/v3/canary-of-the-node-in-a-path',
  }
  const pipeline = new Pipeline(servers, 'access', {}, { nats: natsSettings('right password') })
  try {
    pipeline.spawn('reader')
    const { admin_port } = await pipeline.role('reader').logged('Admin server listening')
    const ended = [await pipeline.run('writer'), await pipeline.run('gateway')]
    for (const { code, output } of ended) {
      assert.equal(code, 1)
      assert.match(output, /server_unauthorized/)
    }
    const answers = await Promise.all(
      ['/readyz', '/metrics'].map(async (path) =>
        (await fetch(`http://127.0.0.1:${admin_port}${path}`)).text(),
      ),
    )
    const logs = readFileSync(join(pipeline.dir, 'reader.log'), 'utf8')
    const output = [...answers, ...ended.map((each) => each.output), logs].join('\n')
    assert.ok(output.length > 1_000)
    assert.doesNotMatch(output, /canary/)
  } finally {
    await pipeline.stop('SIGKILL')
  }
})
