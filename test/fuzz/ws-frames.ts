import type { Random } from './random.ts'

/** A client's frames, as RFC 6455 wants them, or not. */

export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

export type FrameParts = {
  readonly opcode: number
  readonly payload: Uint8Array
  readonly isLast?: boolean
  readonly reservedBits?: number
  /** Four bytes; undefined: not masked. */
  readonly mask: Uint8Array | undefined
  /** As many bytes more are spent on the length, whether it needs them or not. */
  readonly lengthBytes?: 0 | 2 | 8
  /** What the frame says of its length, if that is not so. */
  readonly claimedLength?: bigint
}

/** Fewer than the gateway takes of one message. */
const MAX_FRAGMENTS = 12
const MAX_CONTROL_BYTES = 125
const NO_FRAGMENTS_MORE = 40

export function encodeFrame(parts: FrameParts): Buffer {
  const { opcode, payload, isLast = true, reservedBits = 0, mask, claimedLength } = parts
  const claimed = claimedLength ?? BigInt(payload.length)
  const needed = claimed < 126n ? 0 : claimed < 0x1_0000n ? 2 : 8
  const lengthBytes = Math.max(parts.lengthBytes ?? 0, needed)
  const header = Buffer.alloc(2 + lengthBytes)
  header[0] = (isLast ? 0x80 : 0) | (reservedBits << 4) | opcode
  const maskBit = mask === undefined ? 0 : 0x80
  header[1] = maskBit | (lengthBytes === 0 ? Number(claimed) : lengthBytes === 2 ? 126 : 127)
  if (lengthBytes === 2) header.writeUInt16BE(Number(claimed), 2)
  else if (lengthBytes === 8) header.writeBigUInt64BE(claimed, 2)
  if (mask === undefined) return Buffer.concat([header, payload])
  const hidden = Buffer.from(payload)
  for (let at = 0; at < hidden.length; at++) hidden[at] = (hidden[at] as number) ^ (mask[at & 3] as number)
  return Buffer.concat([header, mask, hidden])
}

/** A message in one frame or several, with control frames in between: always as the standard has it. */
export function encodeMessage(random: Random, payload: Buffer, isBinary: boolean): Buffer {
  const opcode = isBinary ? OPCODE.binary : OPCODE.text
  if (random.chance(0.85)) return encodeFrame({ opcode, payload, mask: someMask(random) })
  const cuts = Array.from({ length: random.between(1, MAX_FRAGMENTS - 1) }, () =>
    random.below(payload.length + 1),
  ).sort((a, b) => a - b)
  const pieces = [0, ...cuts].map((start, index) => payload.subarray(start, cuts[index]))
  return Buffer.concat(
    pieces.flatMap((piece, index) => {
      const frame = encodeFrame({
        opcode: index === 0 ? opcode : OPCODE.continuation,
        payload: piece,
        isLast: index === pieces.length - 1,
        mask: someMask(random),
      })
      return random.chance(0.2) ? [controlFrame(random), frame] : [frame]
    }),
  )
}

/** A ping or a pong that nobody asked for. */
export function controlFrame(random: Random): Buffer {
  const payload = random.bytes(random.pick([0, 1, random.below(MAX_CONTROL_BYTES), MAX_CONTROL_BYTES]))
  const opcode = random.chance(0.5) ? OPCODE.ping : OPCODE.pong
  return encodeFrame({ opcode, payload, mask: someMask(random) })
}

export function closeFrame(random: Random, code: number | undefined): Buffer {
  const payload = code === undefined ? Buffer.alloc(0) : closePayload(code, random.pick(['', 'bye', '💩']))
  return encodeFrame({ opcode: OPCODE.close, payload, mask: someMask(random) })
}

export type Violation = { readonly bytes: Buffer; readonly code: number }

/** What the standard forbids, and the code it has to be answered with. */
export function violation(random: Random): Violation {
  const mask = someMask(random)
  const payload = random.bytes(random.below(20))
  const text = Buffer.from('{"method":"ping"}')
  const { binary, close, continuation, ping, text: textCode } = OPCODE
  const start = encodeFrame({ opcode: textCode, payload: text, isLast: false, mask })
  const invalidText = Buffer.from(
    random.pick(['ff', 'c0af', 'eda080', 'f4908080', 'e282', 'f8a1a1a1a1', '7b22ff227d', '80']),
    'hex',
  )
  const kinds: readonly (() => Violation)[] = [
    () => wrong(encodeFrame({ opcode: textCode, payload: text, reservedBits: random.between(1, 7), mask })),
    () => wrong(encodeFrame({ opcode: random.pick([3, 4, 5, 6, 7, 11, 12, 13, 14, 15]), payload, mask })),
    () =>
      wrong(encodeFrame({ opcode: random.pick([textCode, binary, ping, close]), payload, mask: undefined })),
    () => wrong(encodeFrame({ opcode: random.pick([close, ping]), payload, isLast: false, mask })),
    () => wrong(encodeFrame({ opcode: ping, payload: random.bytes(random.between(126, 400)), mask })),
    () => wrong(encodeFrame({ opcode: continuation, payload, mask })),
    () => wrong(Buffer.concat([start, encodeFrame({ opcode: textCode, payload: text, mask })])),
    () => wrong(encodeFrame({ opcode: close, payload: random.bytes(1), mask })),
    () => wrong(encodeFrame({ opcode: close, payload: closePayload(forbiddenCode(random), ''), mask })),
    () => ({ code: 1007, bytes: encodeFrame({ opcode: textCode, payload: invalidText, mask }) }),
    () => ({
      code: 1007,
      bytes: encodeFrame({
        opcode: close,
        payload: Buffer.concat([closePayload(1000, ''), invalidText]),
        mask,
      }),
    }),
    () => ({
      code: 1009,
      bytes: encodeFrame({ opcode: textCode, payload, mask, claimedLength: hugeLength(random) }),
    }),
    () => ({
      code: 1008,
      bytes: Buffer.concat([
        start,
        ...Array.from({ length: NO_FRAGMENTS_MORE }, () =>
          encodeFrame({ opcode: continuation, payload, isLast: false, mask }),
        ),
      ]),
    }),
  ]
  return random.pick(kinds)()
}

function wrong(bytes: Buffer): Violation {
  return { bytes, code: 1002 }
}

function someMask(random: Random): Uint8Array {
  return random.chance(0.1) ? new Uint8Array(4) : random.bytes(4)
}

function closePayload(code: number, reason: string): Buffer {
  const payload = Buffer.alloc(2)
  payload.writeUInt16BE(code)
  return Buffer.concat([payload, Buffer.from(reason)])
}

function forbiddenCode(random: Random): number {
  return random.pick([0, 1, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65_535])
}

function hugeLength(random: Random): bigint {
  return random.pick([2n ** 20n, 2n ** 31n, 2n ** 32n, 2n ** 53n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n])
}
