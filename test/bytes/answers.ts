import type { Change, Pair, Token, Windows } from '../../src/domain/change.ts'
import { contractFields } from '../../src/gateway/shape/contract.ts'
import { klinePush } from '../../src/gateway/shape/kline.ts'
import { KLINE_UNITS, klineRows } from '../../src/gateway/shape/kline-rows.ts'
import { liquidityPush, liquidityTransaction } from '../../src/gateway/shape/liquidity-transaction.ts'
import { switchPush } from '../../src/gateway/shape/main-pair-switch.ts'
import { pairDetail } from '../../src/gateway/shape/pair-detail.ts'
import { priceEntry, pricePush, quoteEntry } from '../../src/gateway/shape/price-entry.ts'
import { swapPush, swapTransaction, tokenSwapPush } from '../../src/gateway/shape/swap-transaction.ts'
import { tokenDetail } from '../../src/gateway/shape/token-detail.ts'
import { tokenHolders } from '../../src/gateway/shape/token-holders.ts'
import { tokenPrice } from '../../src/gateway/shape/token-price.ts'
import { mainTokenRow, tokenRow } from '../../src/gateway/shape/token-row.ts'
import { tokenWindows } from '../../src/gateway/shape/windows.ts'
import { PushEvent, type Shape } from '../../src/gateway/ws/send/push-event.ts'
import type { TopicName } from '../../src/gateway/ws/topic.ts'

/** The bytes of a body, or of the frames of a push. */
export type AddAnswer = (name: string, ...parts: readonly (Uint8Array | string)[]) => void

const SHAPES: readonly Shape[] = ['document', 'extended', 'revised']

/** The latest documents, each from another change: an answer combines several. */
export class Answers {
  readonly #add: AddAnswer
  #pair: Pair | undefined
  #token: Token | undefined
  #windows: Windows | undefined

  constructor(add: AddAnswer) {
    this.#add = add
  }

  add(change: Change, seq: number, times: { time: number; startTime?: number }): void {
    switch (change.type) {
      case 'trade':
        this.#body('swap', swapTransaction('eth', change.trade))
        this.#push('tx', seq, swapPush('eth', change.trade))
        this.#push('multi_tx', seq, tokenSwapPush('eth', change.trade))
        break
      case 'liquidity':
        this.#body('liquidity event', liquidityTransaction('eth', change.liquidity))
        this.#push('liq', seq, liquidityPush('eth', change.liquidity))
        break
      case 'candle': {
        for (const unit of KLINE_UNITS)
          this.#body('candles', klineRows([{ seq, record: change.candle }], unit))
        const around = { windows: this.#windows, pair: this.#pair, times }
        this.#push('kline', seq, klinePush('eth', change.candle, around))
        break
      }
      case 'switch':
        if (this.#pair !== undefined)
          this.#push('multi_kline', seq, switchPush('eth', change.switch, this.#pair))
        break
      case 'balance':
        if (this.#token !== undefined)
          this.#body('holders', tokenHolders(this.#token, [change.balance], undefined, 18))
        break
      case 'pair':
        this.#pair = change.pair
        this.#documents(seq, times)
        break
      case 'token':
        this.#token = change.token
        this.#documents(seq, times)
        break
      case 'windows':
        this.#windows = change.windows
        this.#documents(seq, times)
        break
      case 'contract':
        for (const isListed of [true, false])
          this.#body('contract', contractFields(change.contract, isListed))
        break
      default:
        break
    }
  }

  #documents(seq: number, times: { time: number; startTime?: number }): void {
    const [pair, token, windows] = [this.#pair, this.#token, this.#windows]
    if (pair === undefined || token === undefined) return
    const seen = tokenWindows(windows, token, times)
    const view = { chain: 'eth', token, windows: seen, listing: undefined, hasLockers: true }
    this.#body('pair', pairDetail('eth', pair, windows, token, times))
    this.#body('token', tokenDetail('eth', token, [{ pair, windows }], times, undefined))
    this.#body('token row', tokenRow(view))
    this.#body('main token row', mainTokenRow(view))
    this.#body('price', tokenPrice(view))
    const priced = { chain: 'eth', pair, windows, times }
    this.#push(
      'price',
      seq,
      pricePush([priceEntry({ ...priced, target: token }), quoteEntry({ ...priced, token })]),
    )
  }

  #body(name: string, answer: object): void {
    this.#add(`REST ${name}`, JSON.stringify(answer))
  }

  #push(topic: TopicName, seq: number, result: object): void {
    const place = { chain: 'eth', seq, origin: { epoch: 'e', sequence: seq, link: 0 }, published: 1 }
    for (const shape of SHAPES) {
      const parts = {
        topic,
        place,
        isState: false,
        sentTime: 1_700_000_000_000,
        build: () => result,
      } as const
      const event = new PushEvent(parts as never, shape)
      this.#add(`WebSocket ${topic}`, event.frame(7), event.numberedFrame(8, seq, 'cursor'))
    }
  }
}
