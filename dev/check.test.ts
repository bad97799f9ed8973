import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { appendFileSync, cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const REPO = fileURLToPath(new URL('..', import.meta.url))
const CHECKED = [
  ...['src', 'test', 'dev', 'bench'],
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

function check(): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', 'check'], {
    cwd: copy,
    encoding: 'utf8',
  })
  return { status, output: `${stdout}${stderr}` }
}

test('npm run check passes on the sources as they are, and fails once one import is wrong', () => {
  const clean = check()
  assert.equal(clean.status, 0, clean.output)
  // Well-formed and well-typed: only the layers are violated.
  appendFileSync(join(copy, 'src/domain/ids.ts'), "\nexport type { Logger } from '../lib/logger.ts'\n")
  const wrong = check()
  assert.notEqual(wrong.status, 0)
  assert.match(wrong.output, /src\/domain\/ids\.ts:\d+: .*lib/)
})
