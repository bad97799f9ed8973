import assert from 'node:assert/strict'
import type { Message } from '../support/rigs/ws-client.ts'
import type { Row } from './expected-rows.ts'
import { withoutUnknown } from './without-unknown.ts'

type Kline = Row & { readonly id: string; readonly interval: string; readonly kline: { readonly usd: Row } }
type Revert = {
  readonly id: string
  readonly ids: readonly string[]
  readonly interval: string
  readonly time: number
}

function revertOf({ result }: Message): Revert | undefined {
  return result?.topic === 'revert' ? (result as unknown as Revert) : undefined
}

/** Swaps or liquidity events less those that were taken back, each with the pair that the push names. */
export function foldEvents(pushes: readonly Message[], field: 'tx' | 'liq'): { pair: unknown; row: Row }[] {
  const events = new Map<unknown, { pair: unknown; row: Row }>()
  for (const push of pushes.map(withoutUnknown)) {
    const revert = revertOf(push)
    if (revert !== undefined) {
      for (const id of revert.ids) assert.ok(events.delete(id), `${id} was retracted, but never pushed`)
      continue
    }
    const row = push.result?.[field] as Row
    assert.ok(!events.has(row['id']), `${row['id']} was pushed twice`)
    events.set(row['id'], { pair: push.result?.['id'], row })
  }
  return [...events.values()]
}

/** Candles by their newest revision, without those that are gone; by pair, interval and start. */
export function foldCandles(pushes: readonly Message[]): Map<string, Kline> {
  const candles = new Map<string, Kline>()
  for (const push of pushes.map(withoutUnknown)) {
    const revert = revertOf(push)
    if (revert !== undefined) {
      const key = candleKey(revert.id, revert.interval, revert.time)
      assert.ok(candles.delete(key), `${key} was retracted, but never pushed`)
      continue
    }
    const candle = push.result as unknown as Kline
    const key = candleKey(candle.id, candle.interval, candle.kline.usd['time'])
    const [before, now] = [candles.get(key)?.['revision'], candle['revision']]
    assert.ok(before === undefined || Number(now) > Number(before), `${key}: revision ${now} after ${before}`)
    candles.set(key, candle)
  }
  return candles
}

/** The newest entry of each pair. */
export function foldPrices(pushes: readonly Message[]): Map<unknown, Row> {
  const entries = new Map<unknown, Row>()
  for (const { result } of pushes.map(withoutUnknown)) {
    for (const entry of (result?.['prices'] ?? []) as Row[]) entries.set(entry['pair'], entry)
  }
  return entries
}

export function candleKey(id: string, interval: string, start: unknown): string {
  return `${id} ${interval} ${start}`
}
