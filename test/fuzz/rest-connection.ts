import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Case } from './rest-requests.ts'

export type Answered = {
  readonly status: number
  readonly type: string
  readonly body: string
  /** Since it was this request's turn: it was sent, and the one before it was answered. */
  readonly ms: number
}

const PATIENCE_MS = 20_000
const NO_BODY = new Set([204, 304])

/**
 * Sends requests one right after the other on a connection that stays open, as long as the server keeps it open.
 * After an answer that announces the end of the connection, the rest is sent on a new one.
 */
export async function sendFramed(
  port: number,
  cases: readonly Case[],
  reuse: SocketBox,
): Promise<Answered[]> {
  const answers: Answered[] = []
  while (answers.length < cases.length) {
    const rest = cases.slice(answers.length)
    const socket = reuse.socket ?? (await open(port))
    reuse.socket = undefined
    let received: Buffer = Buffer.alloc(0)
    let turn = performance.now()
    socket.write(Buffer.concat(rest.map(({ bytes }) => bytes)))
    let isOpen = true
    const before = answers.length
    while (isOpen && answers.length < cases.length) {
      const chunk = await nextChunk(socket)
      if (chunk === undefined) break
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
      for (;;) {
        const parsed = takeAnswer(received, cases[answers.length]?.method ?? 'GET')
        if (parsed === undefined) break
        received = received.subarray(parsed.length)
        if (parsed.status < 200) continue
        const now = performance.now()
        answers.push({ status: parsed.status, type: parsed.type, body: parsed.body, ms: now - turn })
        turn = now
        if (parsed.isLast) isOpen = false
        if (!isOpen || answers.length === cases.length) break
      }
    }
    if (isOpen && answers.length === cases.length) reuse.socket = socket
    else socket.destroy()
    if (isOpen && answers.length < cases.length) {
      throw new Error(
        `the connection ended or fell silent without an answer to case ${answers.length - before}`,
      )
    }
  }
  return answers
}

export type SocketBox = { socket: Socket | undefined }

/** Sends bytes and nothing more, and gives all that is answered until the server ends the connection. */
export async function sendRaw(port: number, bytes: Buffer): Promise<Answered[]> {
  const socket = await open(port)
  const started = performance.now()
  socket.end(bytes)
  let received: Buffer = Buffer.alloc(0)
  const answers: Answered[] = []
  for (;;) {
    const chunk = await nextChunk(socket)
    if (chunk === undefined) break
    received = Buffer.concat([received, chunk])
    for (;;) {
      const parsed = takeAnswer(received, 'GET')
      if (parsed === undefined) break
      received = received.subarray(parsed.length)
      if (parsed.status < 200) continue
      const { status, type, body } = parsed
      answers.push({ status, type, body, ms: performance.now() - started })
    }
  }
  const isSilent = !socket.readableEnded && !socket.destroyed
  socket.destroy()
  if (isSilent) throw new Error('the server left a connection open that the client had ended')
  return answers
}

async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  // A reset shows as the end of what can be read.
  socket.on('error', () => socket.destroy())
  await Promise.race([once(socket, 'connect'), once(socket, 'close')])
  if (socket.destroyed) throw new Error('the gateway takes no connections any more')
  return socket
}

/** Undefined once nothing more comes: ended, reset, or silent for too long. */
async function nextChunk(socket: Socket): Promise<Buffer | undefined> {
  for (;;) {
    const chunk = socket.read() as Buffer | null
    if (chunk !== null) return chunk
    if (socket.readableEnded || socket.destroyed) return undefined
    let timer: NodeJS.Timeout | undefined
    const isLate = await new Promise<boolean>((resolve) => {
      const settle = (late: boolean): void => {
        clearTimeout(timer)
        for (const event of ['readable', 'end', 'close']) socket.off(event, wake)
        resolve(late)
      }
      const wake = (): void => settle(false)
      timer = setTimeout(() => settle(true), PATIENCE_MS)
      for (const event of ['readable', 'end', 'close']) socket.on(event, wake)
    })
    if (isLate) return undefined
  }
}

type Parsed = { length: number; status: number; type: string; body: string; isLast: boolean }

/** The first answer in these bytes, if it is whole. */
function takeAnswer(bytes: Buffer, method: string): Parsed | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = bytes.toString('latin1', 0, end)
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? Number.NaN)
  if (Number.isNaN(status)) throw new Error(`this is no answer: ${head.slice(0, 200)}`)
  const header = (name: string): string =>
    new RegExp(`^${name}: *(.*)$`, 'im').exec(head)?.[1]?.trim().toLowerCase() ?? ''
  const isLast = header('connection') === 'close'
  const about = { status, type: header('content-type'), isLast }
  const start = end + 4
  if (method === 'HEAD' || status < 200 || NO_BODY.has(status)) return { ...about, length: start, body: '' }
  if (header('transfer-encoding') === 'chunked') return takeChunks(bytes, start, about)
  const length = start + Number(header('content-length') || 0)
  return bytes.length < length ? undefined : { ...about, length, body: bytes.toString('utf8', start, length) }
}

function takeChunks(
  bytes: Buffer,
  start: number,
  about: Pick<Parsed, 'status' | 'type' | 'isLast'>,
): Parsed | undefined {
  const parts: Buffer[] = []
  for (let at = start; ; ) {
    const line = bytes.indexOf('\r\n', at)
    if (line < 0) return undefined
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16)
    const next = line + 2 + size + 2
    if (bytes.length < next) return undefined
    if (size === 0) return { ...about, length: next, body: Buffer.concat(parts).toString() }
    parts.push(bytes.subarray(line + 2, line + 2 + size))
    at = next
  }
}
