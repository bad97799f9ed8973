import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, describe, test } from 'node:test'
import { checkLayers } from './check-layers.ts'
import { cleanTree, type Files, pureRows, structureRows } from './layers/test-rows.ts'

const repository = path.join(import.meta.dirname, '..')
const scratch = mkdtempSync(path.join(tmpdir(), 'check-layers-'))
after(() => rmSync(scratch, { recursive: true }))

function writeTree(files: Files): string {
  const root = mkdtempSync(path.join(scratch, 'tree-'))
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true })
    writeFileSync(path.join(root, file), text)
  }
  return root
}

function found(root: string): string[] {
  return checkLayers(root).map(({ file, line, rule }) => `${file}:${line}: ${rule}`)
}

const inDomain = (text: string): Files => ({ 'src/domain/a.ts': text })
const importing = (from: string, to: string): Files => ({
  [`src/${from}`]: `import { b } from '${path.posix.relative(`src/${path.posix.dirname(from)}`, `src/${to}`).replace(/^(?!\.)/, './')}'\nexport const a = b\n`,
  [`src/${to}`]: 'export const b = 1\n',
})

const layers = [
  'domain',
  'lib',
  'dex',
  'engine',
  'chain',
  'log',
  'store',
  'gateway',
  'config',
  'roles',
  'main',
]
const permitted: Record<string, string> = {
  domain: '',
  lib: '',
  dex: 'domain',
  engine: 'domain dex',
  chain: 'domain lib dex',
  log: 'domain lib',
  store: 'domain lib',
  gateway: 'domain lib store log',
  config: 'domain lib',
  roles: 'domain lib dex engine chain log store gateway config',
  main: 'roles config lib domain',
}
const layerFile = (layer: string, name: string) => (layer === 'main' ? 'main.ts' : `${layer}/${name}.ts`)

describe('rules', () => {
  test('a clean tree has no violations', () => assert.deepEqual(checkLayers(writeTree(cleanTree)), []))

  for (const [name, files, expected] of structureRows) {
    test(name, () => assert.deepEqual(found(writeTree(files)), expected))
  }

  for (const from of layers) {
    for (const to of layers.filter((layer) => layer !== from)) {
      const isAllowed = permitted[from]?.split(' ').includes(to)
      test(`${from} ${isAllowed ? 'may' : 'must not'} import ${to}`, () => {
        const file = layerFile(from, 'a')
        assert.deepEqual(
          found(writeTree(importing(file, layerFile(to, 'b')))),
          isAllowed ? [] : [`src/${file}:1: layer-import`],
        )
      })
    }
  }

  for (const [rule, lines] of Object.entries(pureRows)) {
    for (const line of lines.trim().split(/\n\s*/)) {
      test(`${rule}: ${line}`, () => {
        assert.deepEqual(found(writeTree(inDomain(`\n${line}\n`))), [`src/domain/a.ts:2: ${rule}`])
        const elsewhere = { 'src/lib/a.ts': line, 'src/domain/a.test.ts': line, 'src/chain/source.ts': line }
        assert.deepEqual(found(writeTree(elsewhere)), [])
      })
    }
  }

  test('import() in pure code', () => {
    assert.deepEqual(found(writeTree(inDomain(`import('./b.ts')\n`))), ['src/domain/a.ts:1: pure-global'])
  })

  test('every pure place is held to purity, and dex may not import even crc32', () => {
    const text = `import { crc32 } from 'node:zlib'\nexport const at = [Date.now(), 0.5, crc32]\n`
    const paths = ['src/chain/link.ts', 'src/dex/evm/a.ts', 'src/domain/a.ts', 'src/engine/price/a.ts']
    assert.deepEqual(found(writeTree(Object.fromEntries(paths.map((file) => [file, text])))), [
      'src/chain/link.ts:1: pure-package',
      'src/chain/link.ts:2: pure-global',
      'src/chain/link.ts:2: money-float',
      'src/dex/evm/a.ts:1: pure-package',
      'src/dex/evm/a.ts:2: pure-global',
      'src/dex/evm/a.ts:2: money-float',
      'src/domain/a.ts:2: pure-global',
      'src/domain/a.ts:2: money-float',
      'src/engine/price/a.ts:2: pure-global',
      'src/engine/price/a.ts:2: money-float',
    ])
  })

  test('names about money may be numbers', () => {
    const names = ['Count', 'Digits', 'Decimals', 'At', 'Id', 'Index', 'Bytes', 'Length', 'Scale']
    const text = names.map((end) => `let price${end}: number\nNumber(trade.amount${end})\n`).join('')
    assert.deepEqual(found(writeTree(inDomain(text))), [])
  })
})

describe('the gate', () => {
  const runGate = (root: string) => {
    const started = spawnSync(process.execPath, [path.join(import.meta.dirname, 'check-layers.ts'), root])
    return { status: started.status, lines: started.stdout.toString().trimEnd().split('\n') }
  }
  const copyOfSource = () => {
    const root = mkdtempSync(path.join(scratch, 'copy-'))
    cpSync(path.join(repository, 'src'), path.join(root, 'src'), { recursive: true })
    return root
  }

  test('a clean tree passes', () => {
    assert.deepEqual(runGate(writeTree(cleanTree)), { status: 0, lines: ['layers: ok'] })
  })

  test('the real sources with a wrong import and a clock in a domain file fail', () => {
    const root = copyOfSource()
    const before = found(root)
    const domain = path.join(root, 'src/domain')
    const victim = readdirSync(domain).find((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    assert.ok(victim, 'src/domain holds sources')
    const plant = `\nimport { planted } from '../lib/planted.ts'\nexport const plantedAt = [planted, Date.now()]\n`
    appendFileSync(path.join(domain, victim), plant)

    const planted = checkLayers(root).filter(
      ({ file, line, rule }) => !before.includes(`${file}:${line}: ${rule}`),
    )
    assert.deepEqual(
      planted.map(({ file, rule, message }) => [file, rule, message]),
      [
        [`src/domain/${victim}`, 'layer-import', 'domain must not import lib (src/lib/planted.ts)'],
        [`src/domain/${victim}`, 'pure-global', 'Date reads a clock'],
      ],
    )
    const gate = runGate(root)
    assert.equal(gate.status, 1)
    for (const { file, line, rule, message } of planted) {
      assert.ok(gate.lines.includes(`${file}:${line}: ${rule}: ${message}`))
    }
  })

  test('a large tree is checked in well under two seconds', () => {
    const files: Files = {}
    const text = cleanTree['src/domain/money.ts']?.concat('// filler\n'.repeat(200)) ?? ''
    for (let i = 0; i < 500; i++)
      files[`src/domain/f${i}.ts`] = text.replace(`import { id } from './ids.ts'`, 'const id = 1')
    const root = writeTree(files)
    const started = performance.now()
    assert.deepEqual(checkLayers(root), [])
    assert.ok(performance.now() - started < 2000)
  })
})
