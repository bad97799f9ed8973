import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { MAIN_ARGS } from '../../dev/main-args.ts'
import { GATEWAY_FLAGS } from '../../src/lib/launch-flags.ts'
import { VERSION } from '../../src/lib/version.ts'
import { startStack } from '../../src/sandbox/servers/stack.ts'
import { environmentWithoutSettings } from '../support/rigs/pipeline.ts'

type Ended = { readonly code: number | string; readonly stdout: string; readonly stderr: string }

const ENVIRONMENT = environmentWithoutSettings()

function run(...args: string[]): Promise<Ended> {
  return runWith({}, ...args)
}

function runWith(settings: Record<string, string>, ...args: string[]): Promise<Ended> {
  const env = { ...ENVIRONMENT, ...settings }
  return new Promise((resolve) => {
    execFile(process.execPath, [...MAIN_ARGS, ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    )
  })
}

test('--version and --help answer on stdout', async () => {
  assert.deepEqual(await run('--version'), { code: 0, stdout: `chaintape ${VERSION}\n`, stderr: '' })
  const help = await run('gateway', '--help')
  assert.deepEqual([help.code, help.stderr], [0, ''])
  for (const word of ['reader', 'gateway', 'redis rebuild', 'keys', '--config', '--version']) {
    assert.ok(help.stdout.includes(word), word)
  }
  assert.match((await run('keys', '--help')).stdout, /^usage: chaintape keys/)
})

test('a mistake is answered with one line and a way out, never with a stack trace', async () => {
  const rows: [string[], string][] = [
    [[], 'chaintape: missing role or command\nSee chaintape --help\n'],
    [
      ['kyes', 'create'],
      "chaintape: unknown command 'kyes create'; did you mean 'keys'?\nSee chaintape --help\n",
    ],
    [['gatway'], "chaintape: unknown command 'gatway'; did you mean 'gateway'?\nSee chaintape --help\n"],
    [
      ['reader', '--confg', 'x'],
      "chaintape: unknown option '--confg'; did you mean '--config'?\nSee chaintape --help\n",
    ],
    [
      ['keys', 'creat'],
      "chaintape: unknown command 'keys creat'; did you mean 'create'?\nSee chaintape keys --help\n",
    ],
    [['keys', 'create'], 'chaintape: create needs --name NAME\nSee chaintape keys --help\n'],
    ...[['create'], ['revoke', 'ID'], ['list', 'ID', 'TOKEN_ID'], ['renew', 'ID'], []].map(
      (args): [string[], string] => [
        ['keys', 'chart-token', ...args],
        'chaintape: chart-token takes create ID, list ID, or revoke ID TOKEN_ID\nSee chaintape keys --help\n',
      ],
    ),
    [
      ['reader'],
      'chaintape: configuration from the environment (no --config file given):\n' +
        '  chains is missing\n\nwrite, for example:\n  chains: { eth: { rpc_urls: [ http://127.0.0.1:8545 ] } }\n',
    ],
    [
      ['reader', '--config', '/nowhere/chaintape.yaml'],
      'chaintape: /nowhere/chaintape.yaml: no such file; create it, or name another with --config FILE\n',
    ],
  ]
  const ended = await Promise.all(rows.map(([args]) => run(...args)))
  for (const [index, [args, stderr]] of rows.entries()) {
    assert.deepEqual(ended[index], { code: 2, stdout: '', stderr }, args.join(' '))
  }
})

test('the gateway relaunches itself once with its V8 flags, as the same process; no other role has them', async () => {
  const report = `data:text/javascript,console.log(process.pid,...process.execArgv.slice(0,${GATEWAY_FLAGS.length}))`
  const launches = (role: string, flags: readonly string[] = []): Promise<string[]> =>
    new Promise((resolve) => {
      const args = [...flags, '--import', report, ...MAIN_ARGS, role, '--config', '/nowhere/chaintape.yaml']
      execFile(process.execPath, args, { env: ENVIRONMENT }, (_error, stdout) =>
        resolve(stdout.trimEnd().split('\n')),
      )
    })
  const hasFlags = (launch = ''): boolean => launch.endsWith(GATEWAY_FLAGS.join(' '))
  const [first, second, ...more] = await launches('gateway')
  assert.deepEqual([hasFlags(first), hasFlags(second), more], [false, true, []])
  assert.equal(first?.split(' ')[0], second?.split(' ')[0])
  assert.deepEqual((await launches('gateway', GATEWAY_FLAGS)).map(hasFlags), [true])
  for (const role of ['reader', 'all']) assert.deepEqual((await launches(role)).map(hasFlags), [false], role)
})

/** Nothing listens on these. */
const NOWHERE = {
  CHAINTAPE_NATS_URLS: 'nats://user:secret@127.0.0.1:1',
  CHAINTAPE_REDIS_URL: 'redis://:secret@127.0.0.1:2',
  CHAINTAPE_CLICKHOUSE_URL: 'http://127.0.0.1:3',
  CHAINTAPE_CHAINS_LOCAL_RPC_URLS: 'http://127.0.0.1:4/secret',
}

/** All that a process prints until it has said this, and some retries longer. */
async function printed(
  text: string,
  args: readonly string[],
  settings: Record<string, string>,
): Promise<string> {
  const child = spawn(process.execPath, [...MAIN_ARGS, ...args], { env: { ...ENVIRONMENT, ...settings } })
  let output = ''
  const said = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (data: Buffer) => {
        output += data.toString()
        if (output.includes(text)) resolve()
      })
    }
  })
  await Promise.race([said, once(child, 'exit')])
  await sleep(2_000)
  // What it prints while it stops is another matter.
  const whileWaiting = output
  child.kill('SIGTERM')
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return whileWaiting
}

test('keys chart-token: only the token itself goes to stdout, and only once', async () => {
  const stack = await startStack({ services: ['nats'] })
  const file = join(stack.dataDir, 'chaintape.yaml')
  writeFileSync(file, 'chains: { local: {} }\n')
  const settings = { ...NOWHERE, CHAINTAPE_NATS_URLS: stack.natsUrls.join(',') }
  const keys = (...args: string[]): Promise<Ended> => runWith(settings, 'keys', ...args, '--config', file)
  try {
    const key = await keys('create', '--name', 'charts')
    const id = /^Key (\w+) created/m.exec(key.stderr)?.[1] ?? ''
    const created = await keys('chart-token', 'create', id)
    assert.equal(created.code, 0)
    assert.match(created.stdout, /^ctc_[0-9A-Za-z]{36}\n$/)
    const tokenId =
      /^Chart token (\w+) of key (\w+) created\. It is shown only once:$/m.exec(created.stderr)?.[1] ?? ''
    const listed = await keys('chart-token', 'list', id)
    assert.match(listed.stdout, new RegExp(`^ID +CREATED\\n${tokenId} +\\d{4}-\\d\\d-\\d\\d[^\\n]*\\n$`))
    const revoked = await keys('chart-token', 'revoke', id, tokenId)
    assert.deepEqual(revoked, {
      code: 0,
      stdout: '',
      stderr: `Chart token ${tokenId} of key ${id} revoked.\n`,
    })
    assert.match((await keys('chart-token', 'list', id)).stdout, /^ID +CREATED\n$/)
    const [again, unknown] = await Promise.all([
      keys('chart-token', 'revoke', id, tokenId),
      keys('chart-token', 'create', 'nobody'),
    ])
    for (const { code, stdout, stderr } of [again, unknown]) {
      assert.deepEqual([code, stdout], [1, ''])
      assert.match(stderr, /^chaintape: [^\n]+\n$/)
    }
    for (const { stdout, stderr } of [listed, revoked, again])
      assert.ok(!(stdout + stderr).includes(created.stdout.trim()))
  } finally {
    await stack.stop()
  }
})

test('a port in use is named in one line', async () => {
  const other = createServer()
  other.listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  try {
    const settings = { ...NOWHERE, CHAINTAPE_ADMIN_GATEWAY_PORT: String(port) }
    const folder = mkdtempSync(join(tmpdir(), 'chaintape-ports-'))
    const file = join(folder, 'chaintape.yaml')
    writeFileSync(file, 'chains: { local: {} }\n')
    const output = await printed('Port in use', ['gateway', '--config', file], settings)
    rmSync(folder, { recursive: true })
    assert.match(output, new RegExp(`"address":"127.0.0.1:${port}","hint":"[^"]*admin.<role>_port"`))
    assert.doesNotMatch(output, /"stack"|^ +at /m)
  } finally {
    other.close()
  }
})

test('redis rebuild without its stores ends with one line that names them', async () => {
  const stack = await startStack({ services: ['redis'] })
  const file = join(stack.dataDir, 'chaintape.yaml')
  writeFileSync(file, 'chains: { local: {} }\n')
  try {
    const rows: [Record<string, string>, string][] = [
      [NOWHERE, 'Redis unavailable'],
      [{ ...NOWHERE, CHAINTAPE_REDIS_URL: stack.redisUrl }, 'ClickHouse unavailable'],
    ]
    for (const [settings, reason] of rows) {
      const { code, stdout, stderr } = await runWith(settings, 'redis', 'rebuild', '--config', file)
      const [line = '', ...others] = (stdout + stderr).trim().split('\n')
      assert.deepEqual([code, others], [1, []], line)
      const { msg, reason: logged, address, hint } = JSON.parse(line) as Record<string, string>
      assert.deepEqual([msg, logged], ['Store unavailable, shutting down', reason])
      assert.ok(address?.includes('127.0.0.1:3') && hint !== undefined, line)
      assert.doesNotMatch(line, /secret|"stack"/)
    }
  } finally {
    await stack.stop()
  }
})

test('an unavailable server is logged once, with a hint how to start it', async () => {
  const stack = await startStack({ services: ['nats'] })
  const chain = join(stack.dataDir, 'chaintape.yaml')
  writeFileSync(chain, 'chains: { local: {} }\nadmin: { reader_port: 0, writer_port: 0, gateway_port: 0 }\n')
  const withNats = {
    ...NOWHERE,
    CHAINTAPE_NATS_URLS: stack.natsUrls.join(','),
    CHAINTAPE_DATA_DIR: stack.dataDir,
  }
  try {
    const rows: [string[], Record<string, string>, string, string][] = [
      [['gateway'], NOWHERE, 'Waiting for NATS', '"address":"127.0.0.1:1"'],
      [['keys', 'list'], NOWHERE, 'Waiting for NATS', '"address":"127.0.0.1:1"'],
      [['gateway'], withNats, 'Waiting for Redis', '"address":"127.0.0.1:2"'],
      [['writer'], withNats, 'Waiting for ClickHouse', '"address":"127.0.0.1:3"'],
      [['reader'], withNats, 'Waiting for a node of local', '"address":"127.0.0.1:4"'],
    ]
    await Promise.all(
      rows.map(async ([args, settings, message, address]) => {
        const output = await printed(message, [...args, '--config', chain], settings)
        const lines = output.split('\n').filter((line) => line.includes(message))
        assert.equal(lines.length, 1, `${args.join(' ')}:\n${output}`)
        for (const part of [address, '"hint":']) assert.ok(lines[0]?.includes(part), lines[0])
        assert.doesNotMatch(output, /secret|"stack"|^ +at /m)
      }),
    )
  } finally {
    await stack.stop()
  }
})
