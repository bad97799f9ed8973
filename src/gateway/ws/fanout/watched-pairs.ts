import type { Change, ChangeSet, Pair, Token, Trade, Windows } from '../../../domain/change.ts'
import { type ChainAddress, formatChainAddress } from '../../../domain/ids.ts'
import { RecentlyUsed } from '../../../domain/recently-used.ts'
import type { Version } from '../../market/overlay-documents.ts'
import type { PricedPair, PricedQuote } from '../../shape/price-entry.ts'
import type { ChainTimes } from '../../shape/windows.ts'

/** The documents that a push about a pair is built from, each as of the last set that changed it. */
type Watched = {
  readonly ref: ChainAddress
  watchers: number
  pair: Version<Pair> | undefined
  windows: Version<Windows> | undefined
  target: Version<Token> | undefined
}

type FollowedToken = {
  readonly ref: ChainAddress
  followers: number
  /** The pairs that were its main one since. */
  readonly pairs: Map<string, ChainAddress>
  token: Version<Token> | undefined
  windows: Version<Windows> | undefined
}

/** The documents of a token, as they were read for a snapshot. */
export type TokenDocuments = Pick<FollowedToken, 'token' | 'windows'>

/** The documents of a pair, as they were read for a snapshot. */
export type PairDocuments = {
  readonly pair: Version<Pair> | undefined
  readonly windows: Version<Windows> | undefined
  readonly target: Version<Token> | undefined
}

const TRADED_PAIRS = 10_000

/**
 * The documents of pairs with price or candle subscribers: a change set contains only what changed, and a push
 * needs more than that.
 */
export class WatchedPairs {
  readonly #pairs = new Map<string, Watched>()
  /** By token: the watched pairs that have it as their target. */
  readonly #byTarget = new Map<string, Set<string>>()
  readonly #tokens = new Map<string, FollowedToken>()

  /** A pair that a reorg removes is published without its tokens, but subscribers of the tokens receive its retracted trades. */
  readonly #traded = new RecentlyUsed<readonly string[]>(TRADED_PAIRS)

  get size(): number {
    return this.#pairs.size
  }

  watch(ref: ChainAddress): void {
    const id = formatChainAddress(ref.address, ref.chain)
    const known = this.#pairs.get(id)
    if (known !== undefined) known.watchers++
    else {
      const nothing = { pair: undefined, windows: undefined, target: undefined }
      this.#pairs.set(id, { ref, watchers: 1, ...nothing })
    }
  }

  unwatch(ref: ChainAddress): void {
    const id = formatChainAddress(ref.address, ref.chain)
    const known = this.#pairs.get(id)
    if (known === undefined || --known.watchers > 0) return
    this.#pairs.delete(id)
    this.#unlink(id, known)
  }

  watchToken(ref: ChainAddress): void {
    const id = formatChainAddress(ref.address, ref.chain)
    const known = this.#tokens.get(id)
    if (known !== undefined) known.followers++
    else this.#tokens.set(id, { ref, followers: 1, pairs: new Map(), token: undefined, windows: undefined })
  }

  unwatchToken(ref: ChainAddress): void {
    const id = formatChainAddress(ref.address, ref.chain)
    const known = this.#tokens.get(id)
    if (known === undefined || --known.followers > 0) return
    this.#tokens.delete(id)
    for (const pair of known.pairs.values()) this.unwatch(pair)
  }

  /** The pairs and tokens of a chain whose documents are here. */
  refsOf(chain: string): { readonly pairs: ChainAddress[]; readonly tokens: ChainAddress[] } {
    const refs = (all: Iterable<{ readonly ref: ChainAddress }>): ChainAddress[] =>
      Array.from(all, ({ ref }) => ref).filter((ref) => ref.chain === chain)
    return { pairs: refs(this.#pairs.values()), tokens: refs(this.#tokens.values()) }
  }

  /** Drops the documents of a chain, because another generation of it is served. */
  forget(chain: string): void {
    for (const [id, known] of this.#pairs) {
      if (known.ref.chain !== chain) continue
      this.#setPair(id, known, undefined)
      known.windows = undefined
      known.target = undefined
    }
    for (const known of this.#tokens.values()) {
      if (known.ref.chain !== chain) continue
      known.token = undefined
      known.windows = undefined
    }
  }

  /** Adds a snapshot of a followed token's main pair. */
  offerMain(token: ChainAddress, pair: ChainAddress, documents: PairDocuments): void {
    this.#follow(formatChainAddress(token.address, token.chain), pair)
    this.offer(pair, documents)
  }

  /** Adds a snapshot of a followed token itself. */
  offerToken(ref: ChainAddress, { token, windows }: TokenDocuments): void {
    const known = this.#tokens.get(formatChainAddress(ref.address, ref.chain))
    if (known === undefined) return
    known.token = newer(known.token, token)
    known.windows = newer(known.windows, windows)
  }

  /** Adds the documents of a snapshot, unless a set has published later ones meanwhile. */
  offer(ref: ChainAddress, { pair, windows, target }: PairDocuments): void {
    const id = formatChainAddress(ref.address, ref.chain)
    const known = this.#pairs.get(id)
    if (known === undefined) return
    known.windows = newer(known.windows, windows)
    known.target = newer(known.target, target)
    this.#setPair(id, known, newer(known.pair, pair))
  }

  /** Takes a set in, and gives the pairs whose price entry it may have changed. */
  apply({ chain, seq, changes }: ChangeSet): string[] {
    const touched = new Set<string>()
    this.#applyToFollowed(chain, seq, changes)
    for (const change of changes) {
      if (change.type === 'pair') {
        const { address, targetToken, isMain } = change.pair
        // A subscription to a token follows its main pair, which may be one without subscribers so far.
        if (isMain && targetToken !== undefined)
          this.#follow(formatChainAddress(targetToken, chain), { chain, address })
        const id = formatChainAddress(address, chain)
        const known = this.#pairs.get(id)
        if (known === undefined) continue
        this.#setPair(id, known, { seq, record: change.pair })
        touched.add(address)
      } else if (change.type === 'pairRemoved') {
        const known = this.#pairs.get(formatChainAddress(change.pair, chain))
        if (known !== undefined)
          this.#setPair(formatChainAddress(change.pair, chain), known, { seq, record: undefined })
      } else if (change.type === 'trade') {
        this.#remember(chain, change.trade)
      }
    }
    for (const change of changes) {
      if (change.type === 'token') {
        const { address, priceUsd } = change.token
        for (const id of this.#byTarget.get(formatChainAddress(address, chain)) ?? []) {
          const known = this.#pairs.get(id)
          if (known === undefined) continue
          if (known.target?.record?.priceUsd !== priceUsd && known.pair?.record !== undefined)
            touched.add(known.pair.record.address)
          known.target = { seq, record: change.token }
        }
      } else if (change.type === 'windows' && change.windows.pair !== undefined) {
        const known = this.#pairs.get(formatChainAddress(change.windows.pair, chain))
        if (known !== undefined) known.windows = { seq, record: change.windows }
      } else if (change.type === 'windowsRemoved' && change.windows.pair !== undefined) {
        const known = this.#pairs.get(formatChainAddress(change.windows.pair, chain))
        if (known !== undefined) known.windows = { seq, record: undefined }
      } else if (change.type === 'tokenRemoved') {
        for (const id of this.#byTarget.get(formatChainAddress(change.token, chain)) ?? []) {
          const known = this.#pairs.get(id)
          if (known !== undefined) known.target = { seq, record: undefined }
        }
      }
    }
    return [...touched]
  }

  /** The followed tokens that a set changes. */
  followedOf({ chain, changes }: ChangeSet): string[] {
    if (this.#tokens.size === 0) return []
    return changes.flatMap((change) =>
      change.type === 'token' && this.#tokens.has(formatChainAddress(change.token.address, chain))
        ? [change.token.address]
        : [],
    )
  }

  /** Undefined unless the token is the quote of its main pair, and both are known. */
  pricedQuote(chain: string, address: string, times: ChainTimes | undefined): PricedQuote | undefined {
    const known = this.#tokens.get(formatChainAddress(address, chain))
    const token = known?.token?.record
    if (token?.mainPair === undefined) return undefined
    const pair = this.#pairs.get(formatChainAddress(token.mainPair, chain))?.pair?.record
    if (pair === undefined || pair.targetToken === address) return undefined
    return { chain, pair, token, windows: known?.windows?.record, times }
  }

  /** The tokens of a pair that was traded lately; none if that is too long ago. */
  tokensOf(chain: string, pair: string): readonly string[] {
    return this.#traded.get(formatChainAddress(pair, chain)) ?? []
  }

  /** Undefined while the pair itself is not known. */
  priced(chain: string, address: string, times: ChainTimes | undefined): PricedPair | undefined {
    const known = this.#pairs.get(formatChainAddress(address, chain))
    const pair = known?.pair?.record
    if (known === undefined || pair === undefined) return undefined
    return { chain, pair, target: known.target?.record, windows: known.windows?.record, times }
  }

  #remember(chain: string, { pair, sold, bought }: Trade): void {
    const id = formatChainAddress(pair, chain)
    if (this.#traded.get(id) === undefined) this.#traded.set(id, [sold.token, bought.token])
    this.#traded.evict()
  }

  /** Before the pairs of a set: the main pair of a quote asset is known by the token alone. */
  #applyToFollowed(chain: string, seq: number, changes: readonly Change[]): void {
    if (this.#tokens.size === 0) return
    const followed = (token: string | undefined): FollowedToken | undefined =>
      token === undefined ? undefined : this.#tokens.get(formatChainAddress(token, chain))
    for (const change of changes) {
      if (change.type === 'token') {
        const { address, mainPair } = change.token
        const known = followed(address)
        if (known !== undefined) known.token = { seq, record: change.token }
        if (mainPair !== undefined)
          this.#follow(formatChainAddress(address, chain), { chain, address: mainPair })
      } else if (change.type === 'tokenRemoved') {
        const known = followed(change.token)
        if (known !== undefined) known.token = { seq, record: undefined }
      } else if (change.type === 'windows' || change.type === 'windowsRemoved') {
        const known = followed(change.windows.token)
        if (known === undefined) continue
        known.windows = { seq, record: change.type === 'windows' ? change.windows : undefined }
      }
    }
  }

  /** Held as long as the token is followed: a fork may well make it the main pair again, or no more. */
  #follow(token: string, pair: ChainAddress): void {
    const followed = this.#tokens.get(token)
    const id = formatChainAddress(pair.address, pair.chain)
    if (followed === undefined || followed.pairs.has(id)) return
    followed.pairs.set(id, pair)
    this.watch(pair)
  }

  #setPair(id: string, known: Watched, pair: Version<Pair> | undefined): void {
    this.#unlink(id, known)
    known.pair = pair
    const token = pair?.record?.targetToken
    if (token === undefined) return
    const key = formatChainAddress(token, known.ref.chain)
    const ids = this.#byTarget.get(key) ?? new Set()
    this.#byTarget.set(key, ids.add(id))
  }

  #unlink(id: string, { ref: { chain }, pair }: Watched): void {
    const token = pair?.record?.targetToken
    if (token === undefined) return
    const key = formatChainAddress(token, chain)
    const ids = this.#byTarget.get(key)
    ids?.delete(id)
    if (ids?.size === 0) this.#byTarget.delete(key)
  }
}

function newer<T>(a: Version<T> | undefined, b: Version<T> | undefined): Version<T> | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return a.seq >= b.seq ? a : b
}
