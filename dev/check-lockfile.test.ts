import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { checkLockfile } from './check-lockfile.ts'

const ours = readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')

function changed(change: (packages: Record<string, Record<string, unknown>>) => void): string[] {
  const lockfile = JSON.parse(ours)
  change(lockfile.packages)
  return checkLockfile(JSON.stringify(lockfile))
}

test('our lockfile pins every package by its contents and names no host', () => {
  assert.deepEqual(checkLockfile(ours), [])
})

test('a package without integrity, a host, a missing binary and an exception without need are found', () => {
  assert.deepEqual(
    changed((packages) => delete packages['node_modules/ws']?.['integrity']),
    ['node_modules/ws: has no integrity'],
  )
  assert.deepEqual(
    changed((packages) =>
      Object.assign(packages['node_modules/ws'] ?? {}, { resolved: 'https://host.example/ws.tgz' }),
    ),
    ['node_modules/ws: names a host in resolved'],
  )
  assert.deepEqual(
    changed((packages) =>
      Object.assign(packages['node_modules/@biomejs/cli-win32-x64'] ?? {}, { integrity: 'sha512-x' }),
    ),
    ['@biomejs/cli-win32-x64: is an exception without need'],
  )
  assert.deepEqual(
    changed((packages) => delete packages['node_modules/litesvm-linux-x64-gnu']),
    ['node_modules/litesvm: litesvm-linux-x64-gnu is missing'],
  )
})
