import { Metadata, Server, ServerCredentials, type ServerDuplexStream, status } from '@grpc/grpc-js'
import { base58 } from '@scure/base'
import {
  GetSlotResponse,
  GetVersionResponse,
  PongResponse,
  SlotStatus,
  SubscribeReplayInfoResponse,
  SubscribeRequest,
  type SubscribeUpdate,
  type SubscribeUpdateTransactionInfo,
} from '@triton-one/yellowstone-grpc'
import type { Header } from '../../../src/chain/source.ts'
import type { SolanaLedger } from './solana-ledger.ts'
import { encodeUpdate, toBlockMessage, toTransactionInfo } from './yellowstone-messages.ts'

const LOOK_EVERY_MS = 5
const PING_EVERY_MS = 200

type Call = ServerDuplexStream<Buffer, Buffer>
type Unary = (call: unknown, answer: (error: null | { code: number }, value: Buffer) => void) => void

/** A ledger as a Yellowstone server streams it, over real gRPC. It forks, lags, hangs and lies on command. */
export class YellowstoneServer {
  readonly #ledger: SolanaLedger
  readonly #sessions = new Set<Session>()
  #server: Server | undefined
  #port = 0
  /** So many blocks can be replayed. */
  replayBlocks = 100
  hasReplayInfo = true
  /** Blocks are sent so many blocks late. */
  lagBlocks = 0
  isHanging = false
  /** Changes the bytes of an update before they are sent, or drops it. */
  falsify: (bytes: Buffer, part: Partial<SubscribeUpdate>) => Buffer | undefined = (bytes) => bytes
  /** What clients asked for, connection by connection. */
  readonly requests: SubscribeRequest[] = []
  /** Pings of clients. */
  pongs = 0
  token: string | undefined

  constructor(ledger: SolanaLedger) {
    this.#ledger = ledger
  }

  /** Returns the URL, which stays the same after `kill`. */
  async listen(): Promise<string> {
    const server = new Server({ 'grpc.max_send_message_length': -1 })
    server.addService(service(), {
      Subscribe: (call: Call) => this.#subscribe(call),
      SubscribeReplayInfo: ((_call, answer) => {
        if (!this.hasReplayInfo) return answer({ code: status.UNIMPLEMENTED }, Buffer.alloc(0))
        const first = this.#replayable()[0]
        const firstAvailable = first === undefined ? undefined : String(this.#ledger.slotOf(first))
        answer(null, Buffer.from(SubscribeReplayInfoResponse.encode({ firstAvailable }).finish()))
      }) satisfies Unary,
      Ping: ((_call, answer) =>
        answer(null, Buffer.from(PongResponse.encode({ count: 1 }).finish()))) satisfies Unary,
      GetVersion: ((_call, answer) =>
        answer(null, Buffer.from(GetVersionResponse.encode({ version: 'rig' }).finish()))) satisfies Unary,
      GetSlot: ((_call, answer) => {
        const slot = String(this.#ledger.slotOf(this.#ledger.chain.tip))
        answer(null, Buffer.from(GetSlotResponse.encode({ slot }).finish()))
      }) satisfies Unary,
    })
    this.#port = await new Promise<number>((resolve, reject) => {
      const address = `127.0.0.1:${this.#port}`
      server.bindAsync(address, ServerCredentials.createInsecure(), (error, port) =>
        error === null ? resolve(port) : reject(error),
      )
    })
    this.#server = server
    return `http://127.0.0.1:${this.#port}`
  }

  get connections(): number {
    return this.#sessions.size
  }

  /** Ends every connection and listens no more, until `listen` is called again. */
  kill(): void {
    for (const session of this.#sessions) session.stop()
    this.#server?.forceShutdown()
    this.#server = undefined
  }

  /** Sends an update to every client, out of turn. */
  send(part: Partial<SubscribeUpdate>): void {
    for (const session of this.#sessions) session.send(part)
  }

  /** The blocks that this server has. */
  visible(): readonly Header[] {
    const headers = this.#ledger.chain.reported()
    return headers.slice(0, Math.max(1, headers.length - this.lagBlocks))
  }

  transactionsOf(header: Header, accounts: ReadonlySet<string>): SubscribeUpdateTransactionInfo[] {
    return this.#ledger
      .transactionsOf(header)
      .map(toTransactionInfo)
      .filter((info) => keysOf(info).some((key) => accounts.has(base58.encode(key))))
  }

  blockOf(header: Header, accounts: ReadonlySet<string>): Partial<SubscribeUpdate> {
    const parent = { number: header.number - 1, hash: header.parentHash }
    const slot = this.#ledger.slotOf(header)
    const parentSlot = Math.max(0, this.#ledger.slotOf(parent))
    return { block: toBlockMessage(header, slot, parentSlot, this.transactionsOf(header, accounts)) }
  }

  slotOf(header: Header): number {
    return this.#ledger.slotOf(header)
  }

  get final(): Header | undefined {
    return this.#ledger.chain.final
  }

  #replayable(): readonly Header[] {
    return this.replayBlocks === 0 ? [] : this.visible().slice(-this.replayBlocks)
  }

  #subscribe(call: Call): void {
    if (this.token !== undefined && call.metadata.get('x-token')[0] !== this.token) {
      call.emit('error', { code: status.UNAUTHENTICATED, details: 'no token', metadata: new Metadata() })
      return
    }
    let session: Session | undefined
    call.on('data', (bytes: Buffer) => {
      const request = SubscribeRequest.decode(bytes)
      if (request.ping !== undefined) {
        this.pongs++
        session?.send({ pong: { id: request.ping.id } })
        return
      }
      this.requests.push(request)
      const { fromSlot } = request
      const first = this.#replayable()[0]
      const isGone = first === undefined || (fromSlot !== undefined && Number(fromSlot) < this.slotOf(first))
      if (fromSlot !== undefined && isGone) {
        const details = `broadcast from ${fromSlot} is not available`
        call.emit('error', { code: status.INVALID_ARGUMENT, details, metadata: new Metadata() })
        return
      }
      session = new Session(this, call, request)
      this.#sessions.add(session)
    })
    const end = (): void => {
      session?.stop()
      if (session !== undefined) this.#sessions.delete(session)
    }
    call.on('end', end)
    call.on('cancelled', end)
    call.on('error', end)
  }
}

/** One subscriber: what was sent to it, and what comes next. */
class Session {
  readonly #server: YellowstoneServer
  readonly #call: Call
  readonly #accounts: ReadonlySet<string>
  readonly #fromSlot: number
  readonly #timers: NodeJS.Timeout[]
  /** The branch as sent. */
  #sent: ReadonlySet<string>
  #final: string | undefined

  constructor(server: YellowstoneServer, call: Call, { blocks, fromSlot }: SubscribeRequest) {
    this.#server = server
    this.#call = call
    this.#accounts = new Set(Object.values(blocks).flatMap(({ accountInclude }) => accountInclude))
    // A node confirms the next block only after it was subscribed to.
    const before = fromSlot === undefined ? server.visible().slice(0, -1) : []
    this.#sent = new Set(before.map(({ hash }) => hash))
    this.#fromSlot = Number(fromSlot ?? 0)
    this.#timers = [
      setInterval(() => this.#look(), LOOK_EVERY_MS),
      setInterval(() => this.send({ ping: {} }), PING_EVERY_MS),
    ]
  }

  send(part: Partial<SubscribeUpdate>): void {
    if (this.#server.isHanging) return
    const bytes = this.#server.falsify(encodeUpdate(part), part)
    if (bytes !== undefined) this.#call.write(bytes)
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer)
  }

  #look(): void {
    if (this.#server.isHanging) return
    const headers = this.#server.visible()
    for (const header of headers) {
      const slot = this.#server.slotOf(header)
      if (this.#sent.has(header.hash) || slot < this.#fromSlot) continue
      this.send(slotUpdate(slot, SlotStatus.SLOT_CONFIRMED))
      this.send(this.#server.blockOf(header, this.#accounts))
    }
    this.#sent = new Set(headers.map(({ hash }) => hash))
    const { final } = this.#server
    if (final === undefined || final.hash === this.#final || !this.#sent.has(final.hash)) return
    this.#final = final.hash
    this.send(slotUpdate(this.#server.slotOf(final), SlotStatus.SLOT_FINALIZED))
  }
}

export function slotUpdate(slot: number, slotStatus: SlotStatus): Partial<SubscribeUpdate> {
  return { slot: { slot: String(slot), status: slotStatus } }
}

function keysOf({ transaction, meta }: SubscribeUpdateTransactionInfo): Uint8Array[] {
  return [
    ...(transaction?.message?.accountKeys ?? []),
    ...(meta?.loadedWritableAddresses ?? []),
    ...(meta?.loadedReadonlyAddresses ?? []),
  ]
}

function service() {
  const asIs = (bytes: Buffer): Buffer => bytes
  const method = (name: string, isStream: boolean) => ({
    path: `/geyser.Geyser/${name}`,
    requestStream: isStream,
    responseStream: isStream,
    ...{
      requestSerialize: asIs,
      requestDeserialize: asIs,
      responseSerialize: asIs,
      responseDeserialize: asIs,
    },
  })
  return {
    Subscribe: method('Subscribe', true),
    SubscribeReplayInfo: method('SubscribeReplayInfo', false),
    Ping: method('Ping', false),
    GetVersion: method('GetVersion', false),
    GetSlot: method('GetSlot', false),
  }
}
