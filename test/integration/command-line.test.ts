import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { MAIN_ARGS } from '../../dev/main-args.ts'
import { VERSION } from '../../src/lib/version.ts'

type Ended = { readonly code: number | string; readonly stdout: string; readonly stderr: string }

function run(...args: string[]): Promise<Ended> {
  // No setting of the shell that runs the tests.
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('CHAINTAPE_'))
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [...MAIN_ARGS, ...args],
      { env: Object.fromEntries(own) },
      (error, stdout, stderr) => resolve({ code: error?.code ?? 0, stdout, stderr }),
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
    [[], 'chaintape: name a role or command\nSee chaintape --help\n'],
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
