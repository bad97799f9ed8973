import type {
  Balance,
  Candle,
  Change,
  ChangeSet,
  LiquidityEvent,
  MainPairSwitch,
  Pair,
  Token,
  Trade,
  Windows,
  WindowsRef,
} from '../../../src/domain/change.ts'
import { INTERVALS } from '../../../src/domain/interval.ts'
import { formatOrderKey } from '../../../src/domain/order-key.ts'
import type { HeldBalance } from '../reference/change-tables.ts'
import {
  buildBalance,
  buildCandle,
  buildLiquidity,
  buildPair,
  buildSwitch,
  buildToken,
  buildTrade,
  buildWindows,
  Dice,
  type Pool,
} from './change-builders.ts'

export type VersionedTable<T> = Map<string, { readonly seq: number; readonly record: T }>

/** What remains of a story at its end, by natural key. */
export type World = {
  trades: VersionedTable<Trade>
  liquidity: VersionedTable<LiquidityEvent>
  candles: VersionedTable<Candle>
  pairs: VersionedTable<Pair>
  tokens: VersionedTable<Token>
  /** By `pair/<address>` or `token/<address>`. */
  windows: VersionedTable<Windows>
  switches: VersionedTable<MainPairSwitch>
  balances: VersionedTable<HeldBalance>
}

export type Story = { readonly sets: readonly ChangeSet[]; readonly world: World }

type Block = ChangeSet['head'] & { readonly before: World }

/** Blocks with everything that can change, and now and then a fork that takes some of it back. */
export function storySets(options: {
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
  let world = mapWorld(() => new Map())
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

export function switchId({ token, block }: Pick<MainPairSwitch, 'token' | 'block'>): string {
  return `${token}/${block}`
}

export function balanceId({ token, holder }: Pick<Balance, 'token' | 'holder'>): string {
  return `${token}/${holder}`
}

function heldOf({ token, holder, amountRaw }: Balance): HeldBalance {
  return { token, holder, amountRaw }
}

/** Whose windows they are. */
export function windowsIds({ pair, token }: WindowsRef): string[] {
  return [...(pair === undefined ? [] : [`pair/${pair}`]), ...(token === undefined ? [] : [`token/${token}`])]
}

/** The newest candle of each pair and interval. */
export function latestCandles({ candles }: World): VersionedTable<Candle> {
  const newest: VersionedTable<Candle> = new Map()
  for (const candle of candles.values()) {
    const { pair, interval, start } = candle.record
    const id = `${pair}/${interval}`
    if (start >= (newest.get(id)?.record.start ?? 0)) newest.set(id, candle)
  }
  return newest
}

/** Each thing stands in a set once, as a set is a difference. */
function blockChanges(dice: Dice, pools: readonly Pool[], head: ChangeSet['head'], trades: number): Change[] {
  const changes = new Map<string, Change>()
  const withWindows = new Set<string>()
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
    if (dice.below(3) === 0) {
      const liquidity = buildLiquidity(dice, pool, { ...key, log: key.log + 1_000 }, head.time)
      changes.set(`liquidity/${tx}`, { type: 'liquidity', liquidity })
    }
    if (dice.below(4) === 0) {
      const to = buildSwitch(dice, pool.token0, head.number, head.time)
      changes.set(`switch/${switchId(to)}`, { type: 'switch', switch: to })
    }
    const balance = buildBalance(dice, pool.token1)
    changes.set(`balance/${balanceId(balance)}`, { type: 'balance', balance })
    const own: WindowsRef[] = [
      { pair: pool.address, token: undefined },
      { pair: undefined, token: pool.token0 },
    ]
    const refs = dice.below(2) === 0 ? own : [{ pair: pool.address, token: pool.token0 }]
    for (const ref of refs) {
      const ids = windowsIds(ref)
      if (ids.some((id) => withWindows.has(id))) continue
      for (const id of ids) withWindows.add(id)
      changes.set(`windows/${ids}`, { type: 'windows', windows: buildWindows(dice, ref, head.time) })
    }
  }
  return [...changes.values()]
}

/** What the engine says when it goes back from one world to an earlier one. */
function differences(from: World, to: World): Change[] {
  const changes: Change[] = []
  const compare = <T>(
    a: VersionedTable<T>,
    b: VersionedTable<T>,
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
  compare(
    from.liquidity,
    to.liquidity,
    ({ key, time, pair }) => ({ type: 'liquidityRemoved', liquidity: { key, time, pair } }),
    (liquidity) => ({ type: 'liquidity', liquidity }),
  )
  compare(
    from.switches,
    to.switches,
    (to) => ({ type: 'switchRemoved', switch: to }),
    (to) => ({ type: 'switch', switch: to }),
  )
  compare(
    from.balances,
    to.balances,
    (balance) => ({ type: 'balance', balance: { ...balance, amountRaw: 0n, beforeRaw: balance.amountRaw } }),
    (balance) => ({
      type: 'balance',
      balance: { ...balance, beforeRaw: from.balances.get(balanceId(balance))?.record.amountRaw ?? 0n },
    }),
  )
  changes.push(...windowsDifferences(from.windows, to.windows))
  // The engine stores the latest candle as one record: if it is undone, the one before is published again.
  const latestBefore = latestCandles(to)
  for (const [id, { record }] of latestCandles(from)) {
    const earlier = latestBefore.get(id)?.record
    const isSame = earlier === undefined || earlier.start === record.start
    const isPublished = from.candles.get(earlier === undefined ? '' : candleId(earlier))?.record !== earlier
    if (!isSame && !isPublished) changes.push(candle(earlier))
  }
  return changes
}

/** Each owner is published separately: the other one may have changed meanwhile. */
function windowsDifferences(from: VersionedTable<Windows>, to: VersionedTable<Windows>): Change[] {
  return [...from].flatMap(([id, { record }]): Change[] => {
    const [kind, address] = id.split('/') as ['pair' | 'token', string]
    const owner = { pair: undefined, token: undefined, [kind]: address }
    const earlier = to.get(id)?.record
    if (earlier === undefined) return [{ type: 'windowsRemoved', windows: owner }]
    return earlier === record ? [] : [{ type: 'windows', windows: { ...earlier, ...owner } }]
  })
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
    case 'liquidity':
      world.liquidity.set(tradeId(change.liquidity), { seq, record: change.liquidity })
      break
    case 'windows':
      for (const id of windowsIds(change.windows)) world.windows.set(id, { seq, record: change.windows })
      break
    case 'switch':
      world.switches.set(switchId(change.switch), { seq, record: change.switch })
      break
    case 'balance':
      // Empty balances are not stored.
      if (change.balance.amountRaw === 0n) world.balances.delete(balanceId(change.balance))
      else world.balances.set(balanceId(change.balance), { seq, record: heldOf(change.balance) })
      break
    default:
      // What was removed is not in the earlier world.
      break
  }
}

/** The earlier world, in which what did not change meanwhile keeps the version it has now. */
function goBack(from: World, to: World): World {
  const carry = <T>(a: VersionedTable<T>, b: VersionedTable<T>): VersionedTable<T> =>
    new Map(
      Array.from(b, ([id, earlier]) => {
        const now = a.get(id)
        return [id, now?.record === earlier.record ? now : earlier]
      }),
    )
  return mapWorld((name) => carry<unknown>(from[name], to[name]))
}

function copyOf(world: World): World {
  return mapWorld((name) => new Map<string, unknown>(world[name]))
}

function mapWorld(make: (name: keyof World) => Map<string, unknown>): World {
  const names = [
    'trades',
    'liquidity',
    'candles',
    'pairs',
    'tokens',
    'windows',
    'switches',
    'balances',
  ] as const
  return Object.fromEntries(names.map((name) => [name, make(name)])) as World
}

function headOf({ number, hash, time }: Block): ChangeSet['head'] {
  return { number, hash, time }
}
