import type { MoveSums } from '../../dex/move-sums.ts'
import { newMintsIn } from '../../dex/solana/owner-balances.ts'
import type { Balance, Token } from '../../domain/change.ts'
import type {
  BalanceFact,
  BlockEnvelope,
  NonCirculatingFact,
  RawTransaction,
  TransfersFact,
} from '../../domain/envelope.ts'
import { isImported } from '../../domain/imported-balances.ts'
import { isBurnAddress } from '../../domain/known-addresses.ts'
import { isBalance } from '../../domain/limits.ts'
import type { BlockRecords } from '../block-records.ts'
import { amountValue } from '../price/pair-prices.ts'
import type { EngineSettings } from '../settings.ts'
import { type EngineTables, ONLY } from '../tables.ts'
import { launchOf } from '../token/launch.ts'
import type { TokenView } from '../token/token-view.ts'
import type { BlockMoves } from './block-moves.ts'
import { withLarge } from './large-holders.ts'
import { answeredBalances, movedBalances, shownHolding } from './non-circulating.ts'
import { type Holding, newHolding } from './tables.ts'

/** The fields of a token that depend on its holders. */
type Shown = Pick<Token, 'holding' | 'marketCapUsd' | 'origin' | 'launch'>

/** Folds the balances of a block: transfers, older transfers found in the background, and sampled balances. */
export class HolderFold {
  readonly #settings: EngineSettings
  readonly #tables: EngineTables
  readonly #records: BlockRecords
  readonly #block: BlockEnvelope
  readonly #moves: BlockMoves
  /** Tokens, and pools for their LP tokens, whose balances this block changed. */
  readonly touched = new Set<string>()
  /** Tokens whose supply is a fact of this block: it includes the block's own transfers. */
  readonly #met: ReadonlySet<string>
  /** Mints of Solana that this block created. */
  #newMints: ReadonlySet<string> = new Set()

  constructor(
    settings: EngineSettings,
    tables: EngineTables,
    records: BlockRecords,
    block: BlockEnvelope,
    moves: BlockMoves,
    met: ReadonlySet<string>,
  ) {
    this.#settings = settings
    this.#tables = tables
    this.#records = records
    this.#block = block
    this.#moves = moves
    this.#met = met
  }

  run(): Balance[] {
    this.#meet()
    const changed: Balance[][] = []
    const moved = [...this.#moves.all()].filter(([token, { first }]) => this.#noteFirst(token, first))
    for (const [token, { sums }] of moved) {
      changed.push(this.#fold(token, sums, 'new'))
      if (this.#isNative(token)) continue
      if (!this.#met.has(token)) this.#moveSupply(token, sums.issuedRaw)
      else if (this.#newMints.has(token)) this.#setSupply(token, sums.issuedRaw)
    }
    const older = this.#block.facts.filter((fact) => fact.type === 'transfers')
    for (const fact of older) changed.push(this.#foldOlder(fact))
    for (const fact of this.#block.facts) if (fact.type === 'nonCirculating') this.#learn(fact)
    for (const fact of this.#block.facts) if (fact.type === 'balance') this.#check(fact)
    // Only older transfers can change a balance of the block once more.
    return older.length === 0 ? changed.flat() : merged(changed.flat())
  }

  #meet(): void {
    if (this.#met.size > 0) this.#newMints = newMintsIn(this.#block.transactions)
    for (const fact of this.#block.facts) {
      // From this block on, all balances of a mint that it created are known.
      if (fact.type === 'token') this.#open(fact.address, this.#newMints.has(fact.address))
      // All LP tokens of an empty pool were minted later.
      else if (fact.type === 'pool' && fact.pricing.kind === 'reserves' && this.#isKnownPool(fact.address))
        this.#open(fact.address, fact.reservesBefore?.every((reserve) => reserve === 0n) ?? false)
    }
  }

  #isKnownPool(address: string): boolean {
    return this.#tables.pools.has(address)
  }

  /** LP tokens that become known as a token were tracked before, and vice versa. */
  #open(address: string, isRead: boolean): void {
    this.#put(address, this.#tables.holdings.get(address) ?? newHolding(isRead))
  }

  /** Returns whether the token's balances are counted. */
  #noteFirst(token: string, { from }: RawTransaction): boolean {
    const holding = this.#tables.holdings.get(token)
    if (holding?.first === undefined && holding !== undefined)
      this.#tables.holdings.put(token, { ...holding, first: { time: this.#block.time, creator: from } })
    return holding !== undefined
  }

  #foldOlder(fact: TransfersFact): Balance[] {
    const known = this.#tables.holdings.get(fact.address)
    if (known === undefined || known.isRead) return []
    const first = fact.first && { time: fact.first.time, creator: fact.first.sender }
    this.#tables.holdings.put(fact.address, {
      ...known,
      isRead: fact.isLast,
      first: first ?? known.first,
    })
    const { issuedRaw, burnedRaw, mintedToZeroRaw } = fact
    const gains = new Map(fact.gains.map(({ holder, amountRaw }) => [holder, amountRaw]))
    return this.#fold(fact.address, { gains, issuedRaw, burnedRaw, mintedToZeroRaw }, 'older')
  }

  #fold(
    token: string,
    { gains, issuedRaw, burnedRaw, mintedToZeroRaw, floors, isIncomplete }: MoveSums,
    age: 'new' | 'older',
  ): Balance[] {
    const holding = this.#tables.holdings.get(token)
    if (holding === undefined) return []
    if (isIncomplete) return this.#giveUp(token)
    if (holding.hasUnreliableBalances) {
      this.#put(token, holding)
      return []
    }
    let { holders, overdrawn, deadRaw, lockedRaw } = holding
    const { balances } = this.#tables
    const changed: Balance[] = []
    const slots: number[] = []
    for (const [holder, gain] of gains) {
      const floor = floors?.get(holder)
      if (gain === 0n && floor === undefined) continue
      const slot = balances.slotOf(token, holder)
      const before = balances.amountAt(slot)
      const isOlderFound = floor !== undefined && floor > before
      // With complete history, no holder has more than it adds up to.
      if (isOlderFound && holding.isRead) return this.#giveUp(token)
      const after = (isOlderFound ? floor : before) + gain
      if (after === before) continue
      // Exceeds the possible maximum: the token's numbers are not credible.
      if (!isBalance(after)) return this.#giveUp(token)
      holders += Number(after > 0n) - Number(before > 0n)
      overdrawn += Number(after < 0n) - Number(before < 0n)
      if (isBurnAddress(holder)) deadRaw += after - before
      else if (this.#settings.lockers.has(holder)) lockedRaw += after - before
      changed.push({ token, holder, amountRaw: after, beforeRaw: before })
      slots.push(slot)
    }
    const sums = {
      deadRaw: deadRaw + mintedToZeroRaw,
      issuedRaw: holding.issuedRaw + issuedRaw,
      burnedRaw: holding.burnedRaw + burnedRaw,
      lockedRaw,
    }
    // The balances that the token reported include everything older.
    const nonCirculating = age === 'older' ? holding.nonCirculating : movedBalances(holding, sums)
    // A running sum does not know of lockers that were added or removed; the reader asks the token again after that.
    if (nonCirculating === undefined) sums.lockedRaw += this.#lockedIn(token) - holding.lockedRaw
    if (!Object.values(sums).every(isBalance)) return this.#giveUp(token)
    for (const [index, slot] of slots.entries()) balances.setAt(slot, (changed[index] as Balance).amountRaw)
    this.#put(token, {
      ...holding,
      ...sums,
      nonCirculating,
      holders,
      overdrawn,
      large: withLarge(holding.large, changed.filter(this.#isFree), this.#supplyOf(token) ?? sums.issuedRaw),
    })
    return changed
  }

  #lockedIn(token: string): bigint {
    let sum = 0n
    for (const locker of this.#settings.lockers)
      if (!isBurnAddress(locker)) sum += this.#tables.balances.get(token, locker)
    return sum
  }

  /** Neither burned nor locked. */
  readonly #isFree = ({ holder }: Balance): boolean =>
    !isBurnAddress(holder) && !this.#settings.lockers.has(holder)

  #supplyOf(token: string): bigint | undefined {
    return this.#records.tokenIfKnown(token)?.supplyRaw
  }

  #giveUp(token: string): Balance[] {
    const holding = this.#tables.holdings.get(token)
    if (holding !== undefined) this.#put(token, { ...holding, hasUnreliableBalances: true })
    return []
  }

  #learn(fact: NonCirculatingFact): void {
    const holding = this.#tables.holdings.get(fact.address)
    const nonCirculating = answeredBalances(fact, this.#settings.lockers)
    if (holding !== undefined && nonCirculating !== undefined)
      this.#put(fact.address, { ...holding, nonCirculating })
  }

  /** `balanceOf` after the block is authoritative. If the transfers add up to something else, they are incomplete. */
  #check({ address, holder, amountRaw }: BalanceFact): void {
    const holding = this.#tables.holdings.get(address)
    if (holding === undefined || !holding.isRead || holding.hasUnreliableBalances) return
    const summedRaw = this.#tables.balances.get(address, holder)
    if (summedRaw !== amountRaw) this.#put(address, { ...holding, hasUnreliableBalances: true })
  }

  /** Wrapping and unwrapping does not change how much of the coin exists. */
  #isNative(token: string): boolean {
    return token === this.#settings.native?.address
  }

  #moveSupply(address: string, issuedRaw: bigint): void {
    const token = this.#records.tokenIfKnown(address)
    if (token?.supplyRaw === undefined || issuedRaw === 0n) return
    this.#setSupply(address, token.supplyRaw + issuedRaw)
  }

  /** A node reports the supply of a mint after a later block; for one that is new it is what this block issued. */
  #setSupply(address: string, supplyRaw: bigint): void {
    const token = this.#records.tokenIfKnown(address)
    const holding = this.#tables.holdings.get(address)
    if (token === undefined || holding === undefined || token.supplyRaw === supplyRaw) return
    // A token that burns more than it minted, or mints more than the maximum, is not credible.
    const isBelieved = supplyRaw >= 0n && isBalance(supplyRaw)
    this.#records.editToken(token)
    token.supplyRaw = isBelieved ? supplyRaw : undefined
    token.fdvUsd = amountValue(token.supplyRaw, token.decimals, token.priceUsd)
    Object.assign(token, this.#shown(token, holding))
  }

  #put(address: string, holding: Holding): void {
    this.#tables.holdings.put(address, holding)
    this.touched.add(address)
    const token = this.#records.tokenIfKnown(address)
    if (token === undefined) return
    const shown = this.#shown(token, holding)
    if (isSame(shown, token)) return
    this.#records.editToken(token)
    Object.assign(token, shown)
  }

  #shown({ address, supplyRaw, decimals, priceUsd, firstTrade }: TokenView, holding: Holding): Shown {
    const shown = shownHolding(holding, supplyRaw, this.#moves.isWrappedNative(address))
    const origin = holding.isRead && !isImported(holding.first) ? holding.first : undefined
    return {
      holding: shown,
      marketCapUsd: amountValue(
        this.#isNative(address) ? supplyRaw : shown?.circulatingRaw,
        decimals,
        priceUsd,
      ),
      origin,
      launch: launchOf(origin, firstTrade, this.#tables.startTime.get(ONLY)),
    }
  }
}

/** Each balance once: its value now, and before all of these changes. */
function merged(changed: readonly Balance[]): Balance[] {
  const balances = new Map<string, Balance>()
  for (const balance of changed) {
    const key = `${balance.token}/${balance.holder}`
    const { beforeRaw } = balances.get(key) ?? balance
    balances.set(key, { ...balance, beforeRaw })
  }
  return [...balances.values()]
}

/** Most transfers change none of these fields. */
function isSame(shown: Shown, { marketCapUsd, origin, launch, holding }: Shown): boolean {
  return (
    shown.marketCapUsd === marketCapUsd &&
    shown.origin?.time === origin?.time &&
    shown.launch?.time === launch?.time &&
    shown.holding?.holders === holding?.holders &&
    shown.holding?.burnedRaw === holding?.burnedRaw &&
    shown.holding?.lockedRaw === holding?.lockedRaw &&
    shown.holding?.circulatingRaw === holding?.circulatingRaw
  )
}
