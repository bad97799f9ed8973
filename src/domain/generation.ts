/**
 * One complete fold of a chain, with its own CHANGES, rows, documents and engine state. A refold builds the next one
 * beside the one that is served.
 */
export type Generation = {
  /** 1 for the first one of a chain. */
  readonly number: number
  /**
   * The sequence in BLOCKS of the settings that apply from the first block on. Settings up to there are ignored, so that
   * a DEX that was added later counts from the beginning. Without it, each settings message applies from its block on.
   */
  readonly settingsAt?: number | undefined
  /**
   * Unix seconds: trades, liquidity changes and candles of blocks before it are not published. The blocks are folded all
   * the same, because pools, prices and balances depend on them.
   */
  readonly from?: number | undefined
  /** Logs of exchanges that were added to the settings after the blocks were read, merged into these blocks. */
  readonly supplement?: Supplement | undefined
}

/** Blocks with the logs and facts that those of BLOCKS lack, in the archive under `supplementName`. */
export type Supplement = {
  /** Each run of the command writes rows of its own, so that a process that was thought dead changes none in use. */
  readonly attempt: number
  /** The sequence in BLOCKS of its last block, 0 if it has none. Absent while it is being read. */
  readonly until?: number | undefined
}

/** The generations of a chain that exist. There are at most two: a refold starts only when `retiring` is gone. */
export type ChainGenerations = {
  readonly serving: Generation
  /** Folded and written, not served. */
  readonly building?: Generation | undefined
  /** Served before; folded and written until then, for gateways and cursors that are late. */
  readonly retiring?: (Generation & { readonly until: number }) | undefined
  /** The highest number that was ever used, also by a refold that was canceled: numbers are not used again. */
  readonly lastNumber?: number | undefined
}

/** A chain that was never refolded has one. */
export const FIRST_GENERATIONS: ChainGenerations = { serving: { number: 1 } }

/** The name of a chain in ClickHouse, Redis and folders. No chain has `@` in its name. */
export function storedName(chain: string, { number }: Pick<Generation, 'number'>): string {
  return number === 1 ? chain : `${chain}@${number}`
}

/** The chain of a stored name. */
export function chainOfStored(stored: string): string {
  return stored.split('@')[0] ?? stored
}

export function numberOfStored(stored: string): number {
  return Number(stored.split('@')[1] ?? 1)
}

/** The name of a supplement in the archive. No chain has `#` in its name. */
export function supplementName(stored: string, { attempt }: Pick<Supplement, 'attempt'>): string {
  return `${supplementPrefix(stored)}${attempt}`
}

/** What the names of all supplements of a generation begin with. */
export function supplementPrefix(stored: string): string {
  return `${stored}#`
}

/** Whether all that the fold reads is there. */
export function isFoldable({ supplement }: Generation): boolean {
  return supplement === undefined || supplement.until !== undefined
}

/** The number of the next generation: unused, and of the log that is not served. */
export function nextNumber({ serving, lastNumber = serving.number }: ChainGenerations): number {
  const next = Math.max(serving.number, lastNumber) + 1
  return changesLogOf({ number: next }) === changesLogOf(serving) ? next + 1 : next
}

/** One fold of a chain, as roles work on it. */
export type FoldedChain = { readonly chain: string; readonly generation: Generation }

/** Two logs take turns, because the permissions of NATS name each stream. */
export function changesLogOf({ number }: Pick<Generation, 'number'>): 'CHANGES' | 'CHANGES2' {
  return number % 2 === 1 ? 'CHANGES' : 'CHANGES2'
}

const VERSION = 1

export function encodeGenerations(generations: ChainGenerations): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ version: VERSION, ...generations }))
}

/** Throws if it is of another version or damaged: a role that guessed could serve or remove the wrong one. */
export function decodeGenerations(body: Uint8Array): ChainGenerations {
  const text = new TextDecoder().decode(body)
  const found = JSON.parse(text) as ChainGenerations & { readonly version?: unknown }
  const { version, serving, building, retiring, lastNumber } = found
  const all = [serving, ...[building, retiring].filter((each) => each !== undefined)]
  const isWhole =
    version === VERSION &&
    all.every((each) => isGeneration(each)) &&
    (retiring === undefined || isCount(retiring.until)) &&
    isCount(lastNumber ?? 0)
  if (!isWhole) throw new Error(`generations of another version, or damaged: ${text.slice(0, 200)}`)
  return {
    ...{ serving, ...(building && { building }), ...(retiring && { retiring }) },
    ...(lastNumber !== undefined && { lastNumber }),
  }
}

function isGeneration(found: Generation | null | undefined): boolean {
  const { number, settingsAt = 0, from = 0, supplement = { attempt: 1 } } = found ?? { number: 0 }
  const { attempt, until = 0 } = supplement
  return number > 0 && [number, settingsAt, from, attempt, until].every(isCount)
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
