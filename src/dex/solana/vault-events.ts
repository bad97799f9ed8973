import type { RawLog } from '../../domain/envelope.ts'
import type { LiquidityAdded, LiquidityRemoved, PoolCreated, PoolPrice, Swapped } from '../events.ts'
import type { EventReaders } from '../protocol.ts'
import { InstructionRecord } from './instruction-record.ts'
import { ratioPrice } from './pool-price.ts'

/** Common to pools that keep their tokens in two vaults: amounts are what the vaults received and paid. */

/** Places of a pool's accounts in an instruction. */
export type PoolAccounts = {
  readonly pool: number
  /** In the order of the pool's tokens, or in any order if `isSorted`. */
  readonly vaults: readonly [number, number]
  readonly user?: number
  /** The vaults come as input and output; the program orders a pool's tokens by their mints. */
  readonly isSorted?: true
}

/** A pool in an instruction, with its vaults in the order of its tokens. Key indexes of the record. */
export type VaultPool = {
  readonly record: InstructionRecord
  readonly pool: string
  readonly vaults: readonly [number, number]
  readonly user: string | undefined
}

/** What a swap did, for the parts that differ between programs. */
export type VaultSwap = VaultPool & { readonly delta0: bigint; readonly delta1: bigint }

export type SwapDetails = {
  readonly price?: PoolPrice | undefined
  readonly reserves?: readonly [bigint, bigint] | undefined
  /** What a bonding curve has to raise. */
  readonly goalRaw?: bigint | undefined
}

export function vaultPool(log: RawLog, accounts: PoolAccounts): VaultPool | undefined {
  const record = InstructionRecord.read(log.data)
  return record === undefined ? undefined : vaultPoolIn(record, accounts)
}

export function vaultPoolIn(
  record: InstructionRecord,
  { pool, vaults, user, isSorted }: PoolAccounts,
): VaultPool | undefined {
  const address = record.address(pool)
  const first = record.account(vaults[0])
  const second = record.account(vaults[1])
  if (address === undefined || first === undefined || second === undefined || first === second)
    return undefined
  const trader = user === undefined ? undefined : record.address(user)
  const common = { record, pool: address, user: trader }
  if (!isSorted) return { ...common, vaults: [first, second] }
  const mints = mintsOf(record, first, second)
  if (mints === undefined) return undefined
  const isInOrder = record.compare(mints[0], mints[1]) < 0
  return { ...common, vaults: isInOrder ? [first, second] : [second, first] }
}

/** Key indexes of the mints of two vaults. */
export function mintsOf(
  record: InstructionRecord,
  first: number,
  second: number,
): readonly [number, number] | undefined {
  const mint0 = record.mintOf(first)
  const mint1 = record.mintOf(second)
  return mint0 === undefined || mint1 === undefined || mint0 === mint1 ? undefined : [mint0, mint1]
}

/** Places of a pool's accounts by topic. */
export type PoolPlaces = Readonly<Record<string, PoolAccounts>>

/** A reader of liquidity for each instruction of the table. */
export function liquidityReaders(table: PoolPlaces): EventReaders<LiquidityAdded | LiquidityRemoved> {
  return readersOf(table, readVaultLiquidity)
}

/** A reader of swaps for each instruction of the table. */
export function swapReaders(
  table: PoolPlaces,
  detailsOf: (swap: VaultSwap) => SwapDetails | undefined,
): EventReaders<Swapped> {
  return readersOf(table, (log, accounts) => readVaultSwap(log, accounts, detailsOf))
}

/** A reader for each instruction of a table, with the places of its accounts. */
export function readersOf<Places, Event>(
  table: Readonly<Record<string, Places>>,
  read: (log: RawLog, places: Places) => Event | undefined,
): EventReaders<Event> {
  return Object.fromEntries(
    Object.entries(table).map(([topic, places]) => [topic, (log: RawLog) => read(log, places)]),
  )
}

/** Undefined unless one vault received and the other paid. */
export function readVaultSwap(
  log: RawLog,
  accounts: PoolAccounts,
  detailsOf: (swap: VaultSwap) => SwapDetails | undefined,
): Swapped | undefined {
  const found = vaultPool(log, accounts)
  if (found === undefined) return undefined
  const { record, pool, vaults, user } = found
  const delta0 = record.inflow(vaults[0])
  const delta1 = record.inflow(vaults[1])
  const isExchange = delta0 > 0n ? delta1 < 0n : delta0 < 0n && delta1 > 0n
  if (!isExchange) return undefined
  const details = detailsOf({ ...found, delta0, delta1 })
  if (details === undefined) return undefined
  const { price, reserves, goalRaw } = details
  return {
    type: 'swapped',
    pool,
    sender: undefined,
    recipient: user,
    token0: 0,
    token1: 1,
    delta0,
    delta1,
    price,
    ...(reserves !== undefined && { reserves }),
    ...(goalRaw !== undefined && goalRaw > 0n && { goalRaw }),
  }
}

/** Vault balances at the end of the transaction. */
export function balancesAfter({ record, vaults }: VaultPool): readonly [bigint, bigint] | undefined {
  const balance0 = record.balanceOf(vaults[0])
  const balance1 = record.balanceOf(vaults[1])
  return balance0 === undefined || balance1 === undefined ? undefined : [balance0.after, balance1.after]
}

/** Reserves before a swap, as its event reports them, and the swap itself. */
export function reservesAfter(
  { delta0, delta1 }: VaultSwap,
  before0: bigint,
  before1: bigint,
): readonly [bigint, bigint] | undefined {
  const after0 = before0 + delta0
  const after1 = before1 + delta1
  return after0 < 0n || after1 < 0n ? undefined : [after0, after1]
}

/** Liquidity that entered or left both vaults. Undefined if nothing moved, or tokens moved in both directions. */
export function readVaultLiquidity(
  log: RawLog,
  accounts: PoolAccounts,
): LiquidityAdded | LiquidityRemoved | undefined {
  const found = vaultPool(log, accounts)
  if (found === undefined) return undefined
  const { record, vaults } = found
  return liquidityOf(found, record.inflow(vaults[0]), record.inflow(vaults[1]), balancesAfter(found))
}

export function liquidityOf(
  { pool, user }: { readonly pool: string; readonly user: string | undefined },
  delta0: bigint,
  delta1: bigint,
  reserves: readonly [bigint, bigint] | undefined,
): LiquidityAdded | LiquidityRemoved | undefined {
  if (delta0 === 0n && delta1 === 0n) return undefined
  const isAdded = delta0 >= 0n && delta1 >= 0n
  if (!isAdded && (delta0 > 0n || delta1 > 0n)) return undefined
  const amounts = [
    { token: 0, amount: isAdded ? delta0 : -delta0 },
    { token: 1, amount: isAdded ? delta1 : -delta1 },
  ]
  const after = reserves === undefined ? {} : { reserves }
  return isAdded
    ? { type: 'liquidityAdded', pool, provider: user, amounts, ...after }
    : { type: 'liquidityRemoved', pool, provider: user, amounts, isPaidOut: true, ...after }
}

/** Places of a new pool and its mints. */
export type CreationAccounts = {
  readonly pool: number
  readonly mints: readonly [number, number]
  readonly vaults: readonly [number, number]
  readonly user?: number
}

/** A new pool whose price follows from its first deposit. */
export function readCreation(log: RawLog, accounts: CreationAccounts): PoolCreated | undefined {
  const record = InstructionRecord.read(log.data)
  return record === undefined ? undefined : creationIn(record, accounts, depositPrice(record, accounts))
}

export function creationIn(
  record: InstructionRecord,
  { pool, mints }: Pick<CreationAccounts, 'pool' | 'mints'>,
  price: PoolPrice | undefined,
): PoolCreated | undefined {
  const address = record.address(pool)
  const mint0 = record.address(mints[0])
  const mint1 = record.address(mints[1])
  if (address === undefined || mint0 === undefined || mint1 === undefined || mint0 === mint1) return undefined
  return createdPool(address, [mint0, mint1], price)
}

export function createdPool(
  pool: string,
  tokens: readonly [string, string],
  price: PoolPrice | undefined,
): PoolCreated {
  const created = { type: 'poolCreated', pool, tokens, pricing: { kind: 'sqrtPrice' } } as const
  return price === undefined ? created : { ...created, price }
}

function depositPrice(record: InstructionRecord, { vaults }: CreationAccounts): PoolPrice | undefined {
  const vault0 = record.account(vaults[0])
  const vault1 = record.account(vaults[1])
  if (vault0 === undefined || vault1 === undefined) return undefined
  return ratioPrice(record.inflow(vault0), record.inflow(vault1))
}
