import type {
  KlineMessage,
  LiqMessage,
  PriceMessage,
  SwitchMessage,
  TxMessage,
} from '../generated/messages.ts'
import type { Interval } from '../ids.ts'
import type { PushResult } from './topic.ts'

export type Trade = TxMessage['result']['tx']
export type LiquidityChange = LiqMessage['result']['liq']
export type PriceEntry = PriceMessage['result']['prices'][number]
export type MainPairSwitch = SwitchMessage['result']['data']

/** A reorg removed these events: delete them. Corrected ones follow as items. */
export type Retraction = {
  readonly pair: string
  /** The `id` of each removed event. */
  readonly retracted: readonly string[]
}

export type CandleUnit = 'usd' | 'eth'

/** A candle, or a new version of one. */
export type CandleUpdate = {
  readonly pairId: string
  readonly interval: Interval
  /** Its start, in Unix seconds. */
  readonly time: number
  readonly open: string
  readonly high: string
  readonly low: string
  readonly close: string
  readonly volume: string
  /** A larger one is newer. */
  readonly revision: number
}

/** A reorg removed all trades of the candle. */
export type CandleRetraction = Pick<CandleUpdate, 'pairId' | 'interval' | 'time'> & {
  readonly retracted: true
}

export function isRetraction<T extends object>(item: T): item is Extract<T, { readonly retracted: unknown }> {
  return 'retracted' in item
}

export function decodeTrade(result: PushResult, emit: (item: Trade | Retraction) => void): void {
  if ('tx' in result) emit(result.tx)
  else decodeRetraction(result, emit)
}

export function decodeLiquidity(
  result: PushResult,
  emit: (item: LiquidityChange | Retraction) => void,
): void {
  if ('liq' in result) emit(result.liq)
  else decodeRetraction(result, emit)
}

function decodeRetraction(result: PushResult, emit: (item: Retraction) => void): void {
  if ('ids' in result && result.ids !== undefined) emit({ pair: result.id, retracted: result.ids })
}

export function decodePrices(result: PushResult, emit: (item: PriceEntry) => void): void {
  if ('prices' in result) for (const entry of result.prices) emit(entry)
}

export function decodeSwitch(result: PushResult, emit: (item: MainPairSwitch) => void): void {
  if ('data' in result) emit(result.data)
}

/** Decodes candles in one unit; switches of the main pair go to the callback. */
export function candleDecoder(unit: CandleUnit, onSwitch: ((item: MainPairSwitch) => void) | undefined) {
  return (result: PushResult, emit: (item: CandleUpdate | CandleRetraction) => void): void => {
    if ('kline' in result) emit(candleOf(result, unit))
    else if ('data' in result) onSwitch?.(result.data)
    else if ('time' in result && result.time !== undefined && result.interval !== undefined) {
      const { id: pairId, time } = result
      emit({ pairId, interval: fullInterval(result.interval), time, retracted: true })
    }
  }
}

function candleOf(
  { id: pairId, interval, kline, revision = 0 }: KlineMessage['result'],
  unit: CandleUnit,
): CandleUpdate | CandleRetraction {
  const { time, open, high, low, close, volume } = kline[unit]
  const series = { pairId, interval: fullInterval(interval), time }
  // No trade of it has a price in this unit any more: REST omits such a candle.
  if (open === '') return { ...series, retracted: true }
  return { ...series, open, high, low, close, volume, revision }
}

/** A push shows minutes as the bare number. */
function fullInterval(pushed: string): Interval {
  return (/^\d/.test(pushed) ? `k${pushed}` : pushed) as Interval
}
