import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const folder = resolve(import.meta.dirname, '../../golden/expected')
const UPDATE = 'CHAINTAPE_UPDATE_GOLDEN=1'

/**
 * Compares lines with a committed file, exactly. After a deliberate change of numbers or formats, `command` with the
 * variable writes the file anew; review its diff like any other.
 */
export function assertExpected(
  name: string,
  lines: readonly string[],
  command = 'npm run test:golden -- engine',
): void {
  const accept = `${UPDATE} ${command}`
  const file = join(folder, name)
  if (process.env['CHAINTAPE_UPDATE_GOLDEN'] === '1') {
    writeFileSync(file, `${lines.join('\n')}\n`)
    return
  }
  assert.ok(existsSync(file), `${file} is missing: ${accept}`)
  const expected = readFileSync(file, 'utf8').trimEnd().split('\n')
  for (const [at, line] of lines.entries()) {
    assert.equal(line, expected[at], `${name}, line ${at + 1} (to accept: ${accept})`)
  }
  assert.equal(lines.length, expected.length, `lines of ${name} (to accept: ${accept})`)
}
