import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { MessageMemory } from './message-memory.ts'

const MEGABYTE = 1_024 * 1_024

/** Some fill a block, some have memory of their own. */
const length = fc.oneof(
  fc.nat(100),
  fc.integer({ min: MEGABYTE / 2, max: MEGABYTE }),
  fc.integer({ min: MEGABYTE + 1, max: 5 * MEGABYTE }),
)
const step = fc.record({ lengths: fc.array(length, { maxLength: 6 }), forgotten: fc.nat(8) })

test('what is kept stays as it is until it is forgotten, oldest first', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const memory = new MessageMemory()
      const kept: { readonly copy: Uint8Array; readonly filler: number; readonly length: number }[] = []
      let filler = 0
      for (const { lengths, forgotten } of steps) {
        for (const each of lengths) {
          filler = (filler + 1) % 256
          kept.push({ copy: memory.keep(new Uint8Array(each).fill(filler)), filler, length: each })
        }
        for (let nth = 0; nth < forgotten && kept.length > 0; nth++) {
          kept.shift()
          memory.forgetOldest()
        }
        for (const each of kept) {
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

test('the memory of what is forgotten is used again', () => {
  const memory = new MessageMemory()
  const buffers = new Set<ArrayBufferLike>()
  for (let nth = 0; nth < 200; nth++) {
    buffers.add(memory.keep(new Uint8Array(MEGABYTE)).buffer)
    if (nth >= 10) memory.forgetOldest()
  }
  assert.ok(buffers.size <= 6, `${buffers.size} blocks`)
})

test('it keeps a copy, and forgets nothing that it does not keep', () => {
  const memory = new MessageMemory()
  const message = Uint8Array.of(1, 2, 3)
  const copy = memory.keep(message)
  message.fill(9)
  assert.deepEqual([...copy], [1, 2, 3])
  memory.forgetOldest()
  assert.throws(() => memory.forgetOldest(), RangeError)
})
