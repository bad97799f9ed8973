import type { DexRegistry } from '../../../dex/registry.ts'
import type { QuoteAsset } from '../../../domain/chain-settings.ts'
import type { CreatedPool } from '../../../domain/created-pool.ts'
import type { Fact } from '../../../domain/envelope.ts'
import type { Asker } from '../../facts/asker.ts'
import { type LookedUp, type LookUpBlock, NOTHING_LOOKED_UP, toPoolFact } from '../../facts/block-facts.ts'
import type { Header, KnownFacts } from '../../source.ts'
import { isSettled } from './non-circulating.ts'
import { PoolQuestions } from './pool-questions.ts'
import { tokensAmong } from './token-fact.ts'

/** Pools by their creation events. */
export type CreatedPools = {
  pool(address: string): CreatedPool | undefined
  poolsOf(token: string, other: string | undefined, limit: number): string[]
  add(pools: readonly CreatedPool[]): void
}

export type LookUpParts = {
  readonly pools: CreatedPools
  readonly registry: DexRegistry
  /** Highest rank first. */
  readonly quoteAssets: readonly QuoteAsset[]
}

const MAX_WANTED = 10_000
const MAX_IDS_PER_BLOCK = 16
/** To exchanges that list pools by token, which are asked about each quote asset. */
const MAX_QUESTIONS_PER_BLOCK = 1_024
const MAX_POOLS_PER_BLOCK = 32
/** Those with a quote asset first. */
const MAX_POOLS_PER_TOKEN = 12
const MAX_QUOTE_POOLS = 8
const MAX_POOLS_CONSIDERED = 256
/** For how many blocks an id that led to nothing is not looked up again. */
const ABSENT_BLOCKS = 64
const MAX_ABSENT = 100_000
const ADDRESS_LETTERS = 42

/** Ids that the index does not answer. */
type Unindexed = {
  readonly unlisted: readonly string[]
  readonly tokens: readonly string[]
  readonly isOpen: (pool: string) => boolean
}

const INDEXED_ONLY: Unindexed = { unlisted: [], tokens: [], isOpen: () => false }

/**
 * Looks up pools and tokens that have not traded since the log began, when a client asks for them: their facts, and
 * their state after the block that takes them up. Quote assets come first, because they price all others.
 */
export class LookUps {
  readonly #parts: LookUpParts
  readonly #questions: PoolQuestions
  readonly #wanted = new Set<string>()
  /** By the block that answered them, until it is final: an undo of that block makes them wanted again. */
  readonly #answered = new Map<string, number>()
  readonly #absent = new Map<string, number>()
  /** Pools of two quote assets, by how much depends on them. */
  #anchors: readonly (readonly string[])[] = []

  constructor(parts: LookUpParts) {
    this.#parts = parts
    this.#questions = new PoolQuestions(parts.registry)
  }

  get waiting(): number {
    return this.#wanted.size
  }

  /** If too many are waiting, new requests are dropped; clients repeat them. */
  want(id: string): void {
    if (this.#wanted.size < MAX_WANTED) this.#wanted.add(id)
  }

  /** To be called when the index has grown. Pools of quote assets are read without being asked for. */
  wantQuoteAssets(): void {
    const { quoteAssets } = this.#parts
    const first: string[] = []
    const second: string[] = []
    for (const [rank, { address, kind }] of quoteAssets.entries())
      for (const other of quoteAssets.slice(rank + 1)) {
        const found = this.#someOfEach(address, other.address, MAX_QUOTE_POOLS)
        const isAnchor = new Set([kind, other.kind]).size === 2 && kind !== 'major' && other.kind !== 'major'
        for (const pool of found) (isAnchor ? first : second).push(pool)
      }
    this.#anchors = [first, second]
  }

  /** Whether a creation event names the id, as a pool or as a token of one. */
  isListed(id: string): boolean {
    return this.#poolsOf(id).length > 0
  }

  /** Nothing was found behind the id a few blocks ago. */
  isAbsent(id: string, block: number): boolean {
    return (this.#absent.get(id) ?? 0) > block
  }

  announced(pool: string): CreatedPool | undefined {
    return this.#parts.pools.pool(pool)
  }

  /** Facts for this block. Changes nothing: `learn` does. */
  async lookUp(asker: Asker, found: LookUpBlock): Promise<LookedUp> {
    const { block, known, head } = found
    const remembered = this.#remembered(found)
    // Nodes have the state of recent blocks only, and what is older changes until the head is reached.
    if (isSettled(block, head)) return { ...NOTHING_LOOKED_UP, remembered }
    const askExactly: Asker['askExactly'] = (calls, hash) => asker.askExactly(calls, hash)
    const exactly: Asker = { ask: askExactly, askExactly }
    const anchors = this.#anchors
      .map((all) => all.filter((pool) => !known.knowsPool(pool) && !this.isAbsent(pool, block.number)))
      .find((all) => all.length > 0)
    const asked =
      anchors === undefined
        ? await this.#lookUpWanted(exactly, block, known)
        : (await this.#read(exactly, block, anchors.slice(0, MAX_POOLS_PER_BLOCK), INDEXED_ONLY)).found
    const unreported = this.#unreported(found)
    const states = await this.#questions.states(exactly, block, unreported)
    const read = states.filter((state) => typeof state === 'object')
    return {
      ...asked,
      states: [...asked.states, ...read],
      remembered: [...asked.remembered, ...remembered],
    }
  }

  /** New pools whose state has to be read again after each event. */
  #remembered({ block, met }: LookUpBlock): CreatedPool[] {
    return [...met.values()].flatMap(({ address, factory, tokens, pricing }) =>
      this.#isUncounted(factory, block)
        ? { address, factory, tokens, pricing, tickSpacing: undefined, goalRaw: undefined }
        : [],
    )
  }

  #isUncounted(factory: string, { number }: Header): boolean {
    const is = this.#parts.registry.deploymentOf(factory, number)?.is
    return is?.reserves === 'unknown' && is.readState !== undefined
  }

  /** Pools with events in this block that do not report their reserves. */
  #unreported({ block, met, touched }: LookUpBlock): CreatedPool[] {
    const { pools, registry } = this.#parts
    const found: CreatedPool[] = []
    for (const address of touched) {
      if (found.length >= MAX_POOLS_PER_BLOCK) break
      const fact = met.get(address)
      const listed = pools.pool(address)
      const pool =
        fact === undefined ? listed : { tickSpacing: listed?.tickSpacing, goalRaw: undefined, ...fact }
      const reserves = pool && registry.deploymentOf(pool.factory, block.number)?.is.reserves
      const isOlder = fact !== undefined && fact.reservesBefore === undefined && reserves !== 'reported'
      if (pool !== undefined && (reserves === 'unknown' || isOlder)) found.push(pool)
    }
    return found
  }

  learn({ ids, absent, remembered }: LookedUp, block: Header): void {
    if (remembered.length > 0) this.#parts.pools.add(remembered)
    for (const id of ids) {
      this.#wanted.delete(id)
      this.#answered.set(id, block.number)
    }
    if (this.#absent.size >= MAX_ABSENT) this.#absent.clear()
    for (const id of absent) {
      this.#wanted.delete(id)
      this.#absent.set(id, block.number + ABSENT_BLOCKS)
    }
  }

  take(): Fact[] {
    return []
  }

  readOn({ number }: Header): void {
    // Far more blocks than a fork undoes.
    for (const [id, block] of this.#answered) if (block < number - 4_096) this.#answered.delete(id)
  }

  /** Blocks were undone: what they answered is looked up again. */
  forget(): void {
    for (const id of this.#answered.keys()) this.want(id)
    this.#answered.clear()
    this.#absent.clear()
  }

  async #lookUpWanted(asker: Asker, block: Header, known: KnownFacts): Promise<LookedUp> {
    const questions = this.#questions.listers(block) * this.#parts.quoteAssets.length
    const maxIds = Math.min(MAX_IDS_PER_BLOCK, Math.ceil(MAX_QUESTIONS_PER_BLOCK / Math.max(1, questions)))
    const isOpen = (pool: string): boolean => !known.knowsPool(pool) && !this.isAbsent(pool, block.number)
    const ids: string[] = []
    const done: string[] = []
    const pools = new Set<string>()
    const unlisted: string[] = []
    for (const id of this.#wanted) {
      if (ids.length >= maxIds || pools.size >= MAX_POOLS_PER_BLOCK) break
      if (known.knowsPool(id) || this.isAbsent(id, block.number)) {
        done.push(id)
        continue
      }
      const found = this.#poolsOf(id).filter(isOpen)
      for (const pool of found) pools.add(pool)
      if (found.length === 0 && !known.knowsToken(id)) unlisted.push(id)
      ids.push(id)
    }
    if (ids.length === 0) return { ...NOTHING_LOOKED_UP, ids: done }
    const tokens = ids.filter((id) => id.length === ADDRESS_LETTERS && !this.#parts.pools.pool(id))
    const { found, changing } = await this.#read(asker, block, [...pools], { unlisted, tokens, isOpen })
    // An id whose pools all failed is tried again: as a token, or not before some blocks have passed.
    const answered = ids.filter((id) => isAnswered(id, found))
    const exhausted = ids.filter((id) => known.knowsToken(id) && !answered.includes(id) && !changing.has(id))
    return { ...found, ids: [...done, ...answered], absent: [...found.absent, ...exhausted] }
  }

  #poolsOf(id: string): string[] {
    const { pools, quoteAssets } = this.#parts
    if (pools.pool(id) !== undefined) return [id]
    if (id.length !== ADDRESS_LETTERS) return []
    const quoted = quoteAssets.flatMap(({ address }) => this.#someOfEach(id, address, MAX_POOLS_PER_TOKEN))
    const all = new Set([...quoted, ...this.#someOfEach(id, undefined, MAX_POOLS_PER_TOKEN)])
    return [...all].slice(0, MAX_POOLS_PER_TOKEN)
  }

  /** The exchanges take turns: in some of them anyone can create any number of pools of the same tokens. */
  #someOfEach(token: string, other: string | undefined, limit: number): string[] {
    const { pools } = this.#parts
    const byFactory = new Map<string, string[]>()
    for (const pool of pools.poolsOf(token, other, MAX_POOLS_CONSIDERED)) {
      const factory = pools.pool(pool)?.factory ?? ''
      const own = byFactory.get(factory)
      if (own === undefined) byFactory.set(factory, [pool])
      else own.push(pool)
    }
    const turns = [...byFactory.values()].flatMap((all) => all.map((pool, turn) => ({ pool, turn })))
    return turns
      .sort((a, b) => a.turn - b.turn)
      .slice(0, limit)
      .map(({ pool }) => pool)
  }

  /**
   * `unlisted` are in no creation event that was scanned: pools that their factory confirms, or tokens. Exchanges that
   * list pools by token are asked for those of `tokens`. Tokens of pools whose state was `changing` are to be tried again.
   */
  async #read(
    asker: Asker,
    block: Header,
    listed: readonly string[],
    { unlisted, tokens, isOpen }: Unindexed,
  ): Promise<{ found: LookedUp; changing: ReadonlySet<string> }> {
    const { pools, quoteAssets } = this.#parts
    const created = listed.flatMap((pool) => pools.pool(pool) ?? [])
    const identified = await this.#questions.identify(asker, block, unlisted)
    const rest = unlisted.filter((id) => identified.every(({ address }) => address !== id))
    const quotes = quoteAssets.map(({ address }) => address)
    const sought = tokens.filter((id) => identified.every(({ address }) => address !== id))
    const named = await this.#questions.findPools(asker, block, sought, quotes)
    const isNew = ({ address }: CreatedPool): boolean => isOpen(address) && !listed.includes(address)
    const unindexed = [...identified, ...named.filter(isNew).slice(0, MAX_POOLS_PER_BLOCK)]
    const all = [...created, ...unindexed]
    const states = await this.#questions.states(asker, block, all)
    const changing = new Set(all.flatMap((pool, at) => (states[at] === 'changing' ? pool.tokens : [])))
    const read = all.filter((_, at) => typeof states[at] === 'object')
    const alone = rest.filter((id) => !changing.has(id) && read.every((pool) => !pool.tokens.includes(id)))
    const candidates = alone.filter((id) => id.length === ADDRESS_LETTERS)
    const found = await tokensAmong(asker, candidates, block.hash)
    return {
      changing,
      found: {
        pools: read.map(toPoolFact),
        tokens: found,
        states: states.filter((state) => typeof state === 'object'),
        ids: listed,
        remembered: unindexed.filter((pool) => read.includes(pool) && this.#isUncounted(pool.factory, block)),
        absent: [
          ...all.flatMap(({ address }, at) => (states[at] === undefined ? address : [])),
          ...alone.filter((id) => !found.includes(id)),
        ],
      },
    }
  }
}

function isAnswered(id: string, { pools, tokens }: LookedUp): boolean {
  return tokens.includes(id) || pools.some((pool) => pool.address === id || pool.tokens.includes(id))
}
