import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const folder = resolve(import.meta.dirname, '../../golden/expected')
const COMMAND = 'CHAINTAPE_UPDATE_GOLDEN=1 npm run test:golden -- engine'

/**
 * Compares lines with a committed file, exactly. After a change that is meant to change numbers, the command above
 * writes the files anew; the diff is then read like any other.
 */
export function assertExpected(name: string, lines: readonly string[]): void {
  const file = join(folder, name)
  if (process.env['CHAINTAPE_UPDATE_GOLDEN'] === '1') {
    writeFileSync(file, `${lines.join('\n')}\n`)
    return
  }
  assert.ok(existsSync(file), `${file} is missing: ${COMMAND}`)
  const expected = readFileSync(file, 'utf8').trimEnd().split('\n')
  for (const [at, line] of lines.entries()) {
    assert.equal(line, expected[at], `${name}, line ${at + 1} (to accept: ${COMMAND})`)
  }
  assert.equal(lines.length, expected.length, `lines of ${name} (to accept: ${COMMAND})`)
}
