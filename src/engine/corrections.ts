import type { Candle, Change } from '../domain/change.ts'
import type { RecordCodec, Restored } from '../domain/journaled-state.ts'
import { ByteReader } from '../domain/wire/byte-reader.ts'
import { candlesCodec, emittedCodec, pairCodec, tokenCodec } from './tables.ts'

/** What an undo makes different, as ordinary changes: values as they are again, and what is no more. */
export function corrections(restored: readonly Restored[]): Change[] {
  return restored.flatMap((entry): Change[] => {
    switch (entry.table) {
      case 'pair':
        return entry.restored === undefined
          ? [{ type: 'pairRemoved', pair: entry.id }]
          : [{ type: 'pair', pair: decode(pairCodec, entry.restored) }]
      case 'token':
        return entry.restored === undefined
          ? [{ type: 'tokenRemoved', token: entry.id }]
          : [{ type: 'token', token: decode(tokenCodec, entry.restored).token }]
      case 'emitted':
        return entry.undone
          .flatMap((bytes) => decode(emittedCodec, bytes))
          .map((trade): Change => ({ type: 'tradeRemoved', trade }))
      case 'candles':
        return candleCorrections(entry)
      default:
        // Tip and anchors are the engine's own memory: nobody was told of them.
        return []
    }
  })
}

/** Removals first: where a candle is gone, the newest one of its interval is then the restored one. */
function candleCorrections(entry: Restored): Change[] {
  const standing = entry.restored === undefined ? [] : decode(candlesCodec, entry.restored)
  const gone = new Map<string, Candle>()
  for (const candle of entry.undone.flatMap((bytes) => decode(candlesCodec, bytes))) {
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

function decode<T>(codec: RecordCodec<T>, bytes: Uint8Array): T {
  return codec.read(new ByteReader(bytes))
}
