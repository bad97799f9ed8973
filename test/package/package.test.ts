import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { parse } from 'yaml'
import { VERSION } from '../../src/lib/version.ts'
import { freePorts } from '../../src/sandbox/servers/process.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { environmentWithoutSettings } from '../support/rigs/pipeline.ts'
import { waitFor } from '../support/rigs/wait-for.ts'

type Ended = { readonly code: number | string; readonly stdout: string; readonly stderr: string }

const BASE_ID = 8453
const folder = mkdtempSync(join(tmpdir(), 'chaintape-package-'))
const home = join(folder, 'empty')
const program = join(home, 'node_modules/.bin/chaintape')

let stack: Stack
let settings: Record<string, string>

before(
  async () => {
    mkdirSync(home)
    // A node that says it is one of Base: everything but the chain's contracts.
    const starting = startStack({ anvil: ['--chain-id', String(BASE_ID)] })
    // Packing does not build where npm ignores scripts.
    for (const script of ['dev/build.ts', 'dev/build-web.ts']) {
      const built = await run(process.execPath, [script], process.cwd())
      assert.equal(built.code, 0, built.stderr)
    }
    await run('npm', ['pack', '--silent', '--pack-destination', folder], process.cwd())
    const [packed] = readdirSync(folder).filter((file) => file.endsWith('.tgz'))
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--silent']
    const installed = await run('npm', ['install', ...flags, join(folder, packed ?? '')], home)
    assert.equal(installed.code, 0, installed.stderr)
    stack = await starting
    settings = {
      CHAINTAPE_NATS_URLS: stack.natsUrls.join(),
      CHAINTAPE_REDIS_URL: stack.redisUrl,
      CHAINTAPE_CLICKHOUSE_URL: stack.clickhouseUrl,
      CHAINTAPE_DATA_DIR: join(folder, 'data'),
    }
  },
  { timeout: 300_000 },
)

after(async () => {
  await stack?.stop()
  rmSync(folder, { recursive: true, force: true })
})

function run(command: string, args: readonly string[], cwd = home, more = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const env = { ...environmentWithoutSettings(), ...more }
    execFile(command, args, { cwd, env, maxBuffer: 16 * 1024 * 1024 }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    )
  })
}

describe('the package, installed into an empty folder', () => {
  test('runs without its sources, tests and development packages', async () => {
    assert.deepEqual(await run(program, ['--version']), {
      code: 0,
      stdout: `chaintape ${VERSION}\n`,
      stderr: '',
    })
    const files = readdirSync(join(home, 'node_modules/chaintape'), { recursive: true }).map(String)
    for (const file of ['config/chains/base.yaml', 'dist/main.js', 'web/dist/index.html'])
      assert.ok(files.includes(file), file)
    assert.deepEqual(
      files.filter((file) => /\.test\.|\.ts$|^(src|test|dev)\//.test(file)),
      [],
    )
    assert.ok(!existsSync(join(home, 'node_modules/typescript')))
  })

  test('init asks the node and writes settings that start at its newest block', async () => {
    const wrong = await run(program, ['init', '--chain', 'bsc', '--rpc', stack.rpcUrl])
    assert.equal(wrong.code, 1)
    assert.match(wrong.stderr, /serves chain 8453, not 56/)
    assert.ok(!existsSync(join(home, 'chaintape.yaml')))

    const made = await run(program, ['init', '--chain', 'base', '--rpc', stack.rpcUrl])
    assert.equal(made.code, 0, made.stderr)
    assert.match(made.stderr, /ok +base 0:127\.0\.0\.1:\d+: eth_getBlockReceipts/)
    const file = join(home, 'chaintape.yaml')
    const written = parse(readFileSync(file, 'utf8')) as { chains: Record<string, unknown> }
    assert.deepEqual(written.chains, { base: { rpc_urls: [stack.rpcUrl], start_block: 0 } })
    assert.equal(statSync(file).mode & 0o777, 0o600)

    const again = await run(program, ['init', '--chain', 'base'])
    assert.deepEqual([again.code, /chaintape\.yaml exists/.test(again.stderr)], [2, true])
  })

  test('doctor finds nothing wrong with working servers, and names the one that is gone', async () => {
    const healthy = await run(program, ['doctor', '--config', 'chaintape.yaml'], home, settings)
    assert.match(healthy.stdout, /^0 problems/m, healthy.stdout)
    assert.equal(healthy.code, 0, healthy.stdout)
    for (const about of ['Node.js', 'NATS', 'Redis', 'ClickHouse', 'base 0:127.0.0.1'])
      assert.match(healthy.stdout, new RegExp(`^ok +${about}`, 'm'))
    await stack.kill('redis')
    const ill = await run(program, ['doctor', '--config', 'chaintape.yaml'], home, settings)
    assert.equal(ill.code, 1, ill.stdout)
    assert.match(ill.stdout, /^PROBLEM Redis: .*\n +Start Redis or Valkey/m)
    await stack.restart('redis')
  })

  test('all roles become ready, status shows them, and SIGTERM ends them', async () => {
    const [port = 0, ...admin] = await freePorts(6)
    const roles = ['READER', 'ENGINE', 'WRITER', 'GATEWAY', 'RECONCILER']
    const ports = Object.fromEntries(
      roles.map((role, at) => [`CHAINTAPE_ADMIN_${role}_PORT`, String(admin[at])]),
    )
    const env = { ...settings, ...ports, CHAINTAPE_GATEWAY_PORT: String(port) }
    const all = spawn(program, ['all', '--config', 'chaintape.yaml'], {
      cwd: home,
      env: { ...environmentWithoutSettings(), ...env },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const ended = once(all, 'exit')
    try {
      const { stdout } = await waitFor('all roles to be ready', async () => {
        assert.equal(all.exitCode, null)
        const shown = await run(program, ['status', '--once', '--config', 'chaintape.yaml'], home, env)
        return shown.code === 0 ? shown : undefined
      })
      assert.match(stdout, /^base +\d+ +0 /m)
      const answer = await fetch(`http://127.0.0.1:${port}/openapi.json`)
      assert.equal(answer.status, 200)
    } finally {
      all.kill('SIGTERM')
      assert.deepEqual((await ended)[0], 0)
    }
  })

  test('sandbox says what is missing, and runs once it is there', async () => {
    const missing = await run(program, ['sandbox'])
    assert.equal(missing.code, 1)
    assert.match(missing.stderr, /anvil: npm install @foundry-rs\/anvil@[\s\S]*npm install chdb@/)

    // As installed beside the package; half a gigabyte is not copied.
    for (const name of ['chdb', '@foundry-rs'])
      symlinkSync(join(process.cwd(), 'node_modules', name), join(home, 'node_modules', name))
    const temporary = join(folder, 'sandbox')
    mkdirSync(temporary)
    const sandbox = spawn(program, ['sandbox', '--history', '60', '--port', '18090'], {
      cwd: home,
      env: { ...environmentWithoutSettings(), TMPDIR: temporary },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = once(sandbox, 'exit')
    let guide = ''
    sandbox.stdout.on('data', (data) => {
      guide += String(data)
    })
    try {
      const [, key = '', url = ''] = await waitFor('the guide', () => {
        assert.equal(sandbox.exitCode, null)
        return /curl -s -H 'X-API-KEY: (\S+)' '(\S+trending\S+)'/.exec(guide) ?? undefined
      })
      assert.equal((await fetch(url, { headers: { 'X-API-KEY': key } })).status, 200)
      const terminal = await (await fetch(new URL('/', url))).text()
      assert.match(terminal, /<meta name="chaintape-key" content="ctk_\w{36}">/)
    } finally {
      sandbox.kill('SIGINT')
      assert.deepEqual((await ended)[0], 0)
    }
    assert.deepEqual(readdirSync(temporary), [])
  })
})
