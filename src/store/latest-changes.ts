import { type ChangeSetIndex, idEnd, nextChange } from '../wire/change-index.ts'
import {
  BALANCE,
  CANDLE,
  CONTRACT,
  LIQUIDITY,
  LIQUIDITY_REMOVED,
  PAIR,
  SWITCH,
  TOKEN,
  TRADE,
  TRADE_REMOVED,
  WINDOWS_LAYOUT,
} from '../wire/change-layouts.ts'
import { TYPE as CHANGE } from '../wire/change-type.ts'
import { END, TYPE } from '../wire/record-layout.ts'

/** A change in a message: the index of its first slot. */
export type PlacedChange = { readonly set: ChangeSetIndex; readonly base: number }

/**
 * A holder's row is keyed by the magnitude of the balance: if that changes, one row is removed and another one added.
 */
export type PlacedBalance = PlacedChange & { readonly isRemoved: boolean }

type LatestByKey = Map<string, PlacedChange>

/** Keyed by natural key, as bytes of the message: equal keys are encoded equally. */
export class LatestChanges {
  readonly trades: LatestByKey = new Map()
  readonly liquidity: LatestByKey = new Map()
  /** By pair, then by interval and start. */
  readonly candles = new Map<string, Map<number, PlacedChange>>()
  readonly pairs: LatestByKey = new Map()
  readonly tokens: LatestByKey = new Map()
  /** Windows shared by a pair and a token are in both maps. */
  readonly pairWindows: LatestByKey = new Map()
  readonly tokenWindows: LatestByKey = new Map()
  readonly switches: LatestByKey = new Map()
  readonly balances = new Map<string, PlacedBalance>()
  readonly contracts: LatestByKey = new Map()
  #pairSet: ChangeSetIndex | undefined
  #pairAt = 0
  #pair = ''

  add(set: ChangeSetIndex): void {
    const { places } = set
    for (let base = 0; base < places.length; base = nextChange(places, base)) this.#addChange(set, base)
  }

  #addChange(set: ChangeSetIndex, base: number): void {
    switch (set.places[base + TYPE]) {
      case CHANGE.trade:
        this.trades.set(keyOf(set, base, TRADE.slots.block, TRADE.slots.amm), { set, base })
        break
      case CHANGE.tradeRemoved:
        this.trades.set(keyOf(set, base, TRADE_REMOVED.slots.block, END), { set, base })
        break
      case CHANGE.liquidity:
        this.liquidity.set(keyOf(set, base, LIQUIDITY.slots.block, LIQUIDITY.slots.kind), { set, base })
        break
      case CHANGE.liquidityRemoved:
        this.liquidity.set(keyOf(set, base, LIQUIDITY_REMOVED.slots.block, END), { set, base })
        break
      case CHANGE.candle:
      case CHANGE.candleRemoved:
        this.#addCandle(set, base)
        break
      case CHANGE.pair:
        this.pairs.set(keyOf(set, base, PAIR.slots.address, PAIR.slots.amm), { set, base })
        break
      case CHANGE.pairRemoved:
        this.pairs.set(idAt(set, base + PAIR.slots.address), { set, base })
        break
      case CHANGE.token:
        this.tokens.set(keyOf(set, base, TOKEN.slots.address, TOKEN.slots.name), { set, base })
        break
      case CHANGE.tokenRemoved:
        this.tokens.set(idAt(set, base + TOKEN.slots.address), { set, base })
        break
      case CHANGE.windows:
      case CHANGE.windowsRemoved:
        this.#addWindows(set, base)
        break
      case CHANGE.switch:
      case CHANGE.switchRemoved:
        this.switches.set(keyOf(set, base, SWITCH.slots.token, SWITCH.slots.time), { set, base })
        break
      case CHANGE.balance:
        this.#addBalance(set, base)
        break
      case CHANGE.contract:
      case CHANGE.contractRemoved:
        this.contracts.set(idAt(set, base + CONTRACT.slots.token), { set, base })
        break
    }
  }

  #addCandle(set: ChangeSetIndex, base: number): void {
    const { places } = set
    const pair = this.#pairOfCandle(set, places[base + CANDLE.slots.pair] as number)
    const key =
      (places[base + CANDLE.slots.interval] as number) * 2 ** 32 +
      (places[base + CANDLE.slots.start] as number)
    const known = this.candles.get(pair)
    if (known !== undefined) known.set(key, { set, base })
    else this.candles.set(pair, new Map([[key, { set, base }]]))
  }

  #addWindows(set: ChangeSetIndex, base: number): void {
    const { pair, token } = WINDOWS_LAYOUT.slots
    if (set.places[base + pair] !== 0) this.pairWindows.set(idAt(set, base + pair), { set, base })
    if (set.places[base + token] !== 0) this.tokenWindows.set(idAt(set, base + token), { set, base })
  }

  #addBalance(set: ChangeSetIndex, base: number): void {
    const { bytes, places } = set
    const { slots } = BALANCE
    const holder = keyOf(set, base, slots.token, slots.amountRaw)
    const [now, before] = [places[base + slots.magnitude], places[base + slots.magnitudeBefore]]
    const isNow = !isZero(bytes, places[base + slots.amountRaw] as number)
    const wasBefore = !isZero(bytes, places[base + slots.beforeRaw] as number)
    if (wasBefore && (!isNow || now !== before)) {
      this.balances.set(`${holder}/${before}`, { set, base, isRemoved: true })
    }
    if (isNow) this.balances.set(`${holder}/${now}`, { set, base, isRemoved: false })
  }

  /** Candles of one pair are adjacent in a message. */
  #pairOfCandle(set: ChangeSetIndex, at: number): string {
    if (at !== this.#pairAt || set !== this.#pairSet) {
      this.#pairSet = set
      this.#pairAt = at
      this.#pair = textOf(set.bytes, at, idEnd(set.bytes, at))
    }
    return this.#pair
  }
}

/** Latest wins: for change sets of one log in order, the latest change of each natural key. */
export function latestChanges(sets: readonly ChangeSetIndex[]): LatestChanges {
  const latest = new LatestChanges()
  for (const set of sets) latest.add(set)
  return latest
}

/** The bytes from one field of the change up to another. */
function keyOf({ bytes, places }: ChangeSetIndex, base: number, first: number, behind: number): string {
  return textOf(bytes, places[base + first] as number, places[base + behind] as number)
}

function idAt({ bytes, places }: ChangeSetIndex, slot: number): string {
  const at = places[slot] as number
  return textOf(bytes, at, idEnd(bytes, at))
}

function isZero(bytes: Uint8Array, signedAt: number): boolean {
  return bytes[signedAt + 1] === 0
}

/** The internal method behind `toString`; calling it directly skips the argument checks. */
type SlicingBuffer = Buffer & { latin1Slice(start: number, end: number): string }

const { latin1Slice } = Buffer.prototype as SlicingBuffer

/** Latin-1, so that different bytes give different strings. */
function textOf(bytes: Uint8Array, start: number, end: number): string {
  return latin1Slice.call(bytes, start, end)
}
