import { ChaintapeError } from '../errors.ts'

/** The part of a WebSocket that the client uses: that of browsers, Node 22, Bun and Deno, or of the package `ws`. */
export type WebSocketLike = {
  send(text: string): void
  close(code?: number, reason?: string): void
}

export type WebSocketConstructor = new (url: string) => WebSocketLike

export type SocketHandlers = {
  onOpen(): void
  onText(text: string): void
  /** Once, whether it had opened or not. */
  onClose(code: number): void
}

/** The declarations of the runtimes differ; their events do not. */
type Target = WebSocketLike & {
  addEventListener(type: 'open' | 'error', listener: () => void): void
  addEventListener(type: 'close', listener: (event: { readonly code: number }) => void): void
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void
}

type Emitter = {
  on(type: 'message', listener: (data: { toString(): string }) => void): void
  terminate?(): void
}

/** A socket whose events end with `onClose`. */
export type OpenSocket = {
  send(text: string): void
  /** Closes without waiting for the other side: `onClose` is called at once, and nothing after it. */
  drop(): void
}

const ABNORMAL = 1006

export function openSocket(
  url: string,
  WebSocket: WebSocketConstructor,
  handlers: SocketHandlers,
): OpenSocket {
  const socket = new WebSocket(url) as Target
  let isOver = false
  const end = (code: number): void => {
    if (isOver) return
    isOver = true
    handlers.onClose(code)
  }
  socket.addEventListener('open', () => {
    if (!isOver) handlers.onOpen()
  })
  socket.addEventListener('close', (event) => end(event.code))
  // A `close` event follows.
  socket.addEventListener('error', () => undefined)
  if (isEmitter(socket)) {
    // `ws` without its layer of DOM events, which costs about a tenth of the throughput.
    socket.on('message', (data) => {
      if (!isOver) handlers.onText(data.toString())
    })
  } else {
    socket.addEventListener('message', (event) => {
      if (!isOver) handlers.onText(String(event.data))
    })
  }
  return {
    send: (text) => socket.send(text),
    drop: () => {
      end(ABNORMAL)
      if (isEmitter(socket) && socket.terminate !== undefined) socket.terminate()
      else socket.close()
    },
  }
}

function isEmitter(socket: object): socket is Emitter {
  return typeof (socket as Partial<Emitter>).on === 'function'
}

export function defaultWebSocket(): WebSocketConstructor {
  const found = (globalThis as { readonly WebSocket?: WebSocketConstructor }).WebSocket
  if (found === undefined)
    throw new ChaintapeError(
      'this runtime has no WebSocket: install the package ws and pass it as { WebSocket }',
    )
  return found
}
