import { addMove, type MoveSums, movesOf, noMoves } from '../../../../../../src/dex/evm/token-moves.ts'
import type { Balance, Token } from '../../../../../../src/domain/change.ts'
import type {
  BalanceFact,
  BlockEnvelope,
  NonCirculatingFact,
  TransfersFact,
} from '../../../../../../src/domain/envelope.ts'
import { DEAD_ADDRESSES } from '../../../../../../src/domain/known-addresses.ts'
import { isBalance } from '../../../../../../src/domain/limits.ts'
import type { BlockRecords } from '../block-records.ts'
import { amountValue } from '../price/pair-prices.ts'
import type { EngineSettings } from '../settings.ts'
import { type EngineTables, ONLY, type TokenState } from '../tables.ts'
import { launchOf } from '../token/launch.ts'
import { withLarge } from './large-holders.ts'
import { answeredBalances, movedBalances, shownHolding } from './non-circulating.ts'
import { balanceKey, type Holding, newHolding } from './tables.ts'

/** Folds what a block says of who holds what: transfers, older transfers that were read since, and balances asked for. */
export class HolderFold {
  readonly #settings: EngineSettings
  readonly #tables: EngineTables
  readonly #records: BlockRecords
  readonly #block: BlockEnvelope
  readonly #wrappedNative: ReadonlySet<string>
  /** Tokens, and pools for their shares, of which the block changed who holds what. */
  readonly touched = new Set<string>()
  /** Tokens that this block told the supply of, in which its own transfers are counted already. */
  readonly #met = new Set<string>()

  constructor(settings: EngineSettings, tables: EngineTables, records: BlockRecords, block: BlockEnvelope) {
    this.#settings = settings
    this.#tables = tables
    this.#records = records
    this.#block = block
    const natives = settings.quoteAssets.filter(({ kind }) => kind === 'native')
    this.#wrappedNative = new Set(natives.map(({ address }) => address))
  }

  run(): Balance[] {
    this.#meet()
    const balances = new Map<string, Balance>()
    const note = (changed: readonly Balance[]): void => {
      for (const balance of changed) {
        const key = balanceKey(balance.token, balance.holder)
        const { beforeRaw } = balances.get(key) ?? balance
        balances.set(key, { ...balance, beforeRaw })
      }
    }
    for (const [token, sums] of this.#moves()) {
      note(this.#fold(token, sums, 'new'))
      if (!this.#met.has(token)) this.#moveSupply(token, sums.issuedRaw)
    }
    for (const fact of this.#block.facts) if (fact.type === 'transfers') note(this.#foldOlder(fact))
    for (const fact of this.#block.facts) if (fact.type === 'nonCirculating') this.#learn(fact)
    for (const fact of this.#block.facts) if (fact.type === 'balance') this.#check(fact)
    return [...balances.values()]
  }

  #meet(): void {
    for (const fact of this.#block.facts) {
      if (fact.type === 'token') {
        this.#met.add(fact.address)
        this.#open(fact.address, false)
      }
      // The shares of a pool that is told to be empty were all made after that.
      else if (fact.type === 'pool' && fact.pricing.kind === 'reserves' && this.#isKnownPool(fact.address))
        this.#open(fact.address, fact.reservesBefore?.every((reserve) => reserve === 0n) ?? false)
    }
  }

  #isKnownPool(address: string): boolean {
    return this.#tables.pools.get(address) !== undefined
  }

  /** Shares of a pool that are met as a token have been followed before, and the other way round. */
  #open(address: string, isRead: boolean): void {
    this.#put(address, this.#tables.holdings.get(address) ?? newHolding(isRead))
  }

  #moves(): Map<string, MoveSums> {
    const all = new Map<string, MoveSums>()
    for (const transaction of this.#block.transactions) {
      for (const move of movesOf(transaction, (token) => this.#wrappedNative.has(token))) {
        let sums = all.get(move.token)
        if (sums === undefined) {
          const holding = this.#tables.holdings.get(move.token)
          if (holding === undefined) continue
          sums = noMoves()
          all.set(move.token, sums)
          const first = { time: this.#block.time, creator: transaction.from }
          if (holding.first === undefined) this.#tables.holdings.put(move.token, { ...holding, first })
        }
        addMove(sums, move)
      }
    }
    return all
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
    { gains, issuedRaw, burnedRaw, mintedToZeroRaw }: MoveSums,
    age: 'new' | 'older',
  ): Balance[] {
    const holding = this.#tables.holdings.get(token)
    if (holding === undefined) return []
    if (holding.hasUnreliableBalances) {
      this.#put(token, holding)
      return []
    }
    let { holders, overdrawn, deadRaw, lockedRaw } = holding
    const changed: Balance[] = []
    for (const [holder, gain] of gains) {
      if (gain === 0n) continue
      const before = this.#tables.balances.get(balanceKey(token, holder)) ?? 0n
      const after = before + gain
      // More than can be: such a token says whatever it likes.
      if (!isBalance(after)) return this.#giveUp(token)
      holders += Number(after > 0n) - Number(before > 0n)
      overdrawn += Number(after < 0n) - Number(before < 0n)
      if (DEAD_ADDRESSES.has(holder)) deadRaw += gain
      else if (this.#settings.lockers.has(holder)) lockedRaw += gain
      changed.push({ token, holder, amountRaw: after, beforeRaw: before })
    }
    const sums = {
      deadRaw: deadRaw + mintedToZeroRaw,
      issuedRaw: holding.issuedRaw + issuedRaw,
      burnedRaw: holding.burnedRaw + burnedRaw,
      lockedRaw,
    }
    if (!Object.values(sums).every(isBalance)) return this.#giveUp(token)
    for (const { holder, amountRaw } of changed) {
      const key = balanceKey(token, holder)
      if (amountRaw === 0n) this.#tables.balances.delete(key)
      else this.#tables.balances.put(key, amountRaw)
    }
    this.#put(token, {
      ...holding,
      ...sums,
      // What the token answered holds all that is older.
      nonCirculating: age === 'older' ? holding.nonCirculating : movedBalances(holding, sums),
      holders,
      overdrawn,
      large: withLarge(holding.large, changed.filter(this.#isFree), this.#supplyOf(token) ?? sums.issuedRaw),
    })
    return changed
  }

  /** Neither burned nor locked. */
  readonly #isFree = ({ holder }: Balance): boolean =>
    !DEAD_ADDRESSES.has(holder) && !this.#settings.lockers.has(holder)

  #supplyOf(token: string): bigint | undefined {
    return this.#tables.tokens.get(token)?.token.supplyRaw
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

  /** What a token answers after the block is the truth; if its transfers say otherwise, they do not tell all. */
  #check({ address, holder, amountRaw }: BalanceFact): void {
    const holding = this.#tables.holdings.get(address)
    if (holding === undefined || !holding.isRead || holding.hasUnreliableBalances) return
    const told = this.#tables.balances.get(balanceKey(address, holder)) ?? 0n
    if (told !== amountRaw) this.#put(address, { ...holding, hasUnreliableBalances: true })
  }

  #moveSupply(address: string, issuedRaw: bigint): void {
    const state = this.#tables.tokens.get(address)
    if (state === undefined || issuedRaw === 0n || state.token.supplyRaw === undefined) return
    const supplyRaw = state.token.supplyRaw + issuedRaw
    // A token that unmakes more than it has made, or makes more than can be, is not to be believed.
    const isBelieved = supplyRaw >= 0n && isBalance(supplyRaw)
    const token = { ...state.token, supplyRaw: isBelieved ? supplyRaw : undefined }
    const fdvUsd = amountValue(token.supplyRaw, token.decimals, token.priceUsd)
    this.#records.putToken({ ...state, token: this.#withHolding({ ...token, fdvUsd }, state) })
  }

  #put(address: string, holding: Holding): void {
    this.#tables.holdings.put(address, holding)
    this.touched.add(address)
    const state = this.#tables.tokens.get(address)
    if (state === undefined) return
    const token = this.#withHolding(state.token, state)
    if (!isSame(token, state.token)) this.#records.putToken({ ...state, token })
  }

  #withHolding(token: Token, { firstTrade }: TokenState): Token {
    const holding = this.#tables.holdings.get(token.address)
    if (holding === undefined) return token
    const shown = shownHolding(holding, token.supplyRaw, this.#wrappedNative.has(token.address))
    const origin = holding.isRead ? holding.first : undefined
    return {
      ...token,
      holding: shown,
      marketCapUsd: amountValue(shown?.circulatingRaw, token.decimals, token.priceUsd),
      origin,
      launch: launchOf(origin, firstTrade, this.#tables.startTime.get(ONLY)),
    }
  }
}

/** Most transfers change none of this. */
function isSame(a: Token, b: Token): boolean {
  return (
    a.marketCapUsd === b.marketCapUsd &&
    a.origin?.time === b.origin?.time &&
    a.launch?.time === b.launch?.time &&
    a.holding?.holders === b.holding?.holders &&
    a.holding?.burnedRaw === b.holding?.burnedRaw &&
    a.holding?.lockedRaw === b.holding?.lockedRaw &&
    a.holding?.circulatingRaw === b.holding?.circulatingRaw
  )
}
