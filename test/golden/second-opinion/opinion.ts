import { type AbiEvent, decodeEventLog, type Hex, parseAbiItem, toEventSelector } from 'viem'
import type { DexEvent, Swapped, TokenAmount, TokenEvent } from '../../../src/dex/events.ts'
import type { RawLog } from '../../../src/domain/envelope.ts'

/** What an event means by an ABI written out independently of the decoders, read by viem. */
export type Opinion = {
  readonly topic: string
  /** An event; or the reason why there is none; undefined for a log that only resembles this event. */
  readonly decode: (log: RawLog) => DexEvent | TokenEvent | string | undefined
}

export function opinion<Args>(
  signature: string,
  decode: (args: Args, log: RawLog) => DexEvent | TokenEvent | string,
): Opinion {
  const item = parseAbiItem(`event ${signature}`) as unknown as AbiEvent
  return {
    topic: toEventSelector(item),
    decode: (log) => {
      const args = decoded(item, log)
      return args === undefined ? undefined : decode(lowerCase(args) as Args, log)
    },
  }
}

function decoded(item: AbiEvent, { topics, data }: RawLog): unknown {
  try {
    return decodeEventLog({
      abi: [item],
      topics: topics as [Hex, ...Hex[]],
      data: `0x${Buffer.from(data).toString('hex')}`,
    }).args
  } catch {
    // Other contracts have events of the same types that index others of them.
    return undefined
  }
}

/** Addresses, which viem writes in mixed case. */
function lowerCase(value: unknown): unknown {
  if (typeof value === 'string') return value.toLowerCase()
  if (Array.isArray(value)) return value.map(lowerCase)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, lowerCase(item)]))
}

export function swapped(pool: string, delta0: bigint, delta1: bigint, rest: Partial<Swapped> = {}): Swapped {
  const nobody = { sender: undefined, recipient: undefined, price: undefined }
  return { type: 'swapped', pool, token0: 0, token1: 1, delta0, delta1, ...nobody, ...rest }
}

/** Amounts of the pool's tokens, in its order. */
export function inOrder(...amounts: readonly bigint[]): TokenAmount[] {
  return amounts.map((amount, token) => ({ token, amount }))
}

/** Two amounts share a word: the first token's is the lower half. */
export function low(word: string): bigint {
  return BigInt(`0x${word.slice(34)}`)
}

export function high(word: string): bigint {
  return BigInt(word.slice(0, 34))
}

export function packedTotal(words: readonly string[]): [bigint, bigint] {
  return [words.reduce((sum, word) => sum + low(word), 0n), words.reduce((sum, word) => sum + high(word), 0n)]
}
