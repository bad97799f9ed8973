import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const REPO = fileURLToPath(new URL('..', import.meta.url))
const CHECKED = [
  ...['src', 'test', 'dev', 'bench', 'clients', 'examples', 'web'],
  ...['package.json', 'package-lock.json', 'biome.json', 'tsconfig.json'],
]

let copy: string

before(() => {
  copy = mkdtempSync(join(tmpdir(), 'chaintape-check-'))
  const isOurs = (path: string): boolean => !/\/dev\/\.(tools|stacks)/.test(path)
  for (const name of CHECKED) cpSync(join(REPO, name), join(copy, name), { recursive: true, filter: isOurs })
  symlinkSync(join(REPO, 'node_modules'), join(copy, 'node_modules'))
})

after(() => rmSync(copy, { recursive: true, force: true }))

/** Runs a program in the copy of the sources. */
function run(command: string, ...args: string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: copy, encoding: 'utf8' })
  return { status, output: `${stdout}${stderr}` }
}

/** Formatter and compiler take half a minute: they run once, over sources that differ in one line from those as they are. */
// Beside the other unit tests on two busy cores it has taken two minutes and a half.
test('npm run check passes on the sources as they are, and fails once one import is wrong', {
  timeout: 400_000,
}, () => {
  const { scripts } = JSON.parse(readFileSync(join(copy, 'package.json'), 'utf8')) as {
    scripts: { check: string }
  }
  const steps = scripts.check.split(' && ')
  const wrongAt = steps.indexOf('node dev/check-layers.ts')
  const ids = join(copy, 'src/domain/ids.ts')
  const before = readFileSync(ids, 'utf8')
  // Well-formed and well-typed: only the layers are violated.
  appendFileSync(ids, "\nexport type { Logger } from '../lib/logger.ts'\n")
  const wrong = run('npm', 'run', '--silent', 'check')
  assert.notEqual(wrong.status, 0)
  assert.match(wrong.output, /src\/domain\/ids\.ts:\d+: .*lib/)
  // The steps before it have passed, because a step that fails is the last one.
  assert.ok(wrongAt > 0)
  writeFileSync(ids, before)
  const clean = run('sh', '-c', steps.slice(wrongAt).join(' && '))
  assert.equal(clean.status, 0, clean.output)
})
