import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkNatsVersion } from './nats-version.ts'

const cases = [
  ['2.9.22', false, 'problem'],
  ['2.10.27', false, 'ok'],
  ['2.10.27', true, 'note'],
  ['2.15.1', true, 'ok'],
  ['3.0.0-beta.1', true, 'ok'],
  ['1.99.0', true, 'problem'],
] as const

for (const [version, isCluster, level] of cases)
  test(`NATS ${version}${isCluster ? ' in a cluster' : ''}: ${level}`, () => {
    const finding = checkNatsVersion(version, '127.0.0.1:4222', isCluster)
    assert.equal(finding.level, level)
    assert.ok(finding.text.startsWith(`version ${version}`))
  })
