import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { MessageArena } from './message-arena.ts'

const MEGABYTE = 1_024 * 1_024

/** Some fill a block, some have a block of their own. */
const length = fc.oneof(
  fc.nat(100),
  fc.integer({ min: MEGABYTE / 2, max: MEGABYTE }),
  fc.integer({ min: MEGABYTE + 1, max: 5 * MEGABYTE }),
)
const step = fc.record({ lengths: fc.array(length, { maxLength: 6 }), freed: fc.nat(8) })

test('a message is unchanged until it is freed, oldest first', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const arena = new MessageArena(true)
      const live: { readonly copy: Uint8Array; readonly filler: number; readonly length: number }[] = []
      let filler = 0
      for (const { lengths, freed } of steps) {
        for (const each of lengths) {
          filler = (filler + 1) % 256
          live.push({ copy: arena.copy(new Uint8Array(each).fill(filler)), filler, length: each })
        }
        for (let nth = 0; nth < freed && live.length > 0; nth++) {
          live.shift()
          arena.freeOldest()
        }
        for (const each of live) {
          assert.equal(each.copy.length, each.length)
          assert.ok(
            [0, each.length >> 1, each.length - 1].every(
              (at) => (each.copy[at] ?? each.filler) === each.filler,
            ),
          )
        }
      }
    }),
    { numRuns: 60 },
  )
})

test('freed blocks are reused', () => {
  const arena = new MessageArena(true)
  const buffers = new Set<ArrayBufferLike>()
  for (let nth = 0; nth < 200; nth++) {
    buffers.add(arena.copy(new Uint8Array(MEGABYTE)).buffer)
    if (nth >= 10) arena.freeOldest()
  }
  assert.ok(buffers.size <= 6, `${buffers.size} blocks`)
})

test('a freed message is poisoned, and nothing else can be freed', () => {
  const arena = new MessageArena(true)
  const message = Uint8Array.of(1, 2, 3)
  const copy = arena.copy(message)
  message.fill(9)
  assert.deepEqual([...copy], [1, 2, 3])
  arena.freeOldest()
  assert.deepEqual([...copy], [255, 255, 255])
  assert.throws(() => arena.freeOldest(), RangeError)
})
