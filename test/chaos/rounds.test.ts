import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drawRounds } from './rounds.ts'
import { namesOf } from './storm.ts'
import { notAmong } from './strikes.ts'

const drawn = (kills: number, seed: number) => [...drawRounds(kills, seed)]
const described = (kills: number, seed: number): string[] =>
  drawn(kills, seed).map(({ strikes, delayMs, pauseMs }) => `${namesOf(strikes)} ${delayMs} ${pauseMs}`)

test('a seed gives the same faults in the same order, and a longer run begins like a shorter one', () => {
  assert.deepEqual(described(100, 1), described(100, 1))
  assert.notDeepEqual(described(100, 1), described(100, 2))
  const short = described(50, 1)
  assert.deepEqual(short.slice(0, -1), described(100, 1).slice(0, short.length - 1))
})

test('as many processes are killed as asked for; no two faults at a time have one victim', () => {
  for (let seed = 1; seed <= 50; seed++) {
    const rounds = drawn(40, seed)
    assert.equal(rounds.flatMap(({ strikes }) => strikes.filter(({ isKill }) => isKill)).length, 40)
    for (const { strikes } of rounds)
      assert.equal(new Set(strikes.map(({ victim }) => victim)).size, strikes.length)
  }
})

test('a long run has every kind of fault, and forks of up to 250 blocks', () => {
  const strikes = drawn(1_000, 1).flatMap((round) => round.strikes)
  const kinds = new Set(strikes.map(({ kind }) => kind))
  assert.equal([...kinds].filter((kind) => kind.startsWith('kill')).length, 12)
  for (const kind of ['fork', 'clock', 'disk', 'cut (reset)', 'cut (stalled)', 'partition'])
    assert.ok(kinds.has(kind), kind)
  assert.deepEqual(notAmong(strikes), [])
  const depths = strikes.flatMap(({ name }) => /^fork of (\d+)/.exec(name)?.[1] ?? []).map(Number)
  assert.equal(Math.max(...depths), 250)
})
