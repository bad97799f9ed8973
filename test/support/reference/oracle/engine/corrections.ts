import type { Balance, Candle, Change } from '../../../../../src/domain/change.ts'
import type { RecordCodec, Restored } from '../state/journaled-state.ts'
import { ByteReader } from '../wire/byte-reader.ts'
import { balanceCodec } from './holders/tables.ts'
import { candlesCodec, type Emitted, emittedCodec, pairCodec, reportCodec, tokenCodec } from './tables.ts'
import { windowsCodec } from './window/tables.ts'
import { published } from './window/windows.ts'

/** What an undo makes different, as ordinary changes: values as they are again, and what is no more. */
export function corrections(restored: readonly Restored[]): Change[] {
  return [...recordCorrections(restored), ...windowCorrections(restored)]
}

function recordCorrections(restored: readonly Restored[]): Change[] {
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
      case 'contract':
        return entry.restored === undefined
          ? [{ type: 'contractRemoved', token: entry.id }]
          : [{ type: 'contract', contract: decode(reportCodec, entry.restored) }]
      case 'balance':
        return [{ type: 'balance', balance: balanceOf(entry) }]
      case 'emitted':
        return entry.undone.flatMap((bytes) => retractions(decode(emittedCodec, bytes)))
      case 'candles':
        return candleCorrections(entry)
      default:
        // The others are the engine's own memory: nobody was told of them.
        return []
    }
  })
}

function balanceOf({ id, restored, last }: Restored): Balance {
  const slash = id.indexOf('/')
  const amountOf = (bytes: Uint8Array | undefined): bigint =>
    bytes === undefined ? 0n : decode(balanceCodec, bytes)
  const [amountRaw, beforeRaw] = [amountOf(restored), amountOf(last)]
  return { token: id.slice(0, slash), holder: id.slice(slash + 1), amountRaw, beforeRaw }
}

function retractions({ trades, liquidity, switches }: Emitted): Change[] {
  return [
    ...trades.map((trade): Change => ({ type: 'tradeRemoved', trade })),
    ...liquidity.map((event): Change => ({ type: 'liquidityRemoved', liquidity: event })),
    ...switches.map((each): Change => ({ type: 'switchRemoved', switch: each })),
  ]
}

/** A token that no longer has windows of its own has those of its pair again: these replace them. */
function windowCorrections(restored: readonly Restored[]): Change[] {
  const entries = restored.filter(({ table }) => table === 'windows')
  const standing = entries.flatMap((entry) =>
    entry.restored === undefined ? [] : [decode(windowsCodec, entry.restored)],
  )
  const tokens = new Set(standing.map(({ token }) => token))
  const gone = entries.flatMap((entry): Change[] => {
    const last = entry.undone[0]
    if (entry.restored !== undefined || last === undefined) return []
    const { pair, token } = decode(windowsCodec, last)
    if (token === undefined || !tokens.has(token))
      return [{ type: 'windowsRemoved', windows: { pair, token } }]
    return pair === undefined ? [] : [{ type: 'windowsRemoved', windows: { pair, token: undefined } }]
  })
  return [...gone, ...standing.map((windows): Change => ({ type: 'windows', windows: published(windows) }))]
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
