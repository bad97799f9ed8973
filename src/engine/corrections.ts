import type { Balance, Candle, Change } from '../domain/change.ts'
import type { Restored } from '../state/undone-values.ts'
import { ByteReader } from '../wire/byte-reader.ts'
import type { Codec } from '../wire/codec.ts'
import { reportCodec } from '../wire/contract-codec.ts'
import type { Balances } from './holders/balances.ts'
import { type Emitted, type EngineTables, emittedCodec } from './tables.ts'
import { windowCorrections } from './window/window-corrections.ts'

/** The effect of an undo as ordinary changes: restored values, and removals. */
export function corrections(restored: readonly Restored[], tables: EngineTables): Change[] {
  return [...recordCorrections(restored, tables), ...windowCorrections(restored, tables.subjects)]
}

function recordCorrections(
  restored: readonly Restored[],
  { balances, candles, pairs, tokens }: EngineTables,
): Change[] {
  return restored.flatMap((entry): Change[] => {
    switch (entry.table) {
      case 'pair':
        return entry.restored === undefined
          ? [{ type: 'pairRemoved', pair: entry.id }]
          : [{ type: 'pair', pair: pairs.read(entry.id, entry.restored) }]
      case 'token':
        return tokenCorrections(entry, tokens)
      case 'contract':
        return entry.restored === undefined
          ? [{ type: 'contractRemoved', token: entry.id }]
          : [{ type: 'contract', contract: decode(reportCodec, entry.restored) }]
      case 'balance':
        return [{ type: 'balance', balance: balanceOf(entry, balances) }]
      case 'emitted':
        return entry.undone.flatMap((bytes) => retractions(decode(emittedCodec, bytes)))
      case 'candles':
        return candleCorrections(entry, (bytes) => candles.read(entry.id, bytes))
      default:
        // The other tables are internal: none of their rows is published.
        return []
    }
  })
}

/** No change if only the row's flags differ, which record where the token's pair lists are stored. */
function tokenCorrections({ id, undone, restored }: Restored, tokens: EngineTables['tokens']): Change[] {
  if (restored === undefined) return [{ type: 'tokenRemoved', token: id }]
  if (undone.every((bytes) => tokens.areSame(bytes, restored))) return []
  return [{ type: 'token', token: tokens.read(id, restored) }]
}

function balanceOf({ id, restored, last }: Restored, balances: Balances): Balance {
  const slash = id.indexOf('/')
  const [amountRaw, beforeRaw] = [balances.read(restored), balances.read(last)]
  return { token: id.slice(0, slash), holder: id.slice(slash + 1), amountRaw, beforeRaw }
}

function retractions({ trades, liquidity, switches }: Emitted): Change[] {
  return [
    ...trades.map((trade): Change => ({ type: 'tradeRemoved', trade })),
    ...liquidity.map((event): Change => ({ type: 'liquidityRemoved', liquidity: event })),
    ...switches.map((each): Change => ({ type: 'switchRemoved', switch: each })),
  ]
}

/** Removals come first: once a candle is removed, the restored one is the newest of its interval. */
function candleCorrections(entry: Restored, read: (bytes: Uint8Array) => Candle[]): Change[] {
  const standing = entry.restored === undefined ? [] : read(entry.restored)
  const gone = new Map<string, Candle>()
  for (const candle of entry.undone.flatMap(read)) {
    if (!standing.some((known) => isSame(known, candle)))
      gone.set(`${candle.interval}/${candle.start}`, candle)
  }
  return [
    ...[...gone.values()].map(({ pair, interval, start }): Change => {
      return { type: 'candleRemoved', candle: { pair, interval, start } }
    }),
    ...standing.map((candle): Change => ({ type: 'candle', candle })),
  ]
}

function isSame(a: Candle, b: Candle): boolean {
  return a.interval === b.interval && a.start === b.start
}

function decode<T>(codec: Codec<T>, bytes: Uint8Array): T {
  return codec.read(new ByteReader(bytes))
}
