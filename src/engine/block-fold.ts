import type { CurveOpened, PoolCreated, PoolEvent, Swapped } from '../dex/events.ts'
import type { Deployed } from '../dex/registry.ts'
import type { EventRef, LiquidityEvent, MainPairSwitch } from '../domain/change.ts'
import type { RawLog } from '../domain/envelope.ts'
import type { ChangeSetWriter } from '../wire/change-set-writer.ts'
import { reportCodec } from '../wire/contract-codec.ts'
import type { OpenedBlock } from '../wire/envelope-codec.ts'
import { liquidityCodec, switchCodec } from '../wire/liquidity-codec.ts'
import type { OpenedTransaction } from '../wire/opened-transaction.ts'
import { writeBalance } from '../wire/record-codec.ts'
import { BlockRecords } from './block-records.ts'
import type { DeferredDocuments } from './deferred-documents.ts'
import { FactFold } from './fact-fold.ts'
import type { FoldedBlock } from './folded-block.ts'
import { BlockMoves } from './holders/block-moves.ts'
import { HolderFold } from './holders/holder-fold.ts'
import { platformAfter } from './launch/platform.ts'
import { foldTokenLaunch } from './launch/token-launch.ts'
import { toLiquidity } from './liquidity.ts'
import { setReserves } from './pair/pair-updates.ts'
import type { PairView } from './pair/pair-view.ts'
import { PairFold } from './pair-fold.ts'
import { Parties } from './parties.ts'
import { type Pool, pairId, placeOf } from './pool/pool.ts'
import type { OpenedPool } from './pool-table.ts'
import { CountedWorth } from './price/counted-worth.ts'
import { ReferencePrices } from './price/reference-prices.ts'
import { RiskFold } from './risk/risk-fold.ts'
import type { EngineSettings } from './settings.ts'
import type { AssetChanges } from './settings-fold.ts'
import type { EngineTables } from './tables.ts'
import { TokenUpdates } from './token/token-updates.ts'
import { exchangeOf, type Origin } from './trade.ts'
import { TradeFold } from './trade-fold.ts'

/** Folds one block into the tables and publishes the changes. */
export class BlockFold {
  readonly #in: FoldedBlock
  readonly #assetChanges: AssetChanges
  readonly #facts: FactFold
  readonly #pairs: PairFold
  readonly #trades: TradeFold
  readonly #parties: Parties
  readonly #liquidity: LiquidityEvent[] = []

  constructor(
    settings: EngineSettings,
    tables: EngineTables,
    block: OpenedBlock,
    changes: ChangeSetWriter,
    deferred: DeferredDocuments,
    assetChanges: AssetChanges,
  ) {
    const reference = new ReferencePrices(settings, tables)
    const moves = new BlockMoves(block.transactions, (token) => reference.isNative(token))
    const records = new BlockRecords(tables)
    this.#in = { block, settings, tables, records, reference, moves, changes, deferred }
    this.#assetChanges = assetChanges
    this.#facts = new FactFold(this.#in)
    this.#pairs = new PairFold(this.#in)
    this.#trades = new TradeFold(this.#in)
    this.#parties = new Parties(tables.holdings)
  }

  /** Publishes trades as they are folded, and everything else at the end of the block. */
  run(): void {
    const { block, settings, tables, records, reference, moves, changes, deferred } = this.#in
    deferred.begin(block)
    this.#facts.run()
    for (const transaction of block.transactions) {
      for (const log of transaction.logs) this.#foldLog(transaction, log)
    }
    for (const fact of block.facts) if (fact.type === 'poolState') this.#pairs.takeState(fact)
    const holders = new HolderFold(settings, tables, records, block, moves, this.#facts.met)
    const balances = holders.run()
    const settled = this.#pairs.settle()
    const after = new CountedWorth(new ReferencePrices(settings, tables, reference.routes), tables.prices)
    const updates = new TokenUpdates(settings, records, after, block)
    const switches = updates.run(settled, this.#assetChanges.all)
    const contracts = new RiskFold(tables, records, block).run(holders.touched)
    this.#keepForUndo(switches)

    for (const event of this.#liquidity) liquidityCodec.write(changes.next('liquidity'), event)
    const newMain = new Set(switches.map(({ newPair }) => newPair))
    const named = deferred.publish(block, records, this.#trades.traded, newMain, changes)
    this.#trades.foldWindows(after, named, this.#assetChanges.joinedOrLeft)
    for (const each of switches) switchCodec.write(changes.next('switch'), each)
    for (const balance of balances) writeBalance(changes.next('balance'), balance)
    for (const contract of contracts) reportCodec.write(changes.next('contract'), contract)
  }

  /** Records the block's events, which no later version replaces: an undo retracts them one by one. */
  #keepForUndo(switches: readonly MainPairSwitch[]): void {
    const [trades, liquidity] = [this.#trades.published, this.#liquidity.map(refOf)]
    if (trades.length === 0 && liquidity.length === 0 && switches.length === 0) return
    this.#in.tables.emitted.put(String(this.#in.block.number), { trades, liquidity, switches })
  }

  #foldLog(transaction: OpenedTransaction, log: RawLog): void {
    const { block, settings, tables, records } = this.#in
    const { registry } = settings
    const { number, time } = block
    const created = registry.announced(log, number)
    if (created !== undefined) {
      this.#foldCreation(created, this.#originOf(transaction, log))
      return
    }
    const launch = registry.tokenEventOf(log, number)
    if (launch !== undefined) {
      const name = registry.deploymentOf(log.address, number)?.amm ?? ''
      if (launch.type !== 'tokenLaunched') this.#emptyCurve(launch.token, name)
      foldTokenLaunch(launch, name, time, records)
      return
    }
    const id = registry.poolOf(log, number)
    const pool = id === undefined ? undefined : tables.pools.open(id)
    const exchange = pool?.exchangeIn(number, registry)
    const event = exchange === undefined ? undefined : registry.eventOf(exchange, log)
    if (pool === undefined || exchange === undefined || event === undefined) return
    const origin = this.#originOf(transaction, log)
    if (event.type === 'curveOpened') {
      this.#foldCreation(event, origin)
      return
    }
    if (event.type === 'swapped')
      this.#foldSwap(pool, this.#withParties(event, pool, exchange, origin, log), origin)
    // The reserves of a pool with more than two tokens belong to no single pair.
    else if (pool.pair !== undefined) this.#foldOther(pool, pool.pair, event, origin)
    this.#foldLaunch(pool, event)
  }

  #originOf(transaction: OpenedTransaction, log: RawLog): Origin {
    const { number, time } = this.#in.block
    return { key: { block: number, tx: transaction.index, log: log.index }, time, transaction }
  }

  #foldOther(pool: OpenedPool, pair: PairView, event: Exclude<PoolEvent, Swapped>, origin: Origin): void {
    const { prices } = this.#in.tables
    if (event.type === 'priceSet') prices.setReported(pool, event.price)
    this.#pairs.refresh(pool, pair, event)
    const liquidity = toLiquidity(pool, pair, event, origin, prices)
    if (liquidity !== undefined) this.#liquidity.push(liquidity)
  }

  #foldCreation(created: PoolCreated | CurveOpened, origin: Origin): void {
    const { block, tables, records } = this.#in
    const { pools, prices } = tables
    const pool = pools.open(created.pool)
    if (pool === undefined) return
    if ('price' in created && created.price !== undefined) prices.setReported(pool, created.price)
    const { pair } = pool
    if (pair === undefined) return
    records.editPair(pair)
    pair.createdAt = block.time
    setReserves(pair, [pair.token0.reserveRaw, pair.token1.reserveRaw])
    const liquidity = toLiquidity(pool, pair, created, origin, prices)
    if (liquidity !== undefined) this.#liquidity.push(liquidity)
    this.#foldLaunch(pool, created)
  }

  /** Updates the launch progress of a token if the pool is the bonding curve that sells it. */
  #foldLaunch(pool: OpenedPool, event: PoolEvent | PoolCreated): void {
    const { block, settings, records } = this.#in
    const exchange = pool.exchangeIn(block.number, settings.registry)
    if (exchange?.is.isLaunchPlatform === undefined || pool.pair === undefined) return
    const token = records.tokenIfKnown(pool.tokens[0] ?? '')
    if (token === undefined) return
    const curve = { name: exchange.amm, pool, pair: pool.pair }
    records.editToken(token)
    token.platform = platformAfter(token.platform, event, curve, block.time)
    token.updatedAt = block.time
  }

  #withParties(swap: Swapped, pool: Pool, { is }: Deployed, origin: Origin, log: RawLog): Swapped {
    if (is.payerOf === undefined || !this.#in.settings.hasParties) return swap
    return this.#parties.complete(swap, pool, is.payerOf(log), origin.transaction)
  }

  /** Empties a token's bonding curve, whose own events do not report it. */
  #emptyCurve(token: string, name: string): void {
    const { pools, curves } = this.#in.tables
    const pool = pools.open(curves.get(token) ?? '')
    if (pool?.pair?.amm !== name) return
    this.#pairs.refresh(pool, pool.pair, { type: 'curveClosed', pool: pool.address })
  }

  #foldSwap(pool: OpenedPool, swap: Swapped, origin: Origin): void {
    const { pairs, prices } = this.#in.tables
    const from = placeOf(pool, swap.token0)
    const to = placeOf(pool, swap.token1)
    if (from === undefined || to === undefined || from === to) return
    const isInOrder = from < to
    const lower = isInOrder ? from : to
    const higher = isInOrder ? to : from
    const exchange = isInOrder ? exchangeOf(swap.delta0, swap.delta1) : exchangeOf(swap.delta1, swap.delta0)
    const pair =
      pool.pair ??
      pairs.get(pairId(pool, lower, higher)) ??
      this.#facts.meetPair(pool, lower, higher, undefined)
    if (exchange !== undefined && pool.pricing.kind === 'trades')
      prices.setLastExchange(pair, { raw0: exchange.amount0, raw1: exchange.amount1 })
    if (swap.price !== undefined) prices.setReported(pool, swap.price)
    this.#pairs.refresh(pool, pair, swap)
    if (exchange !== undefined) this.#trades.take(pair, exchange, swap, origin)
  }
}

function refOf({ key, time, pair }: EventRef): EventRef {
  return { key, time, pair }
}
