import assert from 'node:assert/strict'
import test from 'node:test'
import { pino } from 'pino'
import { formatApiKey } from '../../../domain/api-key.ts'
import { DEFAULT_WS_LIMITS } from '../../ws/limits.ts'
import { digestOf, encodeKeyRecord, type KeyRecord } from './key-record.ts'
import { createKeyRing, type Grant } from './key-ring.ts'

const [ONE, TWO, THREE] = [1, 2, 3].map((byte) => formatApiKey(new Uint8Array(32).fill(byte))) as [
  string,
  string,
  string,
]
const ID = 'abcdefghijkl'

function setUp() {
  const clock = { seconds: 1_000 }
  const changed: string[] = []
  const lines: string[] = []
  const plan = {
    ...{ name: 'default', requestsPerSecond: 1, burst: 1, cuPerMonth: 1, historyReads: 1 },
    sockets: { ...DEFAULT_WS_LIMITS, maxConnections: 1 },
  }
  const ring = createKeyRing({
    plans: new Map([[plan.name, plan]]),
    onChange: (keyId) => changed.push(keyId),
    logger: pino({ level: 'info' }, { write: (line: string) => void lines.push(line) }),
    now: () => clock.seconds * 1_000,
  })
  let seq = 0
  const apply = (overrides: Partial<KeyRecord>, ...keys: (string | [string, number])[]): void => {
    const secrets = keys.map((key) => {
      const [apiKey, until] = typeof key === 'string' ? [key] : key
      const sha256 = digestOf(apiKey)
      return until === undefined ? { sha256 } : { sha256, until }
    })
    const record = { id: ID, name: 'x', plan: 'default', created_at: 0, secrets, ...overrides }
    ring.apply({ name: record.id, time: 0, seq: ++seq, body: encodeKeyRecord(record) })
  }
  const outcome = (given: unknown): string => {
    const checked = ring.check(given)
    return typeof checked === 'string' ? checked : checked.keyId
  }
  return { clock, changed, lines, ring, apply, outcome, plan }
}

test('only what was given out is a key', () => {
  const { apply, outcome, ring, plan } = setUp()
  apply({}, ONE)
  assert.equal(outcome(ONE), ID)
  assert.deepEqual((ring.check(ONE) as Grant).plan, plan)
  for (const given of [undefined, '', 'x', TWO, `${ONE} `, ONE.toLowerCase(), [ONE], 7, digestOf(ONE)]) {
    assert.equal(outcome(given), 'unknown')
  }
})

test('a key ends when it expires, and at once when it is revoked', () => {
  const { apply, outcome, ring, clock } = setUp()
  apply({ expires_at: 1_010 }, ONE)
  const grant = ring.check(ONE) as Grant
  clock.seconds = 1_009.999
  assert.deepEqual([outcome(ONE), grant.isValid()], [ID, true])
  clock.seconds = 1_010
  assert.deepEqual([outcome(ONE), grant.isValid()], ['ended', false])
  apply({}, ONE)
  assert.deepEqual([outcome(ONE), grant.isValid()], [ID, true])
  apply({ revoked_at: 1_010 }, ONE)
  assert.deepEqual([outcome(ONE), grant.isValid()], ['ended', false])
})

test('a former secret is good until its grace ends, and forgotten with the next one', () => {
  const { apply, outcome, ring, clock } = setUp()
  apply({}, ONE)
  const grant = ring.check(ONE) as Grant
  apply({}, TWO, [ONE, 1_005])
  assert.deepEqual([outcome(ONE), outcome(TWO), grant.isValid()], [ID, ID, true])
  clock.seconds = 1_005
  assert.deepEqual([outcome(ONE), outcome(TWO), grant.isValid()], ['ended', ID, false])
  apply({}, THREE, [TWO, 1_010])
  assert.deepEqual([outcome(ONE), outcome(TWO), outcome(THREE)], ['unknown', ID, ID])
})

test('a key of an unknown plan is refused and logged; so is an unreadable record', () => {
  const { apply, outcome, ring, lines, changed } = setUp()
  apply({ plan: 'gone' }, ONE)
  assert.equal(outcome(ONE), 'ended')
  ring.apply({ name: 'other', time: 0, seq: 9, body: Buffer.from('{"sha256":"f00d"}') })
  ring.apply({
    name: 'another',
    time: 0,
    seq: 10,
    body: encodeKeyRecord({ id: ID, name: '', plan: '', created_at: 0, secrets: [] }),
  })
  assert.equal(lines.length, 3)
  assert.match(lines[0] ?? '', /"plan":"gone".*API key has an unknown plan; key refused/)
  assert.match(lines[1] ?? '', /"code":"message_unreadable".*"key_id":"other"/)
  assert.ok(!lines.join('').includes('f00d') && !lines.join('').includes(digestOf(ONE)))
  assert.deepEqual([changed, ring.size], [[ID], 1])
})
