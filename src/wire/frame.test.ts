import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { bytes, damaged } from '../../test/support/arbitraries/value-arbitraries.ts'
import { ChaintapeError } from '../domain/errors.ts'
import {
  decodeFrame,
  encodeFrame,
  FIRST_LINK,
  FRAME_OVERHEAD_BYTES,
  frameChecksum,
  MessageAssembler,
  splitMessage,
} from './frame.ts'

const link = fc.nat(0xffff_ffff)
const limit = fc.integer({ min: FRAME_OVERHEAD_BYTES + 1, max: FRAME_OVERHEAD_BYTES + 200 })
/** Long enough to be compressed. */
const repeated = bytes.map((each) => Uint8Array.from(Buffer.concat(Array.from({ length: 100 }, () => each))))
const messages = fc.array(fc.oneof(bytes, repeated), { minLength: 1, maxLength: 6 })

function coded(error: unknown): boolean {
  return error instanceof ChaintapeError && ['log_damaged', 'message_unreadable'].includes(error.code)
}

const damage = (message: string) => ({ code: 'log_damaged', message })

/** The frames of several messages, linked as in one log. */
function logOf(bodies: readonly Uint8Array[], maxBytes: number): Uint8Array[][] {
  let previous = FIRST_LINK
  return bodies.map((body) => {
    const frames = splitMessage(body, previous, maxBytes)
    previous = frameChecksum(frames.at(-1) as Uint8Array)
    return frames
  })
}

function assemble(frames: readonly Uint8Array[], assembler: MessageAssembler): Uint8Array[] {
  return frames.flatMap((frame) => {
    const whole = assembler.push(frame)
    return whole === undefined ? [] : [Uint8Array.from(whole)]
  })
}

test('a frame survives the wire', () => {
  fc.assert(
    fc.property(
      link,
      fc.nat(1_000),
      fc.nat(1_000),
      bytes,
      fc.boolean(),
      (previous, part, more, body, isCompressed) => {
        const parts = part + 1 + more
        const written = encodeFrame({ link: previous, part, parts, body, isCompressed })
        assert.deepEqual(decodeFrame(written), {
          link: previous,
          part,
          parts,
          body,
          isCompressed,
          checksum: frameChecksum(written),
        })
        assert.ok(written.length <= body.length + FRAME_OVERHEAD_BYTES)
      },
    ),
  )
  const largest = { link: 0xffff_ffff, part: Number.MAX_SAFE_INTEGER - 1, parts: Number.MAX_SAFE_INTEGER }
  assert.ok(
    encodeFrame({ ...largest, body: new Uint8Array(), isCompressed: true }).length <= FRAME_OVERHEAD_BYTES,
  )
})

test('messages of any size, split at any limit, are reassembled in order', () => {
  fc.assert(
    fc.property(messages, limit, fc.boolean(), (bodies, maxBytes, isLinkKnown) => {
      const frames = logOf(bodies, maxBytes).flat()
      for (const frame of frames) assert.ok(frame.length <= maxBytes)
      const assembler = isLinkKnown ? new MessageAssembler(FIRST_LINK) : new MessageAssembler()
      assert.deepEqual(assemble(frames, assembler), bodies)
      assert.equal(assembler.link, frameChecksum(frames.at(-1) as Uint8Array))
    }),
  )
})

test('a message takes no more frames than it needs', () => {
  const room = 100
  const counts = [0, 1, room, room + 1, 2 * room, 2 * room + 1].map(
    (size) => splitMessage(new Uint8Array(size), FIRST_LINK, room + FRAME_OVERHEAD_BYTES).length,
  )
  assert.deepEqual(counts, [1, 1, 1, 2, 2, 3])
  assert.throws(() => splitMessage(new Uint8Array(1), FIRST_LINK, FRAME_OVERHEAD_BYTES), RangeError)
})

test('a message is compressed if that makes it smaller', () => {
  const sizeOf = (message: Uint8Array): number =>
    splitMessage(message, FIRST_LINK, 1_000_000).reduce((sum, { length }) => sum + length, 0)
  const random = randomBytes(10_000)
  assert.ok(sizeOf(Buffer.concat([random, random])) < 11_000)
  assert.ok(sizeOf(random) <= random.length + FRAME_OVERHEAD_BYTES)
  assert.ok(sizeOf(Buffer.alloc(1_000)) > 1_000)
})

test('a body that cannot be decompressed, or exceeds the limit, is damage', () => {
  const push = (body: Uint8Array): unknown =>
    new MessageAssembler().push(
      encodeFrame({ link: FIRST_LINK, part: 0, parts: 1, body, isCompressed: true }),
    )
  fc.assert(fc.property(bytes, (noise) => assert.throws(() => push(noise), coded)))
  const bomb = zstdCompressSync(Buffer.alloc(256 * 1024 * 1024 + 1))
  assert.throws(() => push(bomb), { code: 'log_damaged', message: /cannot be decompressed/ })
})

test('every flipped bit is detected', () => {
  fc.assert(
    fc.property(bytes, link, (body, previous) => {
      const frame = encodeFrame({ link: previous, part: 0, parts: 1, body, isCompressed: false })
      for (let bit = 0; bit < frame.length * 8; bit++) {
        const at = bit >> 3
        frame[at] = (frame[at] as number) ^ (1 << (bit & 7))
        assert.throws(() => decodeFrame(frame), damage('checksum does not match'))
        frame[at] = (frame[at] as number) ^ (1 << (bit & 7))
      }
      decodeFrame(frame)
    }),
    { numRuns: 10 },
  )
})

test('a frame truncated anywhere is detected', () => {
  fc.assert(
    fc.property(bytes, (body) => {
      const frame = encodeFrame({ link: FIRST_LINK, part: 0, parts: 1, body, isCompressed: false })
      for (let length = 0; length < frame.length; length++) {
        assert.throws(() => decodeFrame(frame.subarray(0, length)), coded)
        assert.throws(() => decodeFrame(frame.subarray(frame.length - length)), coded)
      }
    }),
    { numRuns: 20 },
  )
})

test('a lost, repeated or swapped frame is detected by the next link', () => {
  fc.assert(
    fc.property(
      messages,
      limit,
      fc.nat(),
      fc.constantFrom('lose', 'repeat', 'swap'),
      (bodies, maxBytes, place, how) => {
        const frames = logOf([...bodies, Uint8Array.of(1)], maxBytes).flat()
        const at = place % (frames.length - 1)
        const [one, next] = frames.slice(at, at + 2) as [Uint8Array, Uint8Array]
        const wrong = { lose: [next], repeat: [one, one, next], swap: [next, one] }[how]
        const seen = [...frames.slice(0, at), ...wrong, ...frames.slice(at + 2)]
        assert.throws(
          () => assemble(seen, new MessageAssembler(FIRST_LINK)),
          damage('frame does not follow the one before it'),
        )
      },
    ),
  )
})

test('a rewritten history is detected by a consumer with an earlier checksum', () => {
  const [old] = logOf([Uint8Array.of(1)], 100).flat() as [Uint8Array]
  const anew = logOf([Uint8Array.of(2), Uint8Array.of(3)], 100).flat() as [Uint8Array, Uint8Array]
  const assembler = new MessageAssembler(frameChecksum(old))
  assert.throws(() => assembler.push(anew[1]), damage('frame does not follow the one before it'))
})

test('a message left incomplete by its writer is dropped, and the next one counts', () => {
  fc.assert(
    fc.property(messages, bytes, messages, limit, fc.nat(), (before, lost, after, maxBytes, place) => {
      const started = logOf([...before, lost], maxBytes)
      const unfinished = (started.pop() as Uint8Array[]).slice(0, -1)
      const kept = unfinished.slice(0, unfinished.length === 0 ? 0 : 1 + (place % unfinished.length))
      const frames = [...started.flat(), ...kept]
      let previous = frameChecksum(frames.at(-1) as Uint8Array)
      for (const body of after) {
        frames.push(...splitMessage(body, previous, maxBytes))
        previous = frameChecksum(frames.at(-1) as Uint8Array)
      }
      assert.deepEqual(assemble(frames, new MessageAssembler(FIRST_LINK)), [...before, ...after])
    }),
  )
})

test('a part that does not belong to the message is refused', () => {
  const body = Uint8Array.of(1)
  const first = encodeFrame({ link: FIRST_LINK, part: 0, parts: 3, body, isCompressed: false })
  const after = frameChecksum(first)
  const third = encodeFrame({ link: after, part: 2, parts: 3, body, isCompressed: false })
  const otherMessage = encodeFrame({ link: after, part: 1, parts: 2, body, isCompressed: false })

  assert.throws(() => new MessageAssembler().push(third), damage('part 2 follows 0 parts'))
  assert.throws(() => assemble([first, third], new MessageAssembler()), damage('part 2 follows 1 parts'))
  assert.throws(
    () => assemble([first, otherMessage], new MessageAssembler()),
    damage('part 1 of 2 follows a message of 3 parts'),
  )
  assert.throws(
    () => decodeFrame(encodeFrame({ link: FIRST_LINK, part: 1, parts: 1, body, isCompressed: false })),
    damage('part 1 of 1'),
  )
})

test('a refused frame leaves the assembler unchanged', () => {
  const [first, second] = logOf([Uint8Array.of(1), Uint8Array.of(2)], 100).flat() as [Uint8Array, Uint8Array]
  const assembler = new MessageAssembler(FIRST_LINK)
  assert.throws(() => assembler.push(second), coded)
  assert.throws(() => assembler.push(first.subarray(1)), coded)
  assert.deepEqual(assemble([first, second], assembler), [Uint8Array.of(1), Uint8Array.of(2)])
})

test('noise and damage are refused with a code', () => {
  fc.assert(fc.property(bytes, (noise) => assert.throws(() => decodeFrame(noise), coded)))
  const frame = fc
    .tuple(link, bytes)
    .map(([previous, body]) => encodeFrame({ link: previous, part: 0, parts: 1, body, isCompressed: false }))
  fc.assert(
    fc.property(damaged(frame), (wrong) => {
      try {
        decodeFrame(wrong)
      } catch (error) {
        assert.ok(coded(error), String(error))
      }
    }),
    { numRuns: 500 },
  )
})
