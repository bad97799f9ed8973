import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AddressedTrades, gathered } from '../../../test/support/builders/addressed-trades.ts'
import { NOTHING_COMMITTED } from '../../../test/support/rigs/memory-state.ts'
import type { WindowSums, Windows } from '../../domain/change.ts'
import { WINDOWS } from '../../domain/window.ts'
import { JournaledState } from '../../state/journaled-state.ts'
import { decodeChangeSet } from '../../wire/change-codec.ts'
import { ChangeSetWriter } from '../../wire/change-set-writer.ts'
import { ALL_PAIRS } from './gathered-trades.ts'
import { openWindowTables } from './tables.ts'
import { WindowFold } from './window-fold.ts'

const DAY_START = 1_700_006_400
const [PAIR, OTHER, TOKEN, QUOTE] = ['0x01', '0x02', '0xaa', '0xbb']

type TradeSpec = {
  pair?: string
  token?: string
  buys?: number
  sells?: number
  wallet?: string
  close?: bigint
  tokenClose?: bigint
}

/** One dollar a trade. */
function traded({
  pair = PAIR,
  token = TOKEN,
  buys = 1,
  sells = 0,
  wallet = '0xee',
  close = 5n,
  tokenClose,
}: TradeSpec): AddressedTrades {
  const [buyUsd, sellUsd] = [BigInt(buys), BigInt(sells)]
  const closes = {
    pairCloseUsd: close,
    tokenCloseUsd: tokenClose ?? close,
    isRouted: false,
    isForToken: true,
  }
  const buyers = Array.from({ length: buys }, () => wallet)
  const sellers = Array.from({ length: sells }, () => wallet)
  const sums = { buyUsd, sellUsd, buys, sells, amountRaw: 10n }
  return { pair, token, ...sums, highUsd: close, lowUsd: close, buyers, sellers, ...closes }
}

class Market {
  readonly #state = new JournaledState(NOTHING_COMMITTED)
  readonly #tables = openWindowTables(this.#state)
  #number = 0

  block(seconds: number, ...trades: AddressedTrades[]): Windows[] {
    const head = { number: ++this.#number, hash: '0x', time: DAY_START + seconds }
    const changes = new ChangeSetWriter()
    changes.begin({ chain: 'eth', seq: this.#number, cause: 'block', head, finalNumber: 0 })
    const all = trades.map((each) => gathered(each, this.#tables.visits))
    new WindowFold(this.#tables, head.time, (token) => token === QUOTE).run(all, [], changes)
    this.#state.sealBlock(head.number)
    return decodeChangeSet(changes.finish()).changes.flatMap((change) =>
      change.type === 'windows' ? [change.windows] : [],
    )
  }
}

const sumsOf = ({ lengths }: Windows): number[] => lengths.map(({ buys, sells }: WindowSums) => buys + sells)

test('a pair that rests is looked at only when one of its minutes leaves a window', () => {
  const market = new Market()
  market.block(30, traded({}))
  const changedAt: number[] = []
  for (let minute = 1; minute <= 2_000; minute++) {
    if (market.block(minute * 60).length > 0) changedAt.push(minute)
  }
  assert.deepEqual(changedAt, [1, 5, 15, 60, 240, 1_440])
})

test('a long silence empties all windows at once, and keeps the price', () => {
  const market = new Market()
  market.block(0, traded({ buys: 2, sells: 1, close: 7n }))
  const [windows] = market.block(40 * 86_400)
  assert.ok(windows)
  assert.deepEqual(sumsOf(windows), [0, 0, 0, 0, 0, 0])
  assert.deepEqual(
    windows.lengths.map(({ makers }) => makers),
    [0, 0, 0, 0, 0, 0],
  )
  assert.equal(windows.amountRaw, 0n)
  assert.deepEqual([windows.highUsd, windows.lowUsd, windows.priceUsd], [undefined, undefined, 7n])
  assert.deepEqual(
    windows.lengths.map(({ openUsd }) => openUsd),
    WINDOWS.map(() => 7n),
  )
})

test('a block that claims to be older than the one before counts for the minute that is open', () => {
  const market = new Market()
  market.block(600, traded({}))
  const [windows] = market.block(300, traded({}))
  assert.ok(windows)
  assert.deepEqual(sumsOf(windows), [2, 2, 2, 2, 2, 2])
  assert.deepEqual(sumsOf(market.block(660)[0] as Windows), [0, 2, 2, 2, 2, 2])
})

test('a pair and its token share their windows until the token is traded elsewhere too', () => {
  const market = new Market()
  const [shared, ...none] = market.block(0, traded({ wallet: '0xe1' }))
  assert.deepEqual([shared?.pair, shared?.token, none.length], [PAIR, TOKEN, 0])
  const parted = market.block(61, traded({ pair: OTHER, wallet: '0xe1' }))
  const byRef = parted.map(({ pair, token, lengths }) => [
    pair,
    token,
    lengths.at(-1)?.makers,
    lengths.at(-1)?.buys,
  ])
  assert.deepEqual(byRef, [
    [PAIR, undefined, 1, 1],
    [OTHER, undefined, 1, 1],
    [undefined, TOKEN, 1, 2],
  ])
})

test('a token whose price comes from another pair than the one it is traded in has windows of its own', () => {
  const market = new Market()
  const [pair, token] = market.block(0, traded({ close: 5n, tokenClose: 6n }))
  assert.deepEqual([pair?.pair, pair?.token, pair?.priceUsd], [PAIR, undefined, 5n])
  assert.deepEqual([token?.pair, token?.token, token?.priceUsd], [undefined, TOKEN, 6n])
})

test('a wallet counts once, and until a day after its last trade', () => {
  const market = new Market()
  market.block(0, traded({ wallet: '0xe1' }))
  market.block(600, traded({ wallet: '0xe1', buys: 0, sells: 1 }), traded({ pair: OTHER, wallet: '0xe1' }))
  const own = (changed: Windows[]) => {
    const day = changed.find(({ token }) => token === TOKEN)?.lengths.at(-1)
    return day && [day.makers, day.buyers, day.sellers]
  }
  assert.deepEqual(own(market.block(700, traded({ wallet: '0xe2' }))), [2, 2, 1])
  assert.deepEqual(own(market.block(86_400)), [2, 2, 1])
  assert.deepEqual(own(market.block(87_000)), [1, 1, 0])
  assert.deepEqual(own(market.block(87_060)), [0, 0, 0])
})

test('a quote asset has windows of its own, which only the sums over all its pairs enter and leave', () => {
  const market = new Market()
  const asTarget = traded({ token: QUOTE, wallet: '0xe1', close: 7n })
  const all = traded({ pair: ALL_PAIRS, token: QUOTE, wallet: '0xe1', buys: 1, sells: 2, close: 6n })
  const rowsOf = (changed: Windows[]) =>
    changed.map(({ pair, token, lengths, priceUsd }) => [
      pair,
      token,
      lengths.at(-1)?.buys,
      lengths.at(-1)?.sells,
      lengths.at(-1)?.makers,
      priceUsd,
    ])
  assert.deepEqual(rowsOf(market.block(0, asTarget, all)), [
    [PAIR, undefined, 1, 0, 1, 7n],
    [undefined, QUOTE, 1, 2, 1, 6n],
  ])
  assert.deepEqual(rowsOf(market.block(61, traded({ pair: ALL_PAIRS, token: QUOTE, wallet: '0xe2' }))), [
    [PAIR, undefined, 1, 0, 1, 7n],
    [undefined, QUOTE, 2, 2, 2, 5n],
  ])
  assert.deepEqual(rowsOf(market.block(86_400)), [
    [undefined, QUOTE, 1, 0, 1, 5n],
    [PAIR, undefined, 0, 0, 0, 7n],
  ])
  assert.deepEqual(rowsOf(market.block(86_460)), [[undefined, QUOTE, 0, 0, 0, 5n]])
})
