import type { Candle, Change, ChangeSet, Pair, Token, Trade } from '../../src/domain/change.ts'
import { INTERVALS } from '../../src/domain/interval.ts'
import { formatOrderKey } from '../../src/domain/order-key.ts'
import { buildCandle, buildPair, buildToken, buildTrade, Dice, type Pool } from './change-builders.ts'

export type Kept<T> = Map<string, { readonly seq: number; readonly record: T }>

/** What is left of a story once it has been told, by natural key. */
export type World = { trades: Kept<Trade>; candles: Kept<Candle>; pairs: Kept<Pair>; tokens: Kept<Token> }

export type Story = { readonly sets: readonly ChangeSet[]; readonly world: World }

type Block = ChangeSet['head'] & { readonly before: World }

/** Blocks with trades, candles, pairs and tokens, and now and then a fork that takes some of them back. */
export function tellStory(options: {
  chain: string
  seed: number
  messages: number
  tradesPerBlock?: number
}): Story {
  const { chain, seed, messages, tradesPerBlock = 3 } = options
  const dice = new Dice(seed)
  const tokens = Array.from({ length: 6 }, () => dice.hex(20))
  const pools = Array.from({ length: 5 }, () => ({
    address: dice.hex(dice.pick([20, 20, 32])),
    token0: dice.pick(tokens),
    token1: dice.pick(tokens),
  }))
  let world: World = { trades: new Map(), candles: new Map(), pairs: new Map(), tokens: new Map() }
  // Shortly before the end of a month, so that the story crosses it.
  let head: ChangeSet['head'] = { number: 99, hash: dice.hex(32), time: 1_761_950_000 }
  let finalNumber = 0
  const blocks: Block[] = []
  const sets: ChangeSet[] = []
  for (let message = 1; message <= messages; message++) {
    const seq = message * 2
    const undoable = blocks.filter(({ number }) => number > finalNumber)
    const chance = dice.below(10)
    let cause: ChangeSet['cause'] = 'block'
    let changes: Change[] = []
    if (chance === 0 && undoable.length > 1) {
      cause = 'undo'
      const undone = blocks.splice(-1 - dice.below(Math.min(4, undoable.length - 1)))
      const { before } = undone[0] as Block
      changes = differences(world, before)
      world = goBack(world, before)
      head = headOf(blocks.at(-1) as Block)
    } else if (chance === 1 && undoable.length > 3) {
      cause = 'final'
      finalNumber = (undoable[0] as Block).number
    } else {
      const before = copyOf(world)
      const time = head.time + dice.pick([0, 1, 12, 45, 4_000])
      head = { number: head.number + 1, hash: dice.hex(32), time }
      blocks.push({ ...head, before })
      changes = blockChanges(dice, pools, head, tradesPerBlock)
    }
    for (const change of changes) apply(world, change, seq)
    sets.push({ chain, seq, cause, head, finalNumber, changes: dice.shuffle(changes) })
  }
  return { sets, world }
}

export function tradeId(trade: Pick<Trade, 'pair' | 'time' | 'key'>): string {
  return `${trade.pair}/${trade.time}/${formatOrderKey(trade.key)}`
}

export function candleId(candle: Pick<Candle, 'pair' | 'interval' | 'start'>): string {
  return `${candle.pair}/${candle.interval}/${candle.start}`
}

/** The newest candle of each pair and interval. */
export function newestCandles({ candles }: World): Kept<Candle> {
  const newest: Kept<Candle> = new Map()
  for (const kept of candles.values()) {
    const { pair, interval, start } = kept.record
    const id = `${pair}/${interval}`
    if (start >= (newest.get(id)?.record.start ?? 0)) newest.set(id, kept)
  }
  return newest
}

/** Each thing stands in a set once, as a set is a difference. */
function blockChanges(dice: Dice, pools: readonly Pool[], head: ChangeSet['head'], trades: number): Change[] {
  const changes = new Map<string, Change>()
  for (let tx = 0; tx < trades; tx++) {
    const pool = dice.pick(pools)
    const key = { block: head.number, tx, log: tx * 3 + dice.below(3) }
    const trade = buildTrade(dice, pool, key, head.time)
    changes.set(`trade/${tx}`, { type: 'trade', trade })
    for (const interval of INTERVALS) {
      const candle = buildCandle(dice, pool.address, interval, key, head.time)
      changes.set(`candle/${candleId(candle)}`, { type: 'candle', candle })
    }
    changes.set(`pair/${pool.address}`, { type: 'pair', pair: buildPair(dice, pool, head.time) })
    for (const token of [pool.token0, pool.token1]) {
      changes.set(`token/${token}`, { type: 'token', token: buildToken(dice, token, head.time) })
    }
  }
  return [...changes.values()]
}

/** What the engine says when it goes back from one world to an earlier one. */
function differences(from: World, to: World): Change[] {
  const changes: Change[] = []
  const compare = <T>(
    a: Kept<T>,
    b: Kept<T>,
    removed: (record: T) => Change,
    restored: (record: T) => Change,
  ): void => {
    for (const [id, { record }] of a) {
      const earlier = b.get(id)
      if (earlier === undefined) changes.push(removed(record))
      else if (earlier.record !== record) changes.push(restored(earlier.record))
    }
  }
  const candle = (record: Candle): Change => ({ type: 'candle', candle: record })
  compare(
    from.trades,
    to.trades,
    ({ key, time, pair }) => ({ type: 'tradeRemoved', trade: { key, time, pair } }),
    (trade) => ({ type: 'trade', trade }),
  )
  compare(
    from.candles,
    to.candles,
    ({ pair, interval, start }) => ({ type: 'candleRemoved', candle: { pair, interval, start } }),
    candle,
  )
  compare(
    from.pairs,
    to.pairs,
    ({ address }) => ({ type: 'pairRemoved', pair: address }),
    (pair) => ({ type: 'pair', pair }),
  )
  compare(
    from.tokens,
    to.tokens,
    ({ address }) => ({ type: 'tokenRemoved', token: address }),
    (token) => ({ type: 'token', token }),
  )
  // The engine keeps the newest candle as one record: where it goes back, the one before is told again.
  const newestBefore = newestCandles(to)
  for (const [id, { record }] of newestCandles(from)) {
    const earlier = newestBefore.get(id)?.record
    const isSame = earlier === undefined || earlier.start === record.start
    const isTold = from.candles.get(earlier === undefined ? '' : candleId(earlier))?.record !== earlier
    if (!isSame && !isTold) changes.push(candle(earlier))
  }
  return changes
}

function apply(world: World, change: Change, seq: number): void {
  switch (change.type) {
    case 'trade':
      world.trades.set(tradeId(change.trade), { seq, record: change.trade })
      break
    case 'candle':
      world.candles.set(candleId(change.candle), { seq, record: change.candle })
      break
    case 'pair':
      world.pairs.set(change.pair.address, { seq, record: change.pair })
      break
    case 'token':
      world.tokens.set(change.token.address, { seq, record: change.token })
      break
    default:
      // What was removed is not in the earlier world.
      break
  }
}

/** The earlier world, in which what did not change meanwhile keeps the version it has now. */
function goBack(from: World, to: World): World {
  const carry = <T>(a: Kept<T>, b: Kept<T>): Kept<T> =>
    new Map(
      Array.from(b, ([id, earlier]) => {
        const now = a.get(id)
        return [id, now?.record === earlier.record ? now : earlier]
      }),
    )
  return {
    trades: carry(from.trades, to.trades),
    candles: carry(from.candles, to.candles),
    pairs: carry(from.pairs, to.pairs),
    tokens: carry(from.tokens, to.tokens),
  }
}

function copyOf(world: World): World {
  const { trades, candles, pairs, tokens } = world
  return {
    trades: new Map(trades),
    candles: new Map(candles),
    pairs: new Map(pairs),
    tokens: new Map(tokens),
  }
}

function headOf({ number, hash, time }: Block): ChangeSet['head'] {
  return { number, hash, time }
}
