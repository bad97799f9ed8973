import { setTimeout as sleep } from 'node:timers/promises'
import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js'
import { ChaintapeError } from '../../../domain/errors.ts'
import type { Logger } from '../../../lib/logger.ts'
import { BlockWindow } from './block-window.ts'
import { decodeBlock, type LogsOf } from './decode-block.ts'
import { encodePing, encodeSubscription } from './request.ts'
import { DEFAULT_SETTINGS, type YellowstoneSettings } from './settings.ts'
import { decodeReplayInfo, decodeUpdate, SLOT_DEAD, SLOT_FINALIZED } from './update.ts'

export type YellowstoneEndpoint = {
  /** `https://` or `http://`. */
  readonly url: string
  /** Sent as `x-token`. */
  readonly token?: string | undefined
}

/** How a connection ended: lost or refused, without messages, or ended by us because of what it sent. */
export type StreamEnd = 'lost' | 'silent' | 'invalid'

export type YellowstoneOptions = {
  /** Used one at a time; the next one when a connection ends. */
  readonly endpoints: readonly YellowstoneEndpoint[]
  /** Programs and token programs: blocks contain only transactions that use one of them. */
  readonly accounts: readonly string[]
  readonly logsOf: LogsOf
  /** There is a new block. */
  readonly onBlock: () => void
  readonly logger: Logger
  readonly signal: AbortSignal
  readonly metrics: {
    up(endpoint: string, isUp: boolean): void
    ended(endpoint: string, how: StreamEnd): void
  }
  readonly settings?: Partial<YellowstoneSettings>
  readonly window?: BlockWindow
}

type Ending = { readonly how: StreamEnd; readonly reason: string }

const SUBSCRIBE = '/geyser.Geyser/Subscribe'
const REPLAY_INFO = '/geyser.Geyser/SubscribeReplayInfo'
const REPLAY_INFO_MS = 5_000
const PING_ID = 1
/** A fork of confirmed blocks is replayed too. */
const REPLAY_BACK_SLOTS = 32
/** Enough for blocks of several megabytes over a long distance. */
const FLOW_CONTROL_BYTES = 8 * 1024 * 1024
const MAX_REASON_LETTERS = 200
const INVALID_MESSAGE = 'returned a malformed message'

/** Receives blocks until the signal aborts. The window and JSON-RPC bound what a failing endpoint can do. */
export class YellowstoneStream {
  readonly window: BlockWindow
  readonly #options: YellowstoneOptions
  readonly #settings: YellowstoneSettings
  readonly #targets: readonly Target[]
  #connection = 0
  #isUp = false
  #endNow: ((ending: Ending) => void) | undefined
  #label = ''
  #canReplay = true

  constructor(options: YellowstoneOptions) {
    this.#options = options
    this.#settings = { ...DEFAULT_SETTINGS, ...options.settings }
    this.window = options.window ?? new BlockWindow()
    this.#targets = options.endpoints.map(toTarget)
  }

  /** Number of the current connection; undefined until it has sent a block. */
  get connection(): number | undefined {
    return this.#isUp ? this.#connection : undefined
  }

  /** The endpoint of the current connection. */
  get label(): string {
    return this.#label
  }

  /** Ends the connection because of what it sent. Its blocks are dropped. */
  refute(reason: string): void {
    this.window.clear()
    this.#endNow?.({ how: 'invalid', reason })
  }

  async run(): Promise<void> {
    const { signal, logger, metrics } = this.#options
    const { firstDelayMs, maxDelayMs, stableMs } = this.#settings
    if (this.#targets.length === 0) return
    for (const { label } of this.#targets) metrics.up(label, false)
    let failures = 0
    for (let turn = 0; !signal.aborted; turn++) {
      const target = this.#targets[turn % this.#targets.length] as Target
      const startedAt = performance.now()
      const { how, reason } = await this.#connect(target)
      this.#isUp = false
      if (signal.aborted) return
      metrics.up(target.label, false)
      metrics.ended(target.label, how)
      logger.warn({ endpoint: target.label, how, reason }, 'Yellowstone stream ended; reading over JSON-RPC')
      failures = how !== 'invalid' && performance.now() - startedAt >= stableMs ? 0 : failures + 1
      const ceiling = Math.min(maxDelayMs, firstDelayMs * 2 ** Math.max(0, failures - 1))
      await sleep(ceiling * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => undefined)
    }
  }

  async #connect({ label, address, isSecure, metadata }: Target): Promise<Ending> {
    this.#connection++
    this.#label = label
    const client = new Client(address, isSecure ? credentials.createSsl() : credentials.createInsecure(), {
      'grpc.max_receive_message_length': this.#settings.maxMessageBytes,
      'grpc-node.flow_control_window': FLOW_CONTROL_BYTES,
      // Retries would buffer what was sent, and a proxy or a service configuration is for us to set.
      'grpc.enable_retries': 0,
      'grpc.enable_http_proxy': 0,
      'grpc.service_config_disable_resolution': 1,
    })
    try {
      const fromSlot = this.#canReplay ? await this.#replayFrom(client, metadata) : undefined
      const { ending, messages } = await this.#receive(client, metadata, fromSlot)
      // A server may refuse to replay what it has just offered.
      this.#canReplay = fromSlot === undefined || messages > 0
      return ending
    } finally {
      client.close()
    }
  }

  /** The slot to resume from; undefined if the server cannot replay without a gap, and JSON-RPC has to fill it. */
  async #replayFrom(client: Client, metadata: Metadata): Promise<number | undefined> {
    const { head, final } = this.window
    if (head === undefined) return undefined
    const first = await new Promise<number | undefined>((resolve) => {
      const deadline = Date.now() + REPLAY_INFO_MS
      client.makeUnaryRequest(
        REPLAY_INFO,
        toBuffer,
        decodeReplayInfoSafely,
        NO_FIELDS,
        metadata,
        { deadline },
        (_error, info) => resolve(info),
      )
    })
    const wanted = final?.slot ?? Math.max(0, head.slot - REPLAY_BACK_SLOTS)
    return first === undefined || first > head.slot + 1 ? undefined : Math.max(first, wanted)
  }

  #receive(
    client: Client,
    metadata: Metadata,
    fromSlot: number | undefined,
  ): Promise<{ ending: Ending; messages: number }> {
    const { accounts, signal } = this.#options
    const { silentMs } = this.#settings
    return new Promise((resolve) => {
      let messages = 0
      let isEnded = false
      const call = client.makeBidiStreamRequest(SUBSCRIBE, toBuffer, asBytes, metadata)
      const end = (ending: Ending): void => {
        if (isEnded) return
        isEnded = true
        clearTimeout(silence)
        signal.removeEventListener('abort', onAbort)
        this.#endNow = undefined
        call.removeListener('data', onData)
        call.cancel()
        resolve({ ending, messages })
      }
      const onAbort = (): void => end({ how: 'lost', reason: 'stopped' })
      const silence = setTimeout(
        () => end({ how: 'silent', reason: `no message for ${silentMs} ms` }),
        silentMs,
      )
      const onData = (bytes: Uint8Array): void => {
        silence.refresh()
        messages++
        try {
          if (this.#take(bytes) === 'ping') call.write(encodePing(PING_ID))
        } catch (error) {
          // The library's own errors about bytes have no code.
          const reason = error instanceof ChaintapeError ? error.message : INVALID_MESSAGE
          end({ how: 'invalid', reason })
        }
      }
      this.#endNow = end
      signal.addEventListener('abort', onAbort, { once: true })
      call.on('data', onData)
      // It stays, because cancelling emits an error too.
      call.on('error', (error: ServiceError) => end({ how: 'lost', reason: reasonOf(error) }))
      call.on('end', () => end({ how: 'lost', reason: 'the server ended the stream' }))
      call.write(encodeSubscription({ accounts, fromSlot }))
    })
  }

  #take(bytes: Uint8Array): 'ping' | undefined {
    const { logsOf, onBlock, metrics } = this.#options
    const update = decodeUpdate(bytes)
    switch (update.kind) {
      case 'block': {
        const block = decodeBlock(update.message, logsOf, (parent) => this.window.of(parent)?.header.time)
        // Without a time, and the first of its branch: the next block begins a new window, and JSON-RPC fills the gap.
        if (block === undefined) return undefined
        this.window.add(block)
        if (!this.#isUp) metrics.up(this.#label, true)
        this.#isUp = true
        onBlock()
        return undefined
      }
      case 'slot':
        if (update.status === SLOT_FINALIZED) this.window.finalise(update.slot)
        else if (update.status === SLOT_DEAD) this.window.abandon(update.slot)
        return undefined
      case 'ping':
        return 'ping'
      case 'other':
        return undefined
      default:
        return update satisfies never
    }
  }
}

type Target = {
  readonly label: string
  readonly address: string
  readonly isSecure: boolean
  readonly metadata: Metadata
}

const NO_FIELDS = new Uint8Array(0)

function toTarget({ url, token }: YellowstoneEndpoint, index: number): Target {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol))
    throw new ChaintapeError('config_invalid', `grpc_urls.${index} is not an http or https URL`)
  const isSecure = parsed.protocol === 'https:'
  const metadata = new Metadata()
  if (token !== undefined) metadata.set('x-token', token)
  const address = `${parsed.hostname}:${parsed.port || (isSecure ? 443 : 80)}`
  // Not the name of an RPC endpoint at the same host.
  return { label: `grpc-${index}:${parsed.host}`, address, isSecure, metadata }
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

function asBytes(bytes: Buffer): Buffer {
  return bytes
}

function decodeReplayInfoSafely(bytes: Buffer): number | undefined {
  try {
    return decodeReplayInfo(bytes)
  } catch {
    // Without an answer the stream starts at the newest block.
    return undefined
  }
}

function reasonOf({ code, details }: ServiceError): string {
  return `${code}: ${details}`.slice(0, MAX_REASON_LETTERS)
}
