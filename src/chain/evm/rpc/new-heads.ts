import { setTimeout as sleep } from 'node:timers/promises'
import { type RawData, WebSocket } from 'ws'
import { ChaintapeError } from '../../../domain/errors.ts'
import type { Logger } from '../../../lib/logger.ts'

export type NewHeadsOptions = {
  readonly urls: readonly string[]
  readonly logger: Logger
  readonly signal: AbortSignal
  /** There may be a new head: nothing of what the node said about it is passed on. */
  readonly onHead: () => void
  readonly onUp: (endpoint: string, isUp: boolean) => void
}

const SUBSCRIBE = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] })
const MAX_MESSAGE_BYTES = 1024 * 1024
const HANDSHAKE_MS = 10_000
/** A connection that answers no ping for this long is dead, whatever it looks like. */
const SILENT_MS = 30_000
const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 60_000

/** Listens at every endpoint until the signal aborts. Polling works without it, so failures are only logged. */
export function watchNewHeads({ urls, ...options }: NewHeadsOptions): void {
  // A mistyped address is for the operator to mend, not to be tried again and again.
  const parsed = urls.map(parseUrl)
  for (const [index, url] of parsed.entries()) void listenForever(url, `${index}:${url.host}`, options)
}

async function listenForever(
  url: URL,
  endpoint: string,
  { logger, signal, onHead, onUp }: Omit<NewHeadsOptions, 'urls'>,
): Promise<void> {
  let failures = 0
  let isReportedDown = false
  onUp(endpoint, false)
  const heard = (): void => {
    // One that lets us in and throws us out again must not look healthy: only a head counts.
    failures = 0
    if (isReportedDown) logger.info({ endpoint }, 'New head subscription recovered')
    isReportedDown = false
    onUp(endpoint, true)
    onHead()
  }
  while (!signal.aborted) {
    const reason = await listen(url, signal, heard)
    if (signal.aborted) return
    onUp(endpoint, false)
    if (!isReportedDown) logger.warn({ endpoint, reason }, 'New head subscription failed; polling continues')
    isReportedDown = true
    const delayMs = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** failures++)
    await sleep(delayMs * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => undefined)
  }
}

/** Resolves with the reason when the connection has ended. Never rejects. */
function listen(url: URL, signal: AbortSignal, onHead: () => void): Promise<string> {
  return new Promise((resolve) => {
    let reason = 'closed'
    let isSubscribed = false
    let isAlive = true
    const socket = new WebSocket(url, {
      handshakeTimeout: HANDSHAKE_MS,
      maxPayload: MAX_MESSAGE_BYTES,
      perMessageDeflate: false,
    })
    const end = (why: string): void => {
      reason = why
      socket.terminate()
    }
    const onAbort = (): void => end('stopped')
    signal.addEventListener('abort', onAbort, { once: true })
    const pulse = setInterval(() => {
      if (!isAlive) end(`silent for ${SILENT_MS} ms`)
      isAlive = false
      if (socket.readyState === WebSocket.OPEN) socket.ping()
    }, SILENT_MS)
    socket.on('open', () => socket.send(SUBSCRIBE))
    socket.on('pong', () => {
      isAlive = true
    })
    socket.on('message', (data) => {
      isAlive = true
      if (isSubscribed) onHead()
      else if (isAccepted(data)) isSubscribed = true
      else end('the node does not take the subscription')
    })
    socket.on('error', (error: Error & { code?: unknown }) => {
      // The message may hold the address; the status of a refusal does not.
      reason = /^Unexpected server response: \d+$/.exec(error.message)?.[0] ?? String(error.code ?? 'broken')
    })
    socket.on('close', () => {
      clearInterval(pulse)
      signal.removeEventListener('abort', onAbort)
      resolve(reason)
    })
  })
}

function isAccepted(data: RawData): boolean {
  try {
    const answer: unknown = JSON.parse(String(data))
    return Object(answer)['result'] !== undefined
  } catch {
    // Not even JSON: no subscription either.
    return false
  }
}

function parseUrl(url: string, index: number): URL {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || !/^wss?:$/.test(parsed.protocol) || parsed.hash !== '') {
    throw new ChaintapeError('config_invalid', `ws_urls.${index} is not a WebSocket URL`)
  }
  return parsed
}
