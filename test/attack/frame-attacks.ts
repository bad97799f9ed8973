import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { deflateRawSync, gzipSync } from 'node:zlib'
import { AS_EXPECTED, type Attack, addressOf, crowd, type Target } from './attack.ts'
import { CLOSE, frame, PING, RawSocket, TEXT } from './raw-socket.ts'

const open = (target: Target, index: number, headers?: Readonly<Record<string, string>>) =>
  RawSocket.upgrade(target.port, addressOf(target, index), headers)

/** Attackers come again after a while: without one, what is measured is how fast connections are taken. */
const pause = (): Promise<void> => sleep(300 + Math.random() * 500)

const CONTINUATION = 0x0
const MANY_FRAGMENTS = Buffer.concat(
  Array.from({ length: 2_000 }, () => frame(CONTINUATION, 'x', { fin: false })),
)
const FEW_FRAGMENTS = Buffer.concat([
  frame(TEXT, 'x', { fin: false }),
  ...Array.from({ length: 12 }, () => frame(CONTINUATION, 'x', { fin: false })),
  frame(PING, 'in between'),
])

const tinyFragments: Attack = {
  name: 'tiny fragments',
  must: ['closed 1008'],
  // A client that sends a frame byte by byte exceeds the size limit, or is too slow to authenticate within five seconds.
  may: ['closed 1009', 'closed 4401'],
  run: (target) =>
    crowd(target, 500, async (index, tally) => {
      const socket = await open(target, index)
      if (index % 50 === 0) {
        socket.write(frame(TEXT, '', { length: 60_000n }))
        while (socket.isOpen && socket.goodbye === undefined) {
          socket.write('x')
          await turn()
        }
      } else {
        // As much as may be kept without being a message, for a while; then far too much.
        socket.write(FEW_FRAGMENTS)
        await sleep(1_000)
        socket.write(MANY_FRAGMENTS)
      }
      tally.add(await socket.outcome)
      socket.destroy()
      await pause()
    }),
}

const NOISE = Buffer.alloc(256 * 1_024, 'x')
const HUGE: readonly Buffer[] = [
  frame(TEXT, NOISE),
  frame(TEXT, NOISE, { length: 65_537n }),
  frame(TEXT, NOISE, { length: 1n << 31n }),
  frame(TEXT, NOISE, { length: 1n << 62n }),
  Buffer.concat([
    frame(TEXT, NOISE.subarray(0, 40_000), { fin: false }),
    frame(CONTINUATION, NOISE.subarray(0, 40_000)),
  ]),
  // Small, but nobody has said a key yet.
  frame(TEXT, NOISE.subarray(0, 2_000)),
]

const hugeFrames: Attack = {
  name: 'huge frames',
  must: ['closed 1009'],
  run: (target) =>
    crowd(target, 60, async (index, tally, _endsAt, round) => {
      const socket = await open(target, index)
      socket.write(HUGE[(index + round) % HUGE.length] as Buffer)
      tally.add(await socket.outcome)
      socket.destroy()
      await pause()
    }),
}

const BOMB = Buffer.alloc(50 * 1_024 * 1_024)
const DEFLATED = deflateRawSync(BOMB)
const GZIPPED = gzipSync(BOMB).subarray(0, 30_000)

const deflateBombs: Attack = {
  name: 'deflate bombs',
  must: ['not negotiated', 'closed 1002', '400 malformed_request'],
  run: (target) =>
    crowd(target, 60, async (index, tally) => {
      const address = addressOf(target, index)
      if (index % 2 === 0) {
        const socket = await open(target, index, {
          'sec-websocket-extensions': 'permessage-deflate; client_max_window_bits',
        })
        tally.add(/extensions/i.test(socket.head) ? 'negotiated' : 'not negotiated')
        socket.write(frame(TEXT, DEFLATED.subarray(0, 60_000), { rsv1: true }))
        tally.add(await socket.outcome)
        socket.destroy()
      } else {
        const socket = await RawSocket.open(target.port, address)
        socket.write(
          [
            'POST /v2/tokens/price HTTP/1.1',
            `host: 127.0.0.1:${target.port}`,
            `x-api-key: ${target.apiKey}`,
            'content-type: application/json',
            'content-encoding: gzip',
            `content-length: ${GZIPPED.length}`,
            '\r\n',
          ].join('\r\n'),
        )
        socket.write(GZIPPED)
        tally.add(await socket.outcome)
        socket.destroy()
      }
      await pause()
    }),
}

const close = (code: number, reason: Buffer | string = ''): Buffer =>
  Buffer.concat([Buffer.of(code >> 8, code & 0xff), Buffer.from(reason)])
const PROTOCOL_ERROR = close(1002)
/** What is said for goodbye, and every byte of what must be answered: more could only be somebody's memory. */
const GOODBYES: readonly (readonly [Buffer, Buffer])[] = [
  [Buffer.alloc(0), Buffer.alloc(0)],
  [close(1000), close(1000)],
  [close(1000, 'so long'), close(1000, 'so long')],
  [close(3000, 'ä'.repeat(61)), close(3000, 'ä'.repeat(61))],
  [close(4999, 'x'.repeat(123)), close(4999, 'x'.repeat(123))],
  ...[0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65_535].map(
    (code) => [close(code, 'odd'), PROTOCOL_ERROR] as const,
  ),
  [Buffer.of(3), PROTOCOL_ERROR],
  [close(1000, 'x'.repeat(124)), PROTOCOL_ERROR],
  [close(1000, Buffer.of(0xc3, 0x28)), close(1007)],
  [close(1000, Buffer.of(0xed, 0xa0, 0x80)), close(1007)],
]

const oddGoodbyes: Attack = {
  name: 'odd goodbyes',
  must: [AS_EXPECTED],
  run: (target) =>
    crowd(target, 40, async (index, tally) => {
      for (const [said, expected] of GOODBYES) {
        const socket = await open(target, index)
        socket.write(frame(CLOSE, said))
        const outcome = await socket.outcome
        const isRight = socket.goodbye?.equals(expected) ?? false
        tally.add(
          isRight ? AS_EXPECTED : `${said.toString('hex')}: ${outcome} ${socket.goodbye?.toString('hex')}`,
        )
        socket.destroy()
        await sleep(50)
      }
      await pause()
    }),
}

export const FRAME_ATTACKS = [tinyFragments, hugeFrames, deflateBombs, oddGoodbyes]
