import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { SliceOutcome } from '../measure.ts'
import type { MeasuredProcess } from '../rest/measured-process.ts'
import { framesById, requestIdOf, type Tick } from './pushed-trades.ts'

export type Clients = {
  slice(durationMs: number): Promise<SliceOutcome>
  close(): void
}

export type ClientPlan = {
  readonly port: number
  readonly count: number
  /** Sent by each before anything is measured; the answer is one message. */
  readonly greeting: (client: number) => unknown
  /** They offer to take compressed messages. */
  readonly isCompressed?: boolean
}

const OVERDUE_MS = 20_000
/** Connections that are opened at once: no more than a server takes in one go. */
const AT_ONCE = 100

/** Connections of bare TCP, which take almost nothing; each compares every byte with what must come. */
export async function openClients(server: MeasuredProcess, plan: ClientPlan, tick: Tick): Promise<Clients> {
  const streams = new Map(
    Array.from(framesById(plan.isCompressed), ([id, frames]) => [id, Buffer.concat(frames)]),
  )
  let wrong: string | undefined
  let missingBytes = 0
  let onAllThere: () => void = () => undefined
  const receivers = (await connectAll(plan)).map((socket, client) => {
    const expected = streams.get(requestIdOf(client)) as Buffer
    let at = 0
    socket.on('data', (chunk: Buffer) => {
      for (let from = 0; from < chunk.length; ) {
        const size = Math.min(chunk.length - from, expected.length - at)
        if (chunk.compare(expected, at, at + size, from, from + size) !== 0)
          wrong ??= `client ${client} got other bytes`
        from += size
        at = (at + size) % expected.length
      }
      missingBytes -= chunk.length
      if (missingBytes === 0) onAllThere()
      else if (missingBytes < 0) wrong ??= 'more came than was sent'
    })
    socket.on('close', () => {
      wrong ??= `the server closed connection ${client}`
    })
    return socket
  })
  const frames = framesById(plan.isCompressed)
  const sizes = receivers.map((_, client) =>
    (frames.get(requestIdOf(client)) ?? []).map(({ length }) => length),
  )
  let sent = 0

  /** What all clients together must receive. */
  const bytesOf = (first: number, events: number): number => {
    let bytes = 0
    for (const own of sizes)
      for (let at = first; at < first + events; at++) bytes += own[at % own.length] ?? 0
    return bytes
  }

  return {
    slice: async (durationMs) => {
      const events = tick.ticks * tick.eventsPerTick
      const before = await server.cpuSeconds()
      const end = performance.now() + durationMs
      let units = 0
      do {
        missingBytes += bytesOf(sent, events)
        const allThere = new Promise<void>((resolve) => {
          onAllThere = resolve
        })
        await server.ask(tick)
        if (missingBytes > 0) await inTime(allThere, () => `${missingBytes} bytes did not come`).catch(fail)
        sent += events
        units += events * receivers.length
      } while (performance.now() < end && wrong === undefined)
      const cpuSeconds = (await server.cpuSeconds()) - before
      return { units, cpuSeconds, ...(wrong !== undefined && { wrong }) }
    },
    close: () => {
      for (const socket of receivers) socket.removeAllListeners('close').destroy()
    },
  }

  function fail(error: unknown): void {
    wrong ??= String(error)
  }
}

export async function connectAll({
  port,
  count,
  greeting,
  isCompressed = false,
}: ClientPlan): Promise<Socket[]> {
  const sockets: Socket[] = []
  while (sockets.length < count) {
    const group = Array.from({ length: Math.min(AT_ONCE, count - sockets.length) }, (_, at) => {
      const client = sockets.length + at
      return connectOne(port, client, greeting(client), isCompressed)
    })
    sockets.push(...(await Promise.all(group)))
  }
  return sockets
}

async function connectOne(
  port: number,
  client: number,
  greeting: unknown,
  isCompressed: boolean,
): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true })
  await once(socket, 'connect')
  const lines = ['GET /ws HTTP/1.1', 'host: 127.0.0.1', 'connection: upgrade', 'upgrade: websocket']
  lines.push('sec-websocket-version: 13', 'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==')
  lines.push('x-api-key: any', `x-client: ${client}`)
  if (isCompressed) lines.push('sec-websocket-extensions: permessage-deflate')
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  await answered(socket, (bytes) => bytes.includes('\r\n\r\n'))
  socket.write(maskedText(JSON.stringify(greeting)))
  await answered(socket, isWholeFrame)
  return socket
}

function isWholeFrame(bytes: Buffer): boolean {
  if (bytes.length < 4) return false
  const isShort = bytes.readUInt8(1) < 126
  return bytes.length >= (isShort ? 2 + bytes.readUInt8(1) : 4 + bytes.readUInt16BE(2))
}

async function answered(socket: Socket, isWhole: (bytes: Buffer) => boolean): Promise<void> {
  let bytes = Buffer.alloc(0)
  const complaint = (): string => `the server answered ${bytes.toString('latin1')}`
  const whole = new Promise<void>((resolve, reject) => {
    const onData = (chunk: Buffer): void => {
      bytes = Buffer.concat([bytes, chunk])
      if (!isWhole(bytes)) return
      socket.off('data', onData)
      if (bytes.includes('"error"') || bytes.includes('"rejected"')) reject(new Error(complaint()))
      else resolve()
    }
    socket.on('data', onData)
  })
  await inTime(whole, complaint)
}

async function inTime(work: Promise<void>, complaint: () => string): Promise<void> {
  let overdue: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    overdue = setTimeout(() => reject(new Error(complaint())), OVERDUE_MS)
  })
  await Promise.race([work, late]).finally(() => clearTimeout(overdue))
}

/** A client must mask; with zeros that changes nothing. */
function maskedText(text: string): Buffer {
  const body = Buffer.from(text)
  const header = Buffer.alloc(8)
  header[0] = 0x81
  header[1] = 0x80 | 126
  header.writeUInt16BE(body.length, 2)
  if (body.length < 126) {
    header[1] = 0x80 | body.length
    return Buffer.concat([header.subarray(0, 2), Buffer.alloc(4), body])
  }
  return Buffer.concat([header, body])
}
