import type { ChainHead } from '../../domain/chain-head.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import { RECORD_VERSION } from '../../wire/record-codec.ts'
import { guardRedis, type ScriptedRedis } from './connect.ts'
import type { DocumentWrite, SeriesWrite } from './documents.ts'
import type { Keys } from './keys.ts'
import { formatHeader } from './stored-value.ts'

type Write = DocumentWrite | SeriesWrite

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
const TOMBSTONE_SECONDS = 3_600
const KEYS_PER_SCAN = 1_000

export function createWriting(redis: ScriptedRedis, keys: Keys, recentCandles: number): Writing {
  /** The seq of each chain's head when last seen: it only ever grows, unless data was lost. */
  const seen = new Map<string, number>()

  const mustBeWhole = (chain: string, isWhole: number): void => {
    if (isWhole === 1) return
    seen.delete(chain)
    throw new ChaintapeError('store_unavailable', `Redis has lost the data of chain ${chain}`)
  }

  return {
    write: async (chain, writes) => {
      const options = [RECORD_VERSION, TOMBSTONE_SECONDS, keys.rank(chain, ''), seen.get(chain) ?? '']
      const calls = chunks(writes).map((chunk) =>
        guardRedis(() =>
          redis.applyDocuments(
            1 + chunk.length,
            ...[keys.head(chain), ...chunk.map(({ key }) => key)],
            ...[...options, recentCandles],
            ...chunk.flatMap(argumentsOf),
          ),
        ),
      )
      for (const isWhole of await Promise.all(calls)) mustBeWhole(chain, isWhole)
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

function argumentsOf(write: Write): (string | number | Uint8Array)[] {
  if (write.kind === 'document') {
    const { kind, seq, body, owner, ranks } = write
    return [kind, seq, bytes(body), owner ?? '', ranks.length, ...ranks.flat()]
  }
  const candles = write.candles.flatMap(({ start, seq, body }) => [start, seq, bytes(body)])
  return [write.kind, write.oldest ?? '', write.candles.length, ...candles]
}

function bytes(body: Uint8Array): Buffer {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength)
}

/** A series is never divided: the script takes all of a version at once. */
function chunks(writes: readonly Write[]): Write[][] {
  const made: Write[][] = []
  let room = 0
  for (const write of writes) {
    const size = write.kind === 'series' ? write.candles.length : 1
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
