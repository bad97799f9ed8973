import type { ChangeSet } from '../../domain/change.ts'
import { dayOf, isWindowKnown, WINDOWS } from '../../domain/window.ts'

/** As of where reads of each chain answer. */
export type ChainProgress = {
  head(chain: string): { readonly time: number; readonly startTime?: number | undefined } | undefined
  readEnd(chain: string): { readonly seq: number }
}

/** An input of an answer: when one of these changes, the answer is dropped. */
export type Dependency =
  | `token/${string}`
  | `pair/${string}`
  /** The pairs of a token, and everything about them. */
  | `pairsOf/${string}`
  | `tokenWindows/${string}`
  | `pairWindows/${string}`

/** JSON that is sent as it is, and perhaps what has to be known of it beside. */
export type Answer = { readonly json: string | Buffer; readonly headers?: Readonly<Record<string, string>> }

export type CacheableAnswer<T extends Answer> = {
  readonly answer: T
  readonly dependsOn: readonly Dependency[]
  /** Time to live, if the answer also depends on data that no change set reports. */
  readonly ttlMs?: number
}

type Entry<T> = {
  readonly answer: T
  readonly chain: string
  readonly period: number
  readonly until: number
  readonly dependsOn: readonly string[]
  wasAskedFor: boolean
}

/** Overhead of an entry beside its characters, roughly. */
const ENTRY_BYTES = 500

/**
 * Answers, or parts of answers, as they are sent, until a change set says something new about what they were made from. They
 * are therefore never older than what was pushed. The oldest make room for others, unless they were asked for since
 * their turn last came. The name of an answer says which chain it is about.
 */
export class AnswerCache<T extends Answer> {
  readonly #view: ChainProgress
  readonly #maxBytes: number
  readonly #entries = new Map<string, Entry<T>>()
  readonly #byDependency = new Map<string, Set<string>>()
  #bytes = 0
  #clearings = 0

  constructor(view: ChainProgress, maxBytes: number) {
    this.#view = view
    this.#maxBytes = maxBytes
  }

  get(name: string): T | undefined {
    const entry = this.#entries.get(name)
    if (entry === undefined) return undefined
    if (entry.period !== this.#period(entry.chain) || performance.now() >= entry.until) {
      this.#evict(name)
      return undefined
    }
    entry.wasAskedFor = true
    return entry.answer
  }

  /** From here, or made now; cached only if nothing changed while it was made. */
  getOrMake(chain: string, name: string, make: () => Promise<CacheableAnswer<T>>): T | Promise<T> {
    return this.get(name) ?? this.#make(chain, name, make)
  }

  async #make(chain: string, name: string, make: () => Promise<CacheableAnswer<T>>): Promise<T> {
    const [before, clearings] = [this.#view.readEnd(chain).seq, this.#clearings]
    const made = await make()
    const isCurrent = this.#view.readEnd(chain).seq === before && this.#clearings === clearings
    if (isCurrent) this.put(chain, name, made)
    return made.answer
  }

  put(chain: string, name: string, { answer, dependsOn, ttlMs = Infinity }: CacheableAnswer<T>): void {
    this.#evict(name)
    const dependencies = dependsOn.map((each) => keyOf(chain, each))
    const period = this.#period(chain)
    const until = performance.now() + ttlMs
    this.#entries.set(name, { answer, chain, period, until, dependsOn: dependencies, wasAskedFor: false })
    this.#bytes += sizeOf(answer)
    for (const dependency of dependencies) {
      const names = this.#byDependency.get(dependency)
      if (names === undefined) this.#byDependency.set(dependency, new Set([name]))
      else names.add(name)
    }
    this.#makeRoom()
  }

  get size(): number {
    return this.#entries.size
  }

  /** Call when data changed that any answer (of a chain) may depend on and no change set reports. */
  clear(chain?: string): void {
    this.#clearings++
    for (const [name, entry] of [...this.#entries])
      if (chain === undefined || entry.chain === chain) this.#evict(name)
  }

  /** To be called with every set, before anybody reads what it changed. */
  apply({ chain, changes }: ChangeSet): void {
    if (this.#entries.size === 0) return
    const changed = (dependency: Dependency): void => {
      for (const name of this.#byDependency.get(keyOf(chain, dependency)) ?? []) this.#evict(name)
    }
    for (const change of changes) {
      switch (change.type) {
        case 'token':
          changed(`token/${change.token.address}`)
          break
        case 'tokenRemoved':
          changed(`token/${change.token}`)
          break
        case 'pair':
          changed(`pair/${change.pair.address}`)
          changed(`pairsOf/${change.pair.token0.token}`)
          changed(`pairsOf/${change.pair.token1.token}`)
          break
        case 'pairRemoved':
          changed(`pair/${change.pair}`)
          break
        case 'windows':
        case 'windowsRemoved': {
          const { pair, token } = change.windows
          if (pair !== undefined) changed(`pairWindows/${pair}`)
          if (token !== undefined) changed(`tokenWindows/${token}`)
          break
        }
        default:
          break
      }
    }
  }

  /** Second-chance eviction: an entry that was read moves to the end of the queue, so that a read only sets a mark. */
  #makeRoom(): void {
    for (const [oldest, entry] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) break
      if (entry.wasAskedFor) {
        entry.wasAskedFor = false
        this.#entries.delete(oldest)
        this.#entries.set(oldest, entry)
      } else this.#evict(oldest)
    }
  }

  #evict(name: string): void {
    const entry = this.#entries.get(name)
    if (entry === undefined) return
    this.#entries.delete(name)
    this.#bytes -= sizeOf(entry.answer)
    for (const dependency of entry.dependsOn) {
      const names = this.#byDependency.get(dependency)
      names?.delete(name)
      if (names?.size === 0) this.#byDependency.delete(dependency)
    }
  }

  /**
   * Changes since midnight are counted from another price on another day, and a window is known once its chain's windows
   * have counted for as long as it takes in. After an old block none is known, whatever it begins with.
   */
  #period(chain: string): number {
    const head = this.#view.head(chain)
    const span = { headTime: head?.time, since: head?.startTime }
    const known = WINDOWS.filter((name) => isWindowKnown(name, span)).length
    const { time = 0, startTime = 0 } = head ?? {}
    return (startTime > time ? 0 : startTime) * 2 ** 20 + dayOf(time) * (WINDOWS.length + 1) + known
  }
}

function keyOf(chain: string, dependency: Dependency): string {
  return `${chain}/${dependency}`
}

function sizeOf({ json }: Answer): number {
  return json.length + ENTRY_BYTES
}
