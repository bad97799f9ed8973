import assert from 'node:assert/strict'
import test from 'node:test'
import { constants, inflateRawSync } from 'node:zlib'
import fc from 'fast-check'
import { originOf, readFrames } from '../../../../test/support/rigs/fake-session.ts'
import { PushEvent } from './push-event.ts'

const MESSAGE_TAIL = Buffer.from([0, 0, 0xff, 0xff])

function pushOf(build: () => object): PushEvent {
  const place = { chain: 'eth', seq: 1, origin: originOf({ seq: 1 }), published: 1 }
  return new PushEvent({ topic: 'tx', place, isState: false, sentTime: 5, build }, 'document')
}

/** As a client does it: one message, in a context of its own. */
function inflated(frame: Buffer): string {
  assert.equal(frame[0], 0xc1)
  const short = frame[1] as number
  const header = short < 126 ? 2 : short === 126 ? 4 : 10
  const message = Buffer.concat([frame.subarray(header), MESSAGE_TAIL])
  return inflateRawSync(message, { finishFlush: constants.Z_SYNC_FLUSH }).toString()
}

test('a compressed push inflates to the same text', () => {
  const word = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
  const result = fc.tuple(word, fc.integer({ min: 300, max: 5_000 })).map(([text, times]) => {
    return { text: text.repeat(times), random: text }
  })
  fc.assert(
    fc.property(result, fc.nat(), (built, id) => {
      const push = pushOf(() => built)
      const [plain] = readFrames(push.frame(id))
      const frame = push.frame(id, true)
      assert.equal(inflated(frame), plain)
      assert.ok(frame.length < push.frame(id).length)
      const [numbered] = readFrames(push.numberedFrame(id, 3, 'c1.x'))
      assert.equal(inflated(push.numberedFrame(id, 3, 'c1.x', true)), numbered)
    }),
    { numRuns: 100 },
  )
})

test('it is compressed once for all receivers, and those with the same id share its frame', () => {
  let builds = 0
  const push = pushOf(() => ({ nth: ++builds, more: 'x'.repeat(1_000) }))
  const frames = [1, 2, 1].map((id) => push.frame(id, true))
  assert.equal(frames[0], frames[2])
  assert.equal(builds, 1)
  push.evictFrames()
  assert.notEqual(push.frame(1, true), frames[0])
  assert.deepEqual(push.frame(1, true), frames[0])
})

test('a push is encoded when it is made: later changes of its parts do not reach it', () => {
  const built = { price: 1 }
  const push = pushOf(() => built)
  built.price = 2
  assert.match(push.frame(1).toString(), /"price":1/)
})

test('small pushes are not compressed', () => {
  const push = pushOf(() => ({ a: 1 }))
  assert.equal(push.frame(1, true), push.frame(1))
  assert.deepEqual(push.numberedFrame(1, 1, 'c', true), push.numberedFrame(1, 1, 'c'))
})
