import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Announcements } from './announcements.ts'

const POLL_MS = 1_000

/** Follows live: the log ends with block 100, of which the reader heard at 1,000 ms. */
function live(): Announcements {
  const announcements = new Announcements(POLL_MS)
  announcements.hear(100, 99, 0)
  announcements.of(100)
  announcements.hear(100, 100, 1_000)
  return announcements
}

test('a block counts from the poll that first reported it', () => {
  const announcements = live()
  announcements.hear(102, 100, 2_000)
  assert.equal(announcements.of(101), 2_000)
  // The reader is slow: the next poll reports two more while one is still open.
  announcements.hear(104, 101, 9_000)
  assert.deepEqual(
    [102, 103, 104].map((block) => announcements.of(block)),
    [2_000, 9_000, 9_000],
  )
})

test('a backfill is not announced, not even what the chain grows by meanwhile', () => {
  const announcements = new Announcements(POLL_MS)
  announcements.hear(1_000, 0, 0)
  assert.equal(announcements.of(500), undefined)
  // The node failed in between, so the head is polled again long before it is reached.
  announcements.hear(1_001, 500, 2_000)
  assert.deepEqual(
    [1_000, 1_001].map((block) => announcements.of(block)),
    [undefined, undefined],
  )
  announcements.hear(1_300, 1_001, 3_600_000)
  assert.equal(announcements.of(1_300), undefined)
  announcements.hear(1_301, 1_300, 3_605_000)
  assert.equal(announcements.of(1_301), 3_605_000)
})

test('a live reader that stalls is late, not silent', () => {
  const announcements = live()
  announcements.hear(101, 100, 2_000)
  announcements.hear(400, 100, 900_000)
  assert.equal(announcements.of(101), 2_000)
  assert.equal(announcements.of(400), 900_000)
})

test('blocks of another branch count from the poll that reported it', () => {
  const announcements = live()
  announcements.hear(100, 100, 50_000)
  assert.deepEqual(
    [98, 99, 100].map((block) => announcements.of(block)),
    [50_000, 50_000, 50_000],
  )
})

test('after a takeover, blocks count from when the standby first heard of them', () => {
  const announcements = new Announcements(POLL_MS, 7_000)
  announcements.hear(102, 100, 9_000)
  assert.equal(announcements.of(101), 7_000)
  announcements.hear(103, 102, 10_000)
  assert.equal(announcements.of(103), 10_000)
})

test('a long pause between polls does not keep a reader from being live', () => {
  const announcements = new Announcements(60_000)
  announcements.hear(100, 100, 0)
  announcements.hear(105, 100, 60_000)
  assert.equal(announcements.of(105), 60_000)
})
