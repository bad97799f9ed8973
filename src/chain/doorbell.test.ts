import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Doorbell } from './doorbell.ts'

const never = new AbortController().signal

async function timed(wait: Promise<unknown>): Promise<number> {
  const start = performance.now()
  await wait
  return performance.now() - start
}

test('a ring ends the pause', async () => {
  const bell = new Doorbell()
  setTimeout(() => bell.ring(), 100)
  const tookMs = await timed(bell.wait(20_000, never))
  assert.ok(tookMs >= 90 && tookMs < 5_000, `${tookMs} ms`)
})

test('a ring before a pause ends the next pause, but only that one', async () => {
  const bell = new Doorbell()
  bell.ring()
  bell.ring()
  assert.ok((await timed(bell.wait(20_000, never))) < 5_000)
  assert.ok((await timed(bell.wait(300, never))) >= 290)
})

test('a wait returns when it first rang', async () => {
  const bell = new Doorbell()
  const before = Date.now()
  bell.ring()
  const rungBy = Date.now()
  await new Promise((resolve) => setTimeout(resolve, 20))
  bell.ring()
  const rungAt = (await bell.wait(20_000, never)) ?? Number.NaN
  assert.ok(rungAt >= before && rungAt <= rungBy, `${rungAt}`)
  assert.equal(await bell.wait(60, never), undefined)
})

test('without a ring the pause is as long as it would have been, and not longer for its own minimum', async () => {
  const bell = new Doorbell()
  for (const ms of [10, 120]) {
    const tookMs = await timed(bell.wait(ms, never))
    // Timers count from the loop's cached time, so a busy process sees them fire some milliseconds early.
    assert.ok(tookMs >= ms / 2 && tookMs < ms + 1_000, `${tookMs} ms`)
  }
})

test('constant ringing does not remove the pauses', async () => {
  const bell = new Doorbell()
  const ringing = setInterval(() => bell.ring(), 1)
  const tookMs = await timed(
    (async () => {
      for (let pauses = 0; pauses < 4; pauses++) await bell.wait(20_000, never)
    })(),
  )
  clearInterval(ringing)
  assert.ok(tookMs >= 190 && tookMs < 5_000, `${tookMs} ms`)
})

test('the end of the process ends the pause', async () => {
  const stop = new AbortController()
  setTimeout(() => stop.abort(), 20)
  assert.ok((await timed(new Doorbell().wait(20_000, stop.signal))) < 5_000)
})
