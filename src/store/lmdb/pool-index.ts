import type { CreatedPool } from '../../domain/created-pool.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import type { FoundLaunch, PastLaunch } from '../../domain/found-launch.ts'
import { ByteReader } from '../../wire/byte-reader.ts'
import { ByteWriter } from '../../wire/byte-writer.ts'
import { biguint, id, list, optional, record, varuint } from '../../wire/codec.ts'
import { pricingCodec } from '../../wire/fact-codec.ts'
import { openFile } from './open-file.ts'

/** Blocks of a factory that are scanned: all before `next`, up to and including `upTo` in the end. */
export type ScanProgress = { readonly next: number; readonly upTo: number }

/** Pools by their creation events, most of which nobody asks for. */
export type PoolIndex = {
  pool(address: string): CreatedPool | undefined
  /** Addresses of pools of a token, with one other token or with any, at most `limit`. */
  poolsOf(token: string, other: string | undefined, limit: number): string[]
  hasToken(token: string): boolean
  /** By the platform whose events name the token first. */
  launchOf(token: string): PastLaunch | undefined
  readonly size: number
  progress(factory: string): ScanProgress | undefined
  /** Pools, launches and the progress of their scan become durable together. */
  add(
    pools: readonly CreatedPool[],
    progress?: ReadonlyMap<string, ScanProgress>,
    launches?: readonly FoundLaunch[],
  ): void
  close(): Promise<void>
}

const FORMAT = 'pools-1'
/** Address space, not memory or disk; see the state store. */
const MAP_BYTES = 2 ** 38
const NOTHING = new Uint8Array()
/** Greater than any byte that follows a prefix of a key. */
const LAST = Buffer.alloc(80, 0xff)

const poolCodec = record<Omit<CreatedPool, 'address'>>({
  factory: id,
  tokens: list(id),
  pricing: pricingCodec,
  tickSpacing: optional(varuint),
  goalRaw: optional(biguint),
})

type EventPlace = Pick<FoundLaunch, 'block' | 'log'>

/** The first event of each kind. */
type Claim = { readonly created: EventPlace | undefined; readonly graduated: EventPlace | undefined }

const place = optional(record<EventPlace>({ block: varuint, log: varuint }))
const claimCodec = record<Claim>({ created: place, graduated: place })

/**
 * The index on disk, in a folder of its own: it comes from the chain and not from the log, so a rebuilt reader index
 * keeps it, and a lost one is scanned again.
 */
export function openPoolIndex(dir: string): PoolIndex {
  const root = openFile(dir, { maxDbs: 4, mapSize: MAP_BYTES })
  const pools = root.openDB<Uint8Array, Buffer>({ name: 'pools', encoding: 'binary', keyEncoding: 'binary' })
  /** Token, other token, pool. */
  const sides = root.openDB<Uint8Array, Buffer>({ name: 'sides', encoding: 'binary', keyEncoding: 'binary' })
  /** By token and platform. */
  const launches = root.openDB<Uint8Array, Buffer>({
    name: 'launches',
    encoding: 'binary',
    keyEncoding: 'binary',
  })
  const meta = root.openDB<unknown, string>({ name: 'meta', encoding: 'json' })
  const format = meta.get('format') ?? FORMAT
  if (format !== FORMAT)
    throw new ChaintapeError('state_outdated', `${dir} has pool index format ${format}, not ${FORMAT}`)
  let size = Number(meta.get('size') ?? 0)

  const under = (prefix: Buffer, limit: number): Iterable<Buffer> =>
    sides.getKeys({ start: prefix, end: Buffer.concat([prefix, LAST]), limit })

  const claimAt = (key: Buffer): Claim => {
    const bytes = launches.get(key)
    return bytes === undefined
      ? { created: undefined, graduated: undefined }
      : claimCodec.read(new ByteReader(bytes))
  }

  return {
    pool: (address) => {
      const bytes = pools.get(keyOf(address))
      return bytes === undefined ? undefined : { address, ...poolCodec.read(new ByteReader(bytes)) }
    },
    poolsOf: (token, other, limit) => {
      const first = keyOf(token)
      const prefix = other === undefined ? first : Buffer.concat([first, keyOf(other)])
      const from = other === undefined ? 2 * first.length : prefix.length
      return Array.from(under(prefix, limit), (key) => `0x${Buffer.from(key).toString('hex', from)}`)
    },
    hasToken: (token) => {
      for (const _ of under(keyOf(token), 1)) return true
      return false
    },
    launchOf: (token) => {
      const prefix = keyOf(token)
      let first: { readonly claim: Claim; readonly factory: string } | undefined
      for (const key of launches.getKeys({ start: prefix, end: Buffer.concat([prefix, LAST]) })) {
        const claim = claimAt(key)
        const factory = `0x${Buffer.from(key).toString('hex', prefix.length)}`
        if (first === undefined || isBefore(firstOf(claim), firstOf(first.claim))) first = { claim, factory }
      }
      if (first === undefined) return undefined
      const { claim, factory } = first
      return { factory, createdIn: claim.created?.block, graduatedIn: claim.graduated?.block }
    },
    get size() {
      return size
    },
    progress: (factory) => meta.get(`scan/${factory}`) as ScanProgress | undefined,
    add: (found, progress = new Map(), foundLaunches = []) => {
      root.transactionSync(() => {
        for (const pool of found) {
          const key = keyOf(pool.address)
          if (pools.get(key) !== undefined) continue
          const w = new ByteWriter()
          poolCodec.write(w, pool)
          pools.putSync(key, w.finish())
          for (const side of sidesOf(pool)) sides.putSync(side, NOTHING)
          size++
        }
        for (const { token, factory, is, block, log } of foundLaunches) {
          const key = Buffer.concat([keyOf(token), keyOf(factory)])
          const claim = claimAt(key)
          const known = claim[is]
          if (known !== undefined && !isBefore({ block, log }, known)) continue
          const w = new ByteWriter()
          claimCodec.write(w, { ...claim, [is]: { block, log } })
          launches.putSync(key, w.finish())
        }
        for (const [factory, at] of progress) meta.putSync(`scan/${factory}`, at)
        meta.putSync('size', size)
        meta.putSync('format', FORMAT)
      })
    },
    close: () => root.close(),
  }
}

/** Each token with each other one. */
function sidesOf({ address, tokens }: CreatedPool): Buffer[] {
  const pool = keyOf(address)
  return tokens.flatMap((token) =>
    tokens.flatMap((other) => (other === token ? [] : Buffer.concat([keyOf(token), keyOf(other), pool]))),
  )
}

function keyOf(address: string): Buffer {
  return Buffer.from(address.slice(2), 'hex')
}

function firstOf({ created, graduated }: Claim): EventPlace | undefined {
  return created === undefined || isBefore(graduated, created) ? graduated : created
}

function isBefore(a: EventPlace | undefined, b: EventPlace | undefined): boolean {
  if (a === undefined || b === undefined) return a !== undefined
  return a.block < b.block || (a.block === b.block && a.log < b.log)
}
