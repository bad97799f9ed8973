import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const repo = new URL('..', import.meta.url)
const page = readFileSync(new URL('docs/threat-model.md', repo), 'utf8')
const { scripts } = JSON.parse(readFileSync(new URL('package.json', repo), 'utf8')) as {
  scripts: Record<string, string>
}
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| ---') && !line.startsWith('| Input'))

test('every row of the threat model names a test or command that exists', () => {
  assert.ok(rows.length > 20)
  for (const row of rows) {
    const proofs = [...(row.split('|').at(-2) ?? '').matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '')
    assert.ok(proofs.length > 0, `no test is named: ${row}`)
    for (const proof of proofs) assert.ok(isThere(proof), `${proof} does not exist: ${row}`)
  }
})

function isThere(proof: string): boolean {
  const script = /^npm run (\S+)/.exec(proof)?.[1]
  if (script !== undefined) return script in scripts
  return proof.endsWith('.test.ts') && existsSync(fileURLToPath(new URL(proof, repo)))
}
