import { setTimeout as sleep } from 'node:timers/promises'
import { AS_EXPECTED, type Attack, addressOf, crowd, scaled, Tally } from './attack.ts'
import { RawSocket } from './raw-socket.ts'
import { ALLOWED_ORIGIN, CONNECTIONS_PER_IP } from './settings.ts'

const pause = (): Promise<void> => sleep(200 + Math.random() * 300)

const MANY_HEADERS = 'a:1\r\n'.repeat(3_000)
const FLOODS: readonly string[] = [
  // What makes it an upgrade comes after all that.
  `GET /ws HTTP/1.1\r\nhost: x\r\n${MANY_HEADERS}connection: upgrade\r\nupgrade: websocket\r\n\r\n`,
  `GET /ws HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: ${'x'.repeat(30_000)}\r\n\r\n`,
  `GET /v2/chains HTTP/1.1\r\n${`x-padding: ${'y'.repeat(100)}\r\n`.repeat(1_000)}`,
  // As many as there may be, and then no good upgrade.
  `GET /ws HTTP/1.1\r\nhost: x\r\n${'a:1\r\n'.repeat(500)}connection: upgrade\r\nupgrade: websocket\r\n\r\n`,
  `GET /${'v'.repeat(100_000)} HTTP/1.1\r\nhost: x\r\n\r\n`,
]

const headerFlood: Attack = {
  name: 'header flood',
  must: ['400 malformed_request', '400 limit_exceeded'],
  // A client that is still sending when the connection is closed may not read the response.
  may: ['cut'],
  run: (target) =>
    crowd(target, 100, async (index, tally, _endsAt, round) => {
      const socket = await RawSocket.open(target.port, addressOf(target, index))
      socket.write(FLOODS[(index + round) % FLOODS.length] as string)
      tally.add(await socket.outcome)
      socket.destroy()
      await pause()
    }),
}

/** Longer than any of them may take: ten seconds for a request, looked at every two. */
const PATIENCE_MS = 20_000
const DRIP_MS = 700

const slowHandshakes: Attack = {
  name: 'slow handshakes',
  must: ['400 malformed_request', 'closed 4401', '400 limit_exceeded'],
  run: async (target) => {
    const tally = new Tally()
    const sockets: RawSocket[] = []
    const { port, apiKey } = target
    const note = async (socket: RawSocket): Promise<void> => {
      sockets.push(socket)
      tally.add(await Promise.race([socket.outcome, sleep(PATIENCE_MS, 'still open')]))
      socket.destroy()
    }
    const start = `POST /v2/tokens/price HTTP/1.1\r\nhost: x\r\nx-api-key: ${apiKey}\r\n`
    const body = `${start}content-type: application/json\r\ncontent-length: 1000\r\n\r\n{`
    const held = Array.from({ length: scaled(400, target) }, async (_, index) => {
      if (index % 4 === 3) return note(await RawSocket.upgrade(port, addressOf(target, index)))
      const socket = await RawSocket.open(port, addressOf(target, index))
      // Nothing at all, headers byte by byte, or a body byte by byte.
      if (index % 4 > 0) {
        socket.write(index % 4 === 1 ? `${start}x-slow: ` : body)
        const drip = setInterval(() => socket.write('x'), DRIP_MS)
        socket.socket.on('close', () => clearInterval(drip))
      }
      return note(socket)
    })
    // All of one address, beyond its share; those that are let in say nothing.
    const greedy = Array.from({ length: CONNECTIONS_PER_IP + scaled(50, target) }, async () =>
      note(await RawSocket.open(port, `${target.network}.200`)),
    )
    await Promise.all([...held, ...greedy])
    return tally
  },
}

const OTHER_SITE = 'https://evil.example'

const crossSite: Attack = {
  name: 'cross-site sockets',
  must: [AS_EXPECTED],
  run: (target) => {
    const key = { 'x-api-key': target.apiKey }
    const tries: readonly (readonly [Readonly<Record<string, string>>, string])[] = [
      [{ ...key, origin: OTHER_SITE }, '403 origin_refused'],
      [{ ...key, origin: 'null' }, '403 origin_refused'],
      [{ ...key, origin: `${ALLOWED_ORIGIN}.evil.example` }, '403 origin_refused'],
      [{ ...key, origin: `http://127.0.0.1:${target.port + 1}` }, '403 origin_refused'],
      // Cookies are nothing here, and sites are named in this gateway: without a key no other may come either.
      [{ cookie: `x-api-key=${target.apiKey}`, origin: OTHER_SITE }, '403 origin_refused'],
      [{ cookie: `x-api-key=${target.apiKey}`, origin: ALLOWED_ORIGIN }, 'closed 4401'],
      [{ ...key, origin: ALLOWED_ORIGIN }, 'open'],
      [{ ...key, origin: `http://127.0.0.1:${target.port}` }, 'open'],
      [key, 'open'],
    ]
    return crowd(target, 10, async (index, tally) => {
      for (const [headers, expected] of tries) {
        const socket = await RawSocket.upgrade(target.port, addressOf(target, index), headers)
        const isKept = expected === 'open' && socket.isOpen
        const outcome = isKept ? 'open' : await socket.outcome
        tally.add(outcome === expected ? AS_EXPECTED : `${JSON.stringify(headers)}: ${outcome}`)
        socket.destroy()
      }
      await pause()
    })
  },
}

export const HANDSHAKE_ATTACKS = [headerFlood, slowHandshakes, crossSite]
