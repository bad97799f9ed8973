import { createHash } from 'node:crypto'
import type { ChainHead } from '../../domain/chain-head.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import { INTERVALS, type Interval } from '../../domain/interval.ts'
import { RECORD_VERSION } from '../../wire/record-codec.ts'
import { fromStoredPosition, type StoredPosition, toStoredPosition } from '../stored-position.ts'
import { packTail } from './candle-series.ts'
import { guardRedis, type ScriptedRedis } from './connect.ts'
import { DOCUMENT_KINDS, type Keys } from './keys.ts'
import { addressOf, argumentOf, asBuffer, callsOf, type Write } from './script-calls.ts'
import { formatHeader } from './stored-value.ts'

export type CandleLimits = {
  /** Candles retained per pair and interval. */
  readonly recentCandles: number
  /** Candles of a pair without trades expire after this time. */
  readonly idleSeconds: number
}

/** The writing half of the hot store. It remembers each chain's head, to detect a loss of data in Redis. */
export type Writing = {
  write(chain: string, writes: readonly Write[]): Promise<void>
  advance(head: ChainHead): Promise<void>
  head(chain: string): Promise<ChainHead | undefined>
  /** Removes everything of a chain and leaves an empty head. */
  clear(chain: string): Promise<void>
  /** Removes everything of a chain, its head last. */
  remove(chain: string): Promise<void>
}

const TAILS_PER_CALL = 50
const TOMBSTONE_SECONDS = 3_600
const KEYS_PER_SCAN = 1_000
/** Tail records take a tenth more than packed ones, but each packing is a round trip. */
const MAX_TAIL_CANDLES = 32

export function createWriting(
  redis: ScriptedRedis,
  keys: Keys,
  { recentCandles, idleSeconds }: CandleLimits,
): Writing {
  /** A fraction of the retained candles, so that the tail adds little to the limit. */
  const tailCandles = Math.max(1, Math.min(MAX_TAIL_CANDLES, Math.floor(recentCandles / 4)))
  /** The last seen seq of each chain's head; it only decreases if data was lost. */
  const seen = new Map<string, number>()

  const mustBeComplete = (chain: string, isComplete: number | Buffer | undefined): void => {
    if (isComplete === 1) return
    seen.delete(chain)
    throw new ChaintapeError('store_unavailable', `Redis lost the data of chain ${chain}`)
  }

  /** Packs long tails; a failure only postpones it. */
  const pack = async (tails: readonly Tail[]): Promise<void> => {
    for (let at = 0; at < tails.length; at += TAILS_PER_CALL) {
      const some = tails.slice(at, at + TAILS_PER_CALL)
      await guardRedis(() =>
        redis.packCandles(
          ...[some.length, ...some.map(({ key }) => key), recentCandles],
          ...some.flatMap(({ interval, bytes, packed }) => [
            interval,
            createHash('sha1').update(bytes).digest('hex'),
            packed.length > 0 ? '1' : '0',
            asBuffer(packTail(bytes, packed, interval, tailCandles)),
          ]),
        ),
      )
    }
  }

  const clear = async (chain: string): Promise<void> => {
    await guardRedis(async () => {
      // First, so that a concurrent writer notices.
      await redis.set(keys.head(chain), formatHeader(0))
      for (const pattern of keys.patterns(chain)) await removeAll(redis, pattern)
    })
  }

  return {
    write: async (chain, writes) => {
      const options = [RECORD_VERSION, TOMBSTONE_SECONDS, keys.rank(chain, ''), seen.get(chain) ?? '']
      const candles = [idleSeconds, tailCandles, INTERVALS.join(',')]
      const prefixes = keys.prefixes(chain)
      const prefixesByCode = DOCUMENT_KINDS.map((kind) => prefixes[kind])
      const answers = await Promise.all(
        callsOf(writes).map(async (call) => {
          const [isComplete, ...tails] = await guardRedis(() =>
            redis.applyDocumentsBuffer(
              ...[1, keys.head(chain), ...options, ...candles, ...prefixesByCode, argumentOf(call)],
            ),
          )
          const keyAt = (index: number): string => `${prefixes.candles}${addressOf(call[index - 1] as Write)}`
          return { isComplete, tails: tailsOf(tails, keyAt) }
        }),
      )
      for (const { isComplete } of answers) mustBeComplete(chain, isComplete)
      await pack(answers.flatMap(({ tails }) => tails))
    },
    advance: async (head) => {
      const { chain, seq } = head
      const stored: StoredHead = { ...head, position: toStoredPosition(head.position) }
      const value = `${formatHeader(seq)}${JSON.stringify(stored)}`
      const isComplete = await guardRedis(() =>
        redis.advanceHead(1, keys.head(chain), seq, value, seen.get(chain) ?? ''),
      )
      mustBeComplete(chain, isComplete)
      seen.set(chain, Math.max(seq, seen.get(chain) ?? 0))
    },
    head: async (chain) => {
      const value = await guardRedis(() => redis.get(keys.head(chain)))
      const head = value === null ? undefined : parseHead(value)
      if (head === undefined) seen.delete(chain)
      else seen.set(chain, head.seq)
      return head
    },
    clear: async (chain) => {
      await clear(chain)
      seen.set(chain, 0)
    },
    remove: async (chain) => {
      await clear(chain)
      await guardRedis(() => redis.unlink(keys.head(chain)))
      seen.delete(chain)
    },
  }
}

type Tail = {
  readonly key: string
  readonly interval: Interval
  readonly bytes: Buffer
  /** The packed candles that the tail corrects; empty if it corrects none. */
  readonly packed: Buffer
}

function tailsOf(answer: readonly (number | Buffer)[], keyAt: (index: number) => string): Tail[] {
  const tails: Tail[] = []
  for (let at = 0; at < answer.length; at += 4) {
    const [index, interval, bytes, packed] = answer.slice(at, at + 4) as [number, Buffer, Buffer, Buffer]
    tails.push({ key: keyAt(index), interval: interval.toString() as Interval, bytes, packed })
  }
  return tails
}

async function removeAll(redis: ScriptedRedis, pattern: string): Promise<void> {
  let cursor = '0'
  do {
    const [next, found] = await redis.scan(cursor, 'MATCH', pattern, 'COUNT', KEYS_PER_SCAN)
    if (found.length > 0) await redis.unlink(...found)
    cursor = next
  } while (cursor !== '0')
}

/** A header alone is the head of a chain that is being refilled. */
type StoredHead = Omit<ChainHead, 'position'> & { readonly position: StoredPosition }

function parseHead(value: string): ChainHead | undefined {
  const text = value.slice(value.indexOf('\n') + 1)
  if (text === '') return undefined
  const stored = JSON.parse(text) as StoredHead
  return { ...stored, position: fromStoredPosition(stored.position) }
}
