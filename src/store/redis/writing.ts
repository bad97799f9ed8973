import { createHash } from 'node:crypto'
import type { ChainHead } from '../../domain/chain-head.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import { INTERVALS, type Interval } from '../../domain/interval.ts'
import { ByteWriter } from '../../wire/byte-writer.ts'
import { RECORD_VERSION } from '../../wire/record-codec.ts'
import { packTail } from './candle-series.ts'
import type { CandlesWrite } from './candle-writes.ts'
import { guardRedis, type ScriptedRedis } from './connect.ts'
import type { DocumentWrite } from './documents.ts'
import type { Keys } from './keys.ts'
import { formatHeader } from './stored-value.ts'

type Write = DocumentWrite | CandlesWrite

export type CandleLimits = {
  /** Candles that an interval of a pair keeps. */
  readonly recentCandles: number
  /** Candles of a pair that does not trade are removed after so long. */
  readonly idleSeconds: number
}

/** The half of the hot store that writes. It remembers each chain's head, to notice when Redis has lost it. */
export type Writing = {
  write(chain: string, writes: readonly Write[]): Promise<void>
  advance(head: ChainHead): Promise<void>
  head(chain: string): Promise<ChainHead | undefined>
  /** Leaves nothing of a chain but a head that says so. */
  clear(chain: string): Promise<void>
}

// Redis serves nobody else while a script runs: a millisecond or two is short enough.
const RECORDS_PER_CALL = 250
const TAILS_PER_CALL = 50
const TOMBSTONE_SECONDS = 3_600
const KEYS_PER_SCAN = 1_000
/** Records in a tail take a tenth more than packed ones, and each packing is a round trip. */
const MAX_TAIL_CANDLES = 32

export function createWriting(
  redis: ScriptedRedis,
  keys: Keys,
  { recentCandles, idleSeconds }: CandleLimits,
): Writing {
  /** A part of what is kept, so that not much more is kept than was asked for. */
  const tailCandles = Math.max(1, Math.min(MAX_TAIL_CANDLES, Math.floor(recentCandles / 4)))
  /** The seq of each chain's head when last seen: it only ever grows, unless data was lost. */
  const seen = new Map<string, number>()

  const mustBeWhole = (chain: string, isWhole: number | Buffer | undefined): void => {
    if (isWhole === 1) return
    seen.delete(chain)
    throw new ChaintapeError('store_unavailable', `Redis lost the data of chain ${chain}`)
  }

  /** Tails that have grown long; if this fails, they are packed another time. */
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

  return {
    write: async (chain, writes) => {
      const options = [RECORD_VERSION, TOMBSTONE_SECONDS, keys.rank(chain, ''), seen.get(chain) ?? '']
      const candles = [idleSeconds, tailCandles, INTERVALS.join(',')]
      const answers = await Promise.all(
        chunks(writes).map(async (chunk) => {
          const names = [keys.head(chain), ...chunk.map(({ key }) => key)]
          const [isWhole, ...tails] = await guardRedis(() =>
            redis.applyDocumentsBuffer(
              ...[names.length, ...names, ...options, ...candles, argumentOf(chunk)],
            ),
          )
          return { isWhole, tails: tailsOf(tails, names) }
        }),
      )
      for (const { isWhole } of answers) mustBeWhole(chain, isWhole)
      await pack(answers.flatMap(({ tails }) => tails))
    },
    advance: async (head) => {
      const { chain, seq } = head
      const value = `${formatHeader(seq)}${JSON.stringify(head)}`
      const isWhole = await guardRedis(() =>
        redis.advanceHead(1, keys.head(chain), seq, value, seen.get(chain) ?? ''),
      )
      mustBeWhole(chain, isWhole)
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
      await guardRedis(async () => {
        // First, so that whoever writes beside us notices.
        await redis.set(keys.head(chain), formatHeader(0))
        for (const pattern of keys.patterns(chain)) await removeAll(redis, pattern)
      })
      seen.set(chain, 0)
    },
  }
}

/** One for all calls: it has grown to their size. */
const w = new ByteWriter(65_536)

/** All that the script takes for these, in one argument: the client takes longer for an argument than to copy it. */
function argumentOf(writes: readonly Write[]): Buffer {
  w.clear()
  for (const write of writes) {
    w.sizedText(write.kind)
    if (write.kind === 'candles') {
      w.sizedText(write.pairKey)
      field(write.froms)
      field(write.records)
      continue
    }
    const { seq, body, owner, ranks } = write
    w.sizedText(String(seq))
    field(body)
    w.sizedText(owner ?? '')
    w.sizedText(String(ranks.length))
    for (const [name, score] of ranks) {
      w.sizedText(name)
      w.sizedText(score)
    }
  }
  return asBuffer(w.finish())
}

function field(bytes: Uint8Array): void {
  w.u32(bytes.length)
  w.raw(bytes)
}

type Tail = {
  readonly key: string
  readonly interval: Interval
  readonly bytes: Buffer
  /** What the tail corrects; empty if it does not. */
  readonly packed: Buffer
}

function tailsOf(answer: readonly (number | Buffer)[], names: readonly string[]): Tail[] {
  const tails: Tail[] = []
  for (let at = 0; at < answer.length; at += 4) {
    const [index, interval, bytes, packed] = answer.slice(at, at + 4) as [number, Buffer, Buffer, Buffer]
    tails.push({ key: names[index - 1] as string, interval: interval.toString() as Interval, bytes, packed })
  }
  return tails
}

function asBuffer(body: Uint8Array): Buffer {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength)
}

/** The candles of a pair are never divided: the script takes all of a version at once. */
function chunks(writes: readonly Write[]): Write[][] {
  const made: Write[][] = []
  let room = 0
  for (const write of writes) {
    const size = write.kind === 'candles' ? write.size : 1
    if (room < size || made.length === 0) {
      made.push([])
      room = RECORDS_PER_CALL
    }
    made.at(-1)?.push(write)
    room -= size
  }
  return made
}

async function removeAll(redis: ScriptedRedis, pattern: string): Promise<void> {
  let cursor = '0'
  do {
    const [next, found] = await redis.scan(cursor, 'MATCH', pattern, 'COUNT', KEYS_PER_SCAN)
    if (found.length > 0) await redis.unlink(...found)
    cursor = next
  } while (cursor !== '0')
}

/** Without anything behind its header it is the head of a chain that is being filled. */
function parseHead(value: string): ChainHead | undefined {
  const text = value.slice(value.indexOf('\n') + 1)
  return text === '' ? undefined : (JSON.parse(text) as ChainHead)
}
