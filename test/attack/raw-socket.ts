import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

const UPGRADE = [
  'GET /ws HTTP/1.1',
  'connection: upgrade',
  'upgrade: websocket',
  'sec-websocket-version: 13',
  'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==',
]

export const TEXT = 0x1
export const CLOSE = 0x8
export const PING = 0x9

type FrameOptions = {
  readonly fin?: boolean
  readonly rsv1?: boolean
  /** Said in the header, whatever follows. */
  readonly length?: bigint
}

/** A client's frame, right or wrong. It must be masked; with zeros that changes nothing. */
export function frame(opcode: number, body: Buffer | string, options: FrameOptions = {}): Buffer {
  const payload = Buffer.from(body)
  const first = (options.fin === false ? 0 : 0x80) | (options.rsv1 ? 0x40 : 0) | opcode
  const length = options.length ?? BigInt(payload.length)
  if (length < 126n) return Buffer.concat([Buffer.of(first, 0x80 | Number(length), 0, 0, 0, 0), payload])
  const isShort = length < 65_536n
  const header = Buffer.alloc(isShort ? 8 : 14)
  header[0] = first
  header[1] = 0x80 | (isShort ? 126 : 127)
  if (isShort) header.writeUInt16BE(Number(length), 2)
  else header.writeBigUInt64BE(length, 2)
  return Buffer.concat([header, payload])
}

/** A TCP connection that says what it likes, and understands what is answered. */
export class RawSocket {
  readonly socket: Socket
  /** What the server makes of it in the end: `closed <code>`, `<status> <code>` of an HTTP answer, or `cut`. */
  readonly outcome: Promise<string>
  /** The payload of the server's close frame. */
  goodbye: Buffer | undefined
  /** The head of the HTTP answer. */
  head = ''
  onMessage: (text: string) => void = () => undefined
  #bytes: Buffer = Buffer.alloc(0)
  #isUpgraded = false
  #decide: (outcome: string) => void = () => undefined
  #onUpgraded: () => void = () => undefined

  private constructor(socket: Socket) {
    this.socket = socket
    this.outcome = new Promise((resolve) => {
      this.#decide = resolve
    })
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    // A server that hangs up in the middle of what is said resets the connection; `close` follows.
    socket.on('error', () => undefined)
    socket.on('close', () => this.#decide('cut'))
  }

  static async open(port: number, localAddress: string): Promise<RawSocket> {
    const socket = connect({ host: '127.0.0.1', port, localAddress, noDelay: true })
    const opened = new RawSocket(socket)
    await Promise.race([once(socket, 'connect'), opened.outcome])
    return opened
  }

  /** Connects and upgrades; `isOpen` says whether the upgrade was granted. */
  static async upgrade(
    port: number,
    localAddress: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<RawSocket> {
    const opened = await RawSocket.open(port, localAddress)
    const given = { host: `127.0.0.1:${port}`, ...headers }
    const lines = [...UPGRADE, ...Object.entries(given).map(([name, value]) => `${name}: ${value}`)]
    const upgraded = new Promise<void>((resolve) => {
      opened.#onUpgraded = resolve
    })
    opened.write(`${lines.join('\r\n')}\r\n\r\n`)
    await Promise.race([upgraded, opened.outcome])
    return opened
  }

  get isOpen(): boolean {
    return this.#isUpgraded && !this.socket.destroyed
  }

  write(bytes: Buffer | string): void {
    if (!this.socket.destroyed) this.socket.write(bytes)
  }

  say(text: string): void {
    this.write(frame(TEXT, text))
  }

  /** Says something and waits for the next message that is no push, or for the end. */
  async ask(message: string | Buffer): Promise<string> {
    const answer = new Promise<string>((resolve) => {
      this.onMessage = (text) => {
        if (!text.includes('"topic"')) resolve(text)
      }
    })
    this.write(frame(TEXT, message))
    return Promise.race([answer, this.outcome])
  }

  destroy(): void {
    this.socket.destroy()
  }

  #read(chunk: Buffer): void {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk])
    if (!this.#isUpgraded && !this.#readHttp()) return
    while (this.#readFrame());
  }

  #readHttp(): boolean {
    const end = this.#bytes.indexOf('\r\n\r\n')
    if (end === -1) return false
    this.head = this.#bytes.toString('latin1', 0, end)
    const status = this.head.split(' ', 2)[1]
    if (status === '101') {
      this.#isUpgraded = true
      this.#bytes = this.#bytes.subarray(end + 4)
      this.#onUpgraded()
      return true
    }
    const body = this.#bytes.toString('utf8', end + 4)
    const length = Number(/^content-length: (\d+)$/im.exec(this.head)?.[1] ?? 0)
    if (Buffer.byteLength(body) < length) return false
    const code = /"code":"(\w+)"/.exec(body)?.[1]
    this.#decide(code === undefined ? `${status}` : `${status} ${code}`)
    return false
  }

  #readFrame(): boolean {
    if (this.#bytes.length < 2) return false
    const short = (this.#bytes[1] as number) & 0x7f
    const header = short === 126 ? 4 : short === 127 ? 10 : 2
    if (this.#bytes.length < header) return false
    const length =
      header === 2
        ? short
        : header === 4
          ? this.#bytes.readUInt16BE(2)
          : Number(this.#bytes.readBigUInt64BE(2))
    if (this.#bytes.length < header + length) return false
    const opcode = (this.#bytes[0] as number) & 0x0f
    const payload = this.#bytes.subarray(header, header + length)
    this.#bytes = this.#bytes.subarray(header + length)
    if (opcode === TEXT) this.onMessage(payload.toString())
    else if (opcode === CLOSE) {
      this.goodbye = Buffer.from(payload)
      this.#decide(`closed ${payload.length >= 2 ? payload.readUInt16BE(0) : 'without a code'}`)
    }
    return true
  }
}
