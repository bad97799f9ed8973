import type { Candle, Change, ChangeSet, Pair, Token } from '../../domain/change.ts'
import { never } from '../../domain/ids.ts'
import { formatValue } from '../../domain/money.ts'
import { ByteWriter } from '../../domain/wire/byte-writer.ts'
import { writeCandle } from '../../domain/wire/candle-codec.ts'
import { writePair, writeToken } from '../../domain/wire/record-codec.ts'
import type { CandleDocumentRef, Keys } from './keys.ts'

/** One document of a call of apply.lua, which says what the fields mean. */
export type DocumentWrite = {
  readonly key: string
  readonly kind: 'document' | 'pair' | 'candle'
  readonly seq: number
  readonly note: string
  readonly extra: string
  readonly score: string
  /** Empty for a removal. */
  readonly body: Uint8Array
}

type Newest<T> = { readonly seq: number; readonly record: T | undefined }
type NewestCandle = { seq: number; candle: Candle | undefined; readonly removed: Set<number> }

const NOTHING = new Uint8Array(0)
/** Below every pair whose worth is known, even if it holds nothing. */
const UNKNOWN_SCORE = '-1'

/** What a run of change sets of one chain makes of its documents: for each only the newest version. */
export function documentsOf(sets: readonly ChangeSet[], keys: Keys): DocumentWrite[] {
  const newest = new NewestVersions(keys)
  for (const set of sets) {
    // A set is a difference, not a story: what it removes goes first, whatever order it is told in, so that
    // the candle that takes the place of a removed newer one is not mistaken for an outdated one.
    for (const change of set.changes) if (change.type === 'candleRemoved') newest.add(set, change)
    for (const change of set.changes) if (change.type !== 'candleRemoved') newest.add(set, change)
  }
  return newest.finish()
}

class NewestVersions {
  readonly #keys: Keys
  readonly #pairs = new Map<string, Newest<Pair>>()
  readonly #tokens = new Map<string, Newest<Token>>()
  readonly #candles = new Map<string, NewestCandle>()

  constructor(keys: Keys) {
    this.#keys = keys
  }

  add({ chain, seq }: ChangeSet, change: Change): void {
    switch (change.type) {
      case 'pair':
        this.#pairs.set(this.#keys.pair({ chain, address: change.pair.address }), {
          seq,
          record: change.pair,
        })
        break
      case 'pairRemoved':
        this.#pairs.set(this.#keys.pair({ chain, address: change.pair }), { seq, record: undefined })
        break
      case 'token':
        this.#tokens.set(this.#keys.token({ chain, address: change.token.address }), {
          seq,
          record: change.token,
        })
        break
      case 'tokenRemoved':
        this.#tokens.set(this.#keys.token({ chain, address: change.token }), { seq, record: undefined })
        break
      case 'candle':
        this.#putCandle({ chain, ...change.candle }, seq, change.candle)
        break
      case 'candleRemoved':
        this.#removeCandle({ chain, ...change.candle }, seq, change.candle.start)
        break
      case 'trade':
      case 'tradeRemoved':
        break
      default:
        never(change)
    }
  }

  finish(): DocumentWrite[] {
    return [
      ...Array.from(this.#pairs, ([key, version]) => pairWrite(key, version)),
      ...Array.from(this.#tokens, ([key, version]) => tokenWrite(key, version)),
      ...Array.from(this.#candles, ([key, version]) => candleWrite(key, version)),
    ]
  }

  #putCandle(ref: CandleDocumentRef, seq: number, candle: Candle): void {
    const newest = this.#candleOf(ref)
    if (newest.candle !== undefined && candle.start < newest.candle.start) return
    newest.candle = candle
    newest.seq = seq
  }

  #removeCandle(ref: CandleDocumentRef, seq: number, start: number): void {
    const newest = this.#candleOf(ref)
    newest.removed.add(start)
    if (newest.candle !== undefined && newest.candle.start !== start) return
    newest.candle = undefined
    newest.seq = seq
  }

  #candleOf(ref: CandleDocumentRef): NewestCandle {
    const key = this.#keys.candle(ref)
    const known = this.#candles.get(key)
    if (known !== undefined) return known
    const fresh = { seq: 0, candle: undefined, removed: new Set<number>() }
    this.#candles.set(key, fresh)
    return fresh
  }
}

function pairWrite(key: string, { seq, record }: Newest<Pair>): DocumentWrite {
  return {
    key,
    kind: 'pair',
    seq,
    note: record === undefined ? '' : `${record.token0.token},${record.token1.token}`,
    extra: '',
    // Text all the way: only the rank inside Redis is a float.
    score: record?.tvlUsd === undefined ? UNKNOWN_SCORE : formatValue(record.tvlUsd),
    body: record === undefined ? NOTHING : encode(writePair, record),
  }
}

function tokenWrite(key: string, { seq, record }: Newest<Token>): DocumentWrite {
  const body = record === undefined ? NOTHING : encode(writeToken, record)
  return { key, kind: 'document', seq, note: '', extra: '', score: '', body }
}

function candleWrite(key: string, { seq, candle, removed }: NewestCandle): DocumentWrite {
  return {
    key,
    kind: 'candle',
    seq,
    note: candle === undefined ? '' : String(candle.start),
    extra: `,${[...removed].join(',')},`,
    score: '',
    body: candle === undefined ? NOTHING : encode(writeCandle, candle),
  }
}

function encode<T>(write: (w: ByteWriter, record: T) => void, record: T): Uint8Array {
  const w = new ByteWriter(512)
  write(w, record)
  return w.finish()
}
