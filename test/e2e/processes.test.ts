import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { environmentWithoutSettings, Pipeline, RoleProcess } from '../support/rigs/pipeline.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { Scenario } from './scenario.ts'

const REPO = fileURLToPath(new URL('../..', import.meta.url))
const GRACEFUL_MS = 5_000

let stack: Stack
let scenario: Scenario

before(async () => {
  stack = await startStack({ anvil: ['--no-mining', '--timestamp', '1750000000'] })
  scenario = await Scenario.deploy(stack.rpcUrl)
})

after(() => stack?.stop())

async function run(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, args, { cwd: REPO, env: { ...environmentWithoutSettings(), ...env } })
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  if (child.exitCode === null) await once(child, 'exit')
  return { code: child.exitCode, stdout, stderr }
}

test('all roles run in one process, report their health, and end in order on request', async () => {
  const pipeline = new Pipeline(stack, 'together')
  try {
    await pipeline.start('all')
    await scenario.tradeBlock()
    const { number } = await scenario.market.head()
    await waitFor('the block', async () => {
      const { headers } = await pipeline.get(`/v2/pairs/${scenario.tokenPair}-local`)
      return headers.get('X-Block') === String(number) ? true : undefined
    })
    const { admin_port } = await pipeline.role('all').logged('Admin server listening')
    const ask = async (path: string) => fetch(`http://127.0.0.1:${admin_port}${path}`)
    assert.equal((await ask('/healthz')).status, 200)
    // The gateway serves a block before the writer has stored it.
    await waitFor('readiness', async () => ((await ask('/readyz')).status === 200 ? true : undefined))
    assert.match(await (await ask('/metrics')).text(), /^process_cpu_seconds_total /m)
    const started = Date.now()
    await pipeline.role('all').kill('SIGTERM')
    assert.equal(pipeline.role('all').exitCode, 0)
    assert.ok(Date.now() - started < GRACEFUL_MS, `it took ${Date.now() - started} ms to end`)
  } finally {
    await pipeline.stop('SIGKILL')
  }
})

test('a second reader of the same chain stands by, and the log stays whole', async () => {
  const first = new Pipeline(stack, 'fence')
  const second = new Pipeline(stack, 'fence')
  try {
    await first.start('reader', 'engine', 'writer', 'gateway')
    await second.start('reader')
    await scenario.tradeBlock()
    await second.role('reader').logged('Reader is standby')
    await first.role('reader').kill('SIGKILL')
    // The standby takes over, and what the engine reads links up: it would halt if it did not.
    await scenario.tradeBlock()
    const { number } = await scenario.market.head()
    await waitFor('the rest of the pipeline', async () => {
      const { headers } = await first.get(`/v2/pairs/${scenario.tokenPair}-local`)
      return headers.get('X-Block') === String(number) ? true : undefined
    })
  } finally {
    await Promise.all([first.stop(), second.stop()])
  }
})

test('a wrong configuration ends the program with a message that names the setting', async () => {
  const { code, stderr } = await run(['src/main.ts', 'gateway'], { CHAINTAPE_GATEWAY_PORT: 'many' })
  assert.equal(code, 2)
  assert.match(stderr, /^ {2}gateway\.port must be an integer$/m)
  assert.match(stderr, /^ {2}chains is missing$/m)
})

test('a role that does not exist is refused in two lines', async () => {
  const { code, stderr } = await run(['src/main.ts', 'oracle'])
  assert.equal(code, 2)
  assert.equal(stderr, "chaintape: unknown command 'oracle'\nSee chaintape --help\n")
})

test('a node of another chain is refused', async () => {
  const pipeline = new Pipeline(stack, 'elsewhere', { chain_id: 1 })
  const reader = new RoleProcess('reader', pipeline.configFile, join(pipeline.dir, 'reader.log'))
  try {
    assert.equal(await reader.exited(), 1)
    const log = readFileSync(join(pipeline.dir, 'reader.log'), 'utf8')
    assert.match(log, /the node serves chain 31337, not 1/)
  } finally {
    await pipeline.stop()
  }
})

test('a node that has forgotten old state is enough', async () => {
  const forgetful = await startStack({
    anvil: ['--no-mining', '--timestamp', '1750000000', '--prune-history', '5'],
  })
  const old = await Scenario.deploy(forgetful.rpcUrl)
  await old.market.mineMany(100)
  const pipeline = new Pipeline(forgetful, 'forgetful')
  try {
    await pipeline.start('all')
    const token = await waitFor('the token', async () => {
      const { status, body } = await pipeline.get(`/v2/tokens/${old.token}-local`)
      return status === 200 ? (body as { data: { token: { name: string } } }).data.token : undefined
    })
    assert.equal(token.name, 'Pepper')
  } finally {
    await pipeline.stop('SIGKILL')
    await forgetful.stop()
  }
})
