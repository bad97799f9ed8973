import { isUtf8 } from 'node:buffer'
import { connect, type Socket } from 'node:net'
import { ACCEPTED } from './ws-doors.ts'
import { encodeFrame, OPCODE } from './ws-frames.ts'
import type { Step } from './ws-plan.ts'
import { containsKey, isPush, type Rules, type ServerMessage } from './ws-rules.ts'

/** What is counted over all connections. */
export type Tally = {
  readonly count: (what: string) => void
  readonly took: (ms: number) => void
}

type Waiting = { readonly mustSucceed: boolean; readonly sentAt: number }

/** So long for an answer or a goodbye: whatever takes longer hangs. */
const PATIENCE_MS = 15_000
const MASK = new Uint8Array(4)

/**
 * A client that keeps count: each message sent has exactly one response to come, every message received has a known
 * form, and no close is without a reason. `check` throws what it found wrong.
 */
export class RawConnection {
  status: number | undefined
  /** The code of the gateway's goodbye; null if it has none. */
  goodbye: number | null | undefined
  isEnded = false
  readonly #socket: Socket
  readonly #rules: Rules
  readonly #tally: Tally
  readonly #awaited = new Map<string, Waiting[]>()
  readonly #goodbyes = new Set<number | undefined>()
  #awaitedCount = 0
  #received: Buffer = Buffer.alloc(0)
  #failure: Error | undefined
  #wake: () => void = () => undefined

  constructor(port: number, rules: Rules, tally: Tally) {
    this.#rules = rules
    this.#tally = tally
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.#socket.on('data', (chunk) => this.#onData(chunk))
    // A reset shows as the end.
    this.#socket.on('error', () => this.#socket.destroy())
    this.#socket.on('close', () => {
      this.isEnded = true
      this.#wake()
    })
    this.#socket.on('end', () => this.#socket.end())
  }

  write(bytes: Buffer): void {
    if (!this.isEnded && bytes.length > 0) this.#socket.write(bytes)
  }

  /** It is about to be sent. */
  await({ answer, mustSucceed, goodbyes }: Step): void {
    for (const code of goodbyes) this.#goodbyes.add(code)
    if (answer === undefined) return
    const same = this.#awaited.get(answer) ?? []
    this.#awaited.set(answer, [...same, { mustSucceed, sentAt: performance.now() }])
    this.#awaitedCount++
  }

  /** From here on this goodbye is no surprise. */
  allow(goodbye: number | undefined): void {
    this.#goodbyes.add(goodbye)
  }

  /** Until the gateway has let the client in, or has not. */
  async answered(): Promise<void> {
    await this.#until('the upgrade to be answered', () => this.status !== undefined)
  }

  /** Until nothing has to come any more. */
  async settled(): Promise<void> {
    await this.#until(
      () => `answers to ${[...this.#awaited.keys()].slice(0, 5).join(', ')}`,
      () => this.#awaitedCount === 0,
    )
  }

  async ended(): Promise<void> {
    await this.#until('the gateway to hang up', () => this.isEnded)
  }

  end(): void {
    this.#socket.end()
  }

  reset(): void {
    // One that is being ended cannot be reset any more: Node would keep it for ever.
    if (this.#socket.writableEnded) this.#socket.destroy()
    else this.#socket.resetAndDestroy()
  }

  async #until(what: string | (() => string), isSo: () => boolean): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS
    while (!isSo() && !this.isEnded) {
      this.check()
      const left = deadline - performance.now()
      if (left <= 0)
        throw new Error(`waited ${PATIENCE_MS} ms for ${typeof what === 'string' ? what : what()}`)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    this.check()
  }

  check(): void {
    if (this.#failure !== undefined) throw this.#failure
  }

  #onData(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk])
    try {
      if (this.status === undefined) this.#readHead()
      if (this.status === 101) while (this.#readFrame());
    } catch (error) {
      this.#failure ??= error as Error
    }
    this.#wake()
  }

  #readHead(): void {
    const end = this.#received.indexOf('\r\n\r\n')
    if (end < 0) return
    const head = this.#received.toString('latin1', 0, end)
    this.#received = this.#received.subarray(end + 4)
    const [, status = Number.NaN] = /^HTTP\/1\.1 (\d{3})/.exec(head) ?? []
    this.status = Number(status)
    if (this.status !== 101) return
    if (!head.includes(ACCEPTED)) throw new Error(`accepted wrongly: ${head}`)
    if (/sec-websocket-extensions/i.test(head)) throw new Error(`nobody wanted an extension: ${head}`)
  }

  #readFrame(): boolean {
    const bytes = this.#received
    if (bytes.length < 2) return false
    const [first, second] = [bytes[0] as number, bytes[1] as number]
    const short = second & 0x7f
    const start = short === 126 ? 4 : short === 127 ? 10 : 2
    if (bytes.length < start) return false
    const length =
      short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short
    if (bytes.length < start + length) return false
    const payload = bytes.subarray(start, start + length)
    this.#received = bytes.subarray(start + length)
    // Whole, nothing reserved, not masked.
    if ((first & 0xf0) !== 0x80 || second >= 0x80) throw new Error(`a frame begins with ${first}, ${second}`)
    if (this.goodbye !== undefined) throw new Error('something follows the goodbye')
    this.#onFrame(first & 0x0f, payload)
    return true
  }

  #onFrame(opcode: number, payload: Buffer): void {
    switch (opcode) {
      case OPCODE.text:
        this.#onText(payload)
        return
      case OPCODE.ping:
        this.write(encodeFrame({ opcode: OPCODE.pong, payload, mask: MASK }))
        return
      case OPCODE.pong:
        this.#tally.count('pong frames')
        return
      case OPCODE.close:
        this.#onGoodbye(payload)
        return
      default:
        throw new Error(`a frame of kind ${opcode}`)
    }
  }

  #onText(payload: Buffer): void {
    const text = payload.toString()
    if (!isUtf8(payload)) throw new Error(`not UTF-8: ${text.slice(0, 500)}`)
    if (containsKey(text)) throw new Error(`a key is leaked: ${text.slice(0, 500)}`)
    const parsed = JSON.parse(text) as ServerMessage | ServerMessage[]
    const messages = Array.isArray(parsed) ? parsed : [parsed]
    for (const message of messages) {
      const fault = this.#rules.fault(message)
      if (fault !== undefined) throw new Error(`it ${fault}: ${JSON.stringify(message).slice(0, 2_000)}`)
      this.#tally.count(kindOf(message))
    }
    if (!Array.isArray(parsed) && isPush(parsed)) return
    this.#onAnswer(parsed, messages)
  }

  #onAnswer(parsed: ServerMessage | ServerMessage[], messages: readonly ServerMessage[]): void {
    const ids = JSON.stringify(Array.isArray(parsed) ? parsed.map(({ id }) => id) : parsed.id)
    const [first, ...others] = this.#awaited.get(ids) ?? []
    if (first === undefined) throw new Error(`nothing asks for this answer: ${JSON.stringify(parsed)}`)
    if (others.length === 0) this.#awaited.delete(ids)
    else this.#awaited.set(ids, others)
    this.#awaitedCount--
    this.#tally.took(performance.now() - first.sentAt)
    const refusal = messages.find(({ error }) => error !== undefined)
    if (first.mustSucceed && refusal !== undefined) {
      throw new Error(`a good request is refused: ${JSON.stringify(refusal)}`)
    }
  }

  #onGoodbye(payload: Buffer): void {
    const code = payload.length === 0 ? undefined : payload.readUInt16BE(0)
    const reason = payload.toString('utf8', 2)
    this.goodbye = code ?? null
    this.#tally.count(`goodbye ${code ?? 'without a code'}`)
    if (!this.#goodbyes.has(code)) throw new Error(`a goodbye without a reason: ${code} ${reason}`)
    // By RFC 6455 the peer replies to a close frame, and the server closes the connection.
    this.write(encodeFrame({ opcode: OPCODE.close, payload: payload.subarray(0, 2), mask: MASK }))
    this.#socket.end()
  }
}

function kindOf({ error, result }: ServerMessage): string {
  if (error !== undefined) return String(error.code)
  if (typeof result === 'object' && result.topic !== undefined) return `${result.topic} pushes`
  return typeof result === 'object' && result.data !== undefined ? 'switches' : 'results'
}
