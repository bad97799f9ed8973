import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Stack, startStack } from '../../../src/sandbox/servers/stack.ts'
import { Pipeline } from '../../support/rigs/pipeline.ts'
import { waitFor } from '../../support/rigs/wait-for.ts'

/** Every secret of the configuration contains this word, and nothing that the program prints or serves may. */
const CANARY = /canary/i
/** As base64 of a header `Authorization`, too. */
const ENCODED = Buffer.from('user:canary-of-the-user-info').toString('base64')

const roles = ['reader', 'engine', 'writer', 'gateway'] as const
let stack: Stack
let node: Server
let pipeline: Pipeline

before(async () => {
  // A node that refuses, and quotes the address and the headers of the request.
  node = createServer((request, response) => {
    request.resume()
    response.writeHead(401, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ url: request.url, headers: request.headers }))
  })
  const [started] = await Promise.all([
    startStack({ services: ['nats', 'redis', 'clickhouse'] }),
    new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve)),
  ])
  stack = started
  const host = `127.0.0.1:${(node.address() as AddressInfo).port}`
  // These servers ask for no password, and accept any.
  const withUser = (url: string, user: string): string => url.replace('://', `://${user}@`)
  pipeline = new Pipeline(
    {
      natsUrls: stack.natsUrls,
      redisUrl: withUser(stack.redisUrl, ':canary-of-redis'),
      clickhouseUrl: stack.clickhouseUrl,
      rpcUrl: `http://${host}/v3/canary-of-the-path`,
    },
    'secrets',
    {
      rpc_urls: [
        `http://${host}/v3/canary-of-the-path`,
        `http://${host}/?key=canary-of-the-query`,
        `http://user:canary-of-the-user-info@${host}/`,
      ],
      ws_urls: [`ws://${host}/canary-of-the-socket?token=canary-of-the-token`],
    },
    {
      log_level: 'trace',
      nats: { urls: stack.natsUrls, prefix: 'secrets', username: 'user', password: 'canary-of-nats' },
      clickhouse: { url: stack.clickhouseUrl, database: 'secrets', password: 'canary-of-clickhouse' },
    },
  )
})

after(async () => {
  await pipeline?.stop('SIGKILL')
  node?.close()
  node?.closeAllConnections()
  await stack?.stop()
})

/** On a signal the process throws an error with a password in it, where nobody catches it. */
function spawnThrowing(role: (typeof roles)[number]): void {
  const thrown = `Error('redis://:canary-of-redis@host')`
  const preload = `--import=data:text/javascript,process.on('SIGUSR2',()=>{throw(${thrown})})`
  const before = process.env['NODE_OPTIONS'] ?? ''
  process.env['NODE_OPTIONS'] = `${before} ${preload}`
  pipeline.spawn(role)
  process.env['NODE_OPTIONS'] = before
}

function assertClean(what: string, output: string): void {
  assert.doesNotMatch(output, CANARY, what)
  assert.ok(!output.includes(ENCODED), what)
}

test('no log line, metric, readiness or status contains a secret', async () => {
  for (const role of roles) spawnThrowing(role)
  await Promise.all(roles.map((role) => pipeline.role(role).logged('Admin server listening')))
  const read = (role: string): string => readFileSync(join(pipeline.dir, `${role}.log`), 'utf8')
  await waitFor('the reader to be refused', () => (/401|refuse/.test(read('reader')) ? true : undefined))
  await pipeline.role('writer').ready()
  for (const path of ['/v2/status', '/v2/chains', '/openapi.json', '/v2/nothing']) {
    const answer = await fetch(`${await pipeline.gatewayUrl()}${path}`)
    assertClean(path, await answer.text())
  }
  for (const role of roles) {
    const { admin_port } = await pipeline.role(role).logged('Admin server listening')
    for (const path of ['/readyz', '/metrics', '/nothing']) {
      const text = await (await fetch(`http://127.0.0.1:${admin_port}${path}`)).text()
      assert.ok(text.length > 0)
      assertClean(`${path} of the ${role}`, text)
    }
    assert.ok(read(role).length > 100)
    assertClean(`the log of the ${role}`, read(role))
  }
})

test('the tools print no secret', async () => {
  for (const command of [
    ['keys', 'create', '--name', 'first'],
    ['keys', 'list'],
    ['quarantine', 'list'],
    ['quarantine', 'remove', '--chain', 'local', '--log', 'blocks', '--sequence', '1'],
  ]) {
    const { output } = await pipeline.run(...command)
    assertClean(command.join(' '), output)
  }
})

test('an uncaught error is printed without its secrets', async () => {
  const engine = pipeline.role('engine')
  process.kill(engine.pid ?? 0, 'SIGUSR2')
  assert.equal(await engine.exited(), 1)
  const output = await waitFor('the error to be printed', () => {
    const log = readFileSync(join(pipeline.dir, 'engine.log'), 'utf8')
    return log.includes('uncaught') ? log : undefined
  })
  assert.match(output, /uncaught.*redis:\/\/:\[secret\]@host/)
  assertClean('the engine', output)
})

test('a mistake in the configuration is reported without the value beside it', async () => {
  const original = readFileSync(pipeline.configFile, 'utf8')
  for (const line of ['a: canary: of a colon', 'd: !canary [value']) {
    writeFileSync(pipeline.configFile, `${original}\n${line}\n`)
    const { code, output } = await pipeline.run('keys', 'list')
    assert.equal(code, 2, output)
    assertClean(line, output)
  }
})
