import type { ChangeSet, Trade } from '../../src/domain/change.ts'
import { swapPush } from '../../src/gateway/shape/swap-transaction.ts'
import { textFrame } from '../../src/gateway/ws/send/frame.ts'
import { PushEvent } from '../../src/gateway/ws/send/push-event.ts'
import { makeSet } from '../stores/made-changes.ts'

/** Both servers send these over and over, so that every client knows what comes next. */
export const TRADES = 100
export const PUSHED_PAIR = `0x${'1'.repeat(40)}`
/** Stands still, so that the bytes are known beforehand. */
export const NOW = 1_760_000_000_000
/** So many different ids do the clients subscribe with. */
const IDS = 50

export type Tick = { readonly ticks: number; readonly eventsPerTick: number }

export const requestIdOf = (client: number): number => 1 + (client % IDS)

export function makeTrades(): Trade[] {
  return makeSet(1, TRADES).changes.flatMap((change) =>
    change.type === 'trade' ? [{ ...change.trade, pair: PUSHED_PAIR }] : [],
  )
}

export function setOf(trades: readonly Trade[]): ChangeSet {
  return { ...makeSet(1, 0), changes: trades.map((trade) => ({ type: 'trade', trade })) }
}

export function messageOf(id: number, trade: Trade): object {
  return { id, jsonrpc: '2.0', result: swapPush('eth', trade), sent_time: NOW }
}

/** By request id: a frame of each trade. */
export function framesById(isCompressed = false): Map<number, Buffer[]> {
  const trades = makeTrades()
  const pushes = trades.map(pushOf)
  return new Map(
    Array.from({ length: IDS }, (_, at) => {
      const id = requestIdOf(at)
      const frames = isCompressed
        ? pushes.map((push) => push.frame(id, true))
        : trades.map((trade) => textFrame(JSON.stringify(messageOf(id, trade))))
      return [id, frames]
    }),
  )
}

function pushOf(trade: Trade): PushEvent {
  const origin = { after: { epoch: 'e', sequence: 1, link: 0 }, seq: 1, time: 1 }
  const place = { chain: 'eth', seq: 1, origin, published: 1 }
  const build = () => swapPush('eth', trade)
  return new PushEvent({ topic: 'tx', place, isState: false, sentTime: NOW, build }, 'document')
}

/** Calls `send` with the trades of each tick, one turn of the event loop after the other. */
export function sendTicks({ ticks, eventsPerTick }: Tick, first: number, send: (trades: number[]) => void) {
  return new Promise<void>((resolve) => {
    let done = 0
    const tick = (): void => {
      const at = first + done * eventsPerTick
      send(Array.from({ length: eventsPerTick }, (_, index) => (at + index) % TRADES))
      done++
      if (done < ticks) setImmediate(tick)
      else resolve()
    }
    tick()
  })
}
