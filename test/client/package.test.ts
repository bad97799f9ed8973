import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

/** The package as npm would publish it: packed, unpacked into an empty project, checked and used there. */

const REPO = resolve(import.meta.dirname, '../..')
const PACKAGE = join(REPO, 'clients/typescript')
const BIN = join(REPO, 'node_modules/.bin')

/** Compressed bytes that a page loads, by what it imports. */
const BUDGETS: readonly { readonly name: string; readonly source: string; readonly bytes: number }[] = [
  { name: 'everything', source: "export * from '@chaintape/client'", bytes: 12_000 },
  { name: 'client', source: "export { createClient } from '@chaintape/client'", bytes: 10_000 },
  { name: 'REST only', source: "export { createRest } from '@chaintape/client'", bytes: 3_500 },
  { name: 'candle book only', source: "export { CandleBook } from '@chaintape/client'", bytes: 600 },
]

let project: string
let tarball: string

before(() => {
  project = mkdtempSync(join(tmpdir(), 'chaintape-client-'))
  run(process.execPath, [join(PACKAGE, 'build.ts')], REPO)
  run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', project], PACKAGE)
  tarball = join(project, readdirSync(project).find((name) => name.endsWith('.tgz')) ?? '')
  const installed = join(project, 'node_modules/@chaintape/client')
  mkdirSync(installed, { recursive: true })
  run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1'], project)
  writeFileSync(join(project, 'package.json'), JSON.stringify({ type: 'module', private: true }))
})

after(() => rmSync(project, { recursive: true, force: true }))

function run(command: string, args: readonly string[], cwd: string): string {
  try {
    return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    throw new Error(`${command} ${args.join(' ')}:\n${stdout}${stderr}`)
  }
}

test('publint and attw find no fault', () => {
  assert.match(run(join(BIN, 'publint'), ['run', tarball, '--strict'], project), /All good/)
  run(join(BIN, 'attw'), [tarball, '--profile', 'esm-only', '--no-emoji'], project)
})

test('the tarball holds modules and declarations only, and depends on nothing', () => {
  const files = run('tar', ['-tzf', tarball], project).trim().split('\n')
  const others = files.filter(
    (file) => !/^package\/(dist\/.+\.(js|d\.ts)|package\.json|README\.md|LICENSE)$/.test(file),
  )
  assert.deepEqual(others, [])
  assert.ok(files.includes('package/dist/index.js') && !files.some((file) => file.includes('.test.')))
})

test('its modules import only each other; node modules are in one entry point', async () => {
  for (const entry of ['@chaintape/client', '@chaintape/client/node']) {
    const { metafile } = await bundle(`export * from '${entry}'`)
    const outside = Object.values(metafile.inputs).flatMap(({ imports }) =>
      imports.filter(({ external }) => external).map(({ path }) => path),
    )
    assert.deepEqual(new Set(outside), new Set(entry.endsWith('node') ? ['node:fs', 'node:path'] : []), entry)
  }
})

test('it stays within its size budgets', async (t) => {
  for (const { name, source, bytes } of BUDGETS) {
    const { outputFiles } = await bundle(source)
    const code = outputFiles[0]?.contents ?? assert.fail('nothing was bundled')
    const size = gzipSync(code, { level: 9 }).length
    t.diagnostic(`${name}: ${size} bytes gzipped, budget ${bytes} (${code.length} minified)`)
    assert.ok(size <= bytes, `${name}: ${size} bytes of ${bytes}`)
  }
})

async function bundle(source: string) {
  return build({
    stdin: { contents: source, resolveDir: project },
    ...{ bundle: true, minify: true, write: false, metafile: true, format: 'esm', target: 'es2022' },
    external: ['node:*'],
  })
}

test('its declarations compile in projects of browsers and of Node, and refuse what is wrong', () => {
  writeFileSync(join(project, 'use.ts'), PROGRAM)
  mkdirSync(join(project, 'node_modules/@types'), { recursive: true })
  for (const name of ['node', 'ws']) {
    const link = join(project, 'node_modules/@types', name)
    symlinkSync(join(REPO, 'node_modules/@types', name), link)
  }
  symlinkSync(join(REPO, 'node_modules/undici-types'), join(project, 'node_modules/undici-types'))
  const common = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', 'use.ts']
  const compiler = join(REPO, 'node_modules/typescript/bin/tsc')
  // With every declaration checked: a browser project has no types of Node.
  run(process.execPath, [compiler, ...common, '--lib', 'es2023,dom', '--types', ''], project)
  run(
    process.execPath,
    [compiler, ...common, '--lib', 'es2023', '--types', 'node', '--skipLibCheck'],
    project,
  )
})

const PROGRAM = `
import { createClient, createRest, isApiError, isRetraction, withDecimals } from '@chaintape/client'
import type { CandleUpdate, Client, Retraction, Stream, Trade } from '@chaintape/client'

const client: Client = createClient({ url: 'http://127.0.0.1:8080', key: 'ctk_' })
const trades: Stream<Trade> = client.trades('0x1-eth')
const both: Stream<Trade | Retraction> = client.trades('0x1-eth', { retractions: true, from: '2026-01-01' })
const candles: Stream<CandleUpdate> = client.candles('0x1-eth', 'k1', { unit: 'eth' })

export async function use(): Promise<void> {
  for await (const trade of client.trades('0x1-eth')) {
    const usd: string = trade.amount_usd
    void usd
  }
  for await (const item of both) {
    if (isRetraction(item)) item.retracted satisfies readonly string[]
    else item.id satisfies string
  }
  const { data, meta } = await client.rest.tokenDetail('0x1-eth').withMeta()
  data.data.token.symbol satisfies string
  meta.cuRemaining satisfies number | undefined
  const decimals = withDecimals(await client.rest.pairDetail('0x1-eth'), (text) => BigInt(text))
  decimals.tvl satisfies bigint | undefined
  try {
    await client.rest.chains({ timeoutMs: 5 })
  } catch (error) {
    if (isApiError(error, 'rate_limited', 'quota_exhausted')) error.code satisfies 'rate_limited' | 'quota_exhausted'
  }
}

// @ts-expect-error: a stream needs a key
createClient({ url: 'http://127.0.0.1:8080' })
createRest({ url: 'http://127.0.0.1:8080' })
// @ts-expect-error: no such interval
client.candles('0x1-eth', 'k2')
// @ts-expect-error: the keyword is required
void client.rest.keywordSearch({ limit: 5 })
// @ts-expect-error: without the option there are no retractions
both satisfies Stream<Trade>
// @ts-expect-error: no such code
isApiError(new Error(), 'no_such_code')
void [trades, candles]
`

test('it runs from its package', () => {
  const program = `
    import { createClient, CandleBook, splitId } from '@chaintape/client'
    import { fileCursors } from '@chaintape/client/node'
    const client = createClient({ url: 'http://127.0.0.1:1', key: 'k', cursors: fileCursors('cursors.json') })
    console.log(typeof client.trades, new CandleBook().candles().length, splitId('0xAB-eth').address)
  `
  assert.equal(run(process.execPath, ['--input-type=module', '-e', program], project), 'function 0 0xab\n')
})
