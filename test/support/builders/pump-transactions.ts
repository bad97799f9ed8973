import { base58Of } from '../rigs/solana-ledger.ts'
import { BorshWriter } from './borsh-writer.ts'
import { type PoolAccount, SPL_TOKEN, SYSTEM, TOKEN_2022, WRAPPED_SOL } from './solana-accounts.ts'
import type { SolanaScript } from './solana-transaction.ts'

/** Synthetic transactions of Pump.fun and PumpSwap, by the published layouts of instructions, accounts and events. */

export const PUMP_FUN = '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P'
export const PUMP_SWAP = 'pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA'

const SUPPLY = 1_000_000_000_000_000n
const FOR_SALE = 793_100_000_000_000n
const VIRTUAL_TOKEN = 1_073_000_000_000_000n
const VIRTUAL_SOL = 30_000_000_000n
const MIGRATION_FEE = 15_000_001n
const BASIS_POINTS = 10_000n

const account = (name: string): string => base58Of(`pump ${name}`)
const FEE_RECIPIENT = account('fee recipient')
const NO_ONE = account('placeholder')

export type PumpLaunch = { readonly name: string; readonly symbol: string }

export function pumpMint({ symbol }: PumpLaunch): string {
  return account(`mint ${symbol}`)
}

export function pumpCurve(launch: PumpLaunch): string {
  return account(`curve of ${pumpMint(launch)}`)
}

export function pumpPool(launch: PumpLaunch): string {
  return account(`pool of ${pumpMint(launch)}`)
}

/** create_v2: a Token-2022 mint, all of it in the curve. */
export function createPump(script: SolanaScript, launch: PumpLaunch, time: number): void {
  const { accounts, payer } = script
  const [mint, curve] = [pumpMint(launch), pumpCurve(launch)]
  accounts.addMint({ address: mint, ...launch, decimals: 6, program: TOKEN_2022 })
  const vault = accounts.open(curve, mint)
  const goal = (VIRTUAL_TOKEN * VIRTUAL_SOL) / (VIRTUAL_TOKEN - FOR_SALE) - VIRTUAL_SOL
  accounts.setPool({
    ...{ address: curve, program: PUMP_FUN, tokens: [mint, WRAPPED_SOL], vaults: [vault, curve], goal },
    ...{ reserves: [FOR_SALE, 0n], virtual: [VIRTUAL_TOKEN, VIRTUAL_SOL] },
  })
  const uri = `https://pictures.example/${launch.symbol}.json`
  const data = new BorshWriter('d6904cec5f8b31b4').text(launch.name, launch.symbol, uri).key(payer)
  const named = [mint, account('mint authority'), curve, vault, account('global'), payer, SYSTEM, TOKEN_2022]
  script.call(PUMP_FUN, named, data.bool(false).bytes(), () => {
    script.transferLamports(payer, curve, 1_468_560n)
    script.initializeMint(mint)
    script.mintTo(vault, SUPPLY)
    const event = new BorshWriter('1b72a94ddeeb6376').text(launch.name, launch.symbol, uri)
    event.key(mint, curve, payer, payer).u64(BigInt(time), VIRTUAL_TOKEN, VIRTUAL_SOL, FOR_SALE, SUPPLY)
    event.key(TOKEN_2022).bool(false).bool(false).key(SYSTEM).u64(VIRTUAL_SOL)
    script.emit(event.bytes())
  })
  script.act({ type: 'created', pool: curve })
}

/** buy, for so many lamports without fees; the last purchase takes what is left and completes the curve. */
export function buyPump(script: SolanaScript, launch: PumpLaunch, lamports: bigint, time: number): void {
  const { accounts, payer: user } = script
  const curve = accounts.pool(pumpCurve(launch))
  const [virtualToken, virtualSol] = virtualOf(curve)
  const [left, raised] = curve.reserves
  const wanted = (virtualToken * lamports) / (virtualSol + lamports)
  const isLast = wanted >= left
  const tokens = isLast ? left : wanted
  const paid = isLast ? (virtualSol * left) / (virtualToken - left) + 1n : lamports
  accounts.setPool({
    ...{ ...curve, reserves: [left - tokens, raised + paid] },
    virtual: [virtualToken - tokens, virtualSol + paid],
  })
  const [mint] = curve.tokens
  const own = accounts.open(user, mint)
  const data = new BorshWriter('66063d1201daebea').u64(tokens, paid * 2n).bytes()
  script.call(PUMP_FUN, tradeAccounts(curve, own, user), data, () => {
    script.transfer(curve.vaults[0], own, tokens)
    script.transferLamports(user, curve.address, paid)
    script.transferLamports(user, FEE_RECIPIENT, (paid * 95n) / BASIS_POINTS)
    script.transferLamports(user, creatorVault(mint), (paid * 30n) / BASIS_POINTS)
    script.emit(tradeEvent(script, curve.address, { isBuy: true, tokens, lamports: paid, time }))
    if (!isLast) return
    const event = new BorshWriter('5f72619cd42e9808').key(user, mint, curve.address).u64(BigInt(time))
    script.emit(event.key(SYSTEM).bytes())
  })
  script.act({ type: 'swapped', pool: curve.address, user, amounts: [-tokens, paid] })
  if (isLast) close(script, curve.address)
}

/** sell: lamports leave the curve without any instruction. */
export function sellPump(script: SolanaScript, launch: PumpLaunch, tokens: bigint, time: number): void {
  const { accounts, payer: user } = script
  const curve = accounts.pool(pumpCurve(launch))
  const [virtualToken, virtualSol] = virtualOf(curve)
  const paid = (virtualSol * tokens) / (virtualToken + tokens)
  accounts.setPool({
    ...{ ...curve, reserves: [curve.reserves[0] + tokens, curve.reserves[1] - paid] },
    virtual: [virtualToken + tokens, virtualSol - paid],
  })
  const [mint] = curve.tokens
  const own = accounts.open(user, mint)
  const data = new BorshWriter('33e685a4017f83ad').u64(tokens, 0n).bytes()
  script.call(PUMP_FUN, tradeAccounts(curve, own, user), data, () => {
    script.transfer(own, curve.vaults[0], tokens)
    const fee = (paid * 95n) / BASIS_POINTS
    script.moveLamports(curve.address, user, paid - fee)
    script.moveLamports(curve.address, FEE_RECIPIENT, fee)
    script.emit(tradeEvent(script, curve.address, { isBuy: false, tokens, lamports: paid, time }))
  })
  script.act({ type: 'swapped', pool: curve.address, user, amounts: [tokens, -paid] })
}

/** migrate: what the curve raised and the tokens that were not for sale become a PumpSwap pool. */
export function migratePump(script: SolanaScript, launch: PumpLaunch, time: number): void {
  const { accounts, payer: user } = script
  const curve = accounts.pool(pumpCurve(launch))
  const [mint] = curve.tokens
  const authority = account(`pool authority of ${mint}`)
  const pool = pumpPool(launch)
  const ownBase = accounts.open(authority, mint)
  const ownQuote = accounts.open(authority, WRAPPED_SOL)
  const [base, quote] = [accounts.open(pool, mint), accounts.open(pool, WRAPPED_SOL)]
  const tokens = accounts.amount(curve.vaults[0])
  const lamports = curve.reserves[1] - MIGRATION_FEE
  const named = [
    ...[account('global'), account('withdraw authority'), mint, curve.address, curve.vaults[0], user, SYSTEM],
    ...[TOKEN_2022, PUMP_SWAP, pool, authority, ownBase, ownQuote, account('amm global'), WRAPPED_SOL],
    ...[account(`lp of ${mint}`), NO_ONE, base, quote],
  ]
  script.call(PUMP_FUN, named, new BorshWriter('9beae792ec9ea21e').bytes(), () => {
    script.transfer(curve.vaults[0], ownBase, tokens)
    script.moveLamports(curve.address, FEE_RECIPIENT, MIGRATION_FEE)
    script.wrap(curve.address, ownQuote, lamports)
    const inner = [
      ...[pool, account('amm global'), authority, mint, WRAPPED_SOL, account(`lp of ${mint}`), ownBase],
      ...[ownQuote, NO_ONE, base, quote, SYSTEM, TOKEN_2022],
    ]
    const data = new BorshWriter('e992d18ecf6840bc').u8(0, 0).u64(tokens, lamports).bytes()
    script.call(PUMP_SWAP, inner, data, () => {
      script.transfer(ownBase, base, tokens)
      script.transfer(ownQuote, quote, lamports)
      const event = new BorshWriter('b1310cd2a076a774').u64(BigInt(time)).u8(0, 0)
      event.key(authority, mint, WRAPPED_SOL).u8(6, 9).u64(tokens, lamports, tokens, lamports)
      script.emit(event.bytes())
    })
  })
  close(script, curve.address)
  accounts.setPool({
    ...{ address: pool, program: PUMP_SWAP, tokens: [mint, WRAPPED_SOL], vaults: [base, quote] },
    reserves: [tokens, lamports],
  })
  script.act({ type: 'created', pool })
  script.act({ type: 'supplied', pool, user: authority, amounts: [tokens, lamports] })
}

/** buy on PumpSwap: `quote` goes into the pool with the fee of its providers, further fees go elsewhere. */
export function buyPumpSwap(script: SolanaScript, launch: PumpLaunch, quote: bigint, time: number): void {
  const { accounts, payer: user } = script
  const pool = accounts.pool(pumpPool(launch))
  const [baseBefore, quoteBefore] = pool.reserves
  const lpFee = (quote * 20n) / BASIS_POINTS
  const protocolFee = (quote * 5n) / BASIS_POINTS
  const out = (baseBefore * (quote - lpFee)) / (quoteBefore + quote - lpFee)
  const own = [accounts.open(user, pool.tokens[0]), accounts.open(user, WRAPPED_SOL)] as const
  const fees = accounts.open(FEE_RECIPIENT, WRAPPED_SOL)
  const data = new BorshWriter('66063d1201daebea').u64(out, quote * 2n).bytes()
  script.call(PUMP_SWAP, swapAccounts(pool, own, fees, user), data, () => {
    script.transfer(pool.vaults[0], own[0], out)
    script.transfer(own[1], pool.vaults[1], quote)
    script.transfer(own[1], fees, protocolFee)
    const event = new BorshWriter('67f4521f2cf57777').u64(BigInt(time), out, quote * 2n, 0n, 0n)
    event.u64(baseBefore, quoteBefore, quote - lpFee, 20n, lpFee, 5n, protocolFee, quote, quote + protocolFee)
    event.key(pool.address, user, ...own, FEE_RECIPIENT, fees, NO_ONE).u64(0n, 0n)
    event.bool(false).u64(0n, 0n, 0n, 0n, 0n).text('buy').u64(0n, 0n, 0n, 0n).u128(0n)
    script.emit(event.bytes())
  })
  accounts.setPool({ ...pool, reserves: [baseBefore - out, quoteBefore + quote] })
  script.act({ type: 'swapped', pool: pool.address, user, amounts: [-out, quote] })
}

/** sell on PumpSwap: the protocol's fee leaves the vault beside the seller's share. */
export function sellPumpSwap(script: SolanaScript, launch: PumpLaunch, tokens: bigint, time: number): void {
  const { accounts, payer: user } = script
  const pool = accounts.pool(pumpPool(launch))
  const [baseBefore, quoteBefore] = pool.reserves
  const out = (quoteBefore * tokens) / (baseBefore + tokens)
  const lpFee = (out * 20n) / BASIS_POINTS
  const protocolFee = (out * 5n) / BASIS_POINTS
  const own = [accounts.open(user, pool.tokens[0]), accounts.open(user, WRAPPED_SOL)] as const
  const fees = accounts.open(FEE_RECIPIENT, WRAPPED_SOL)
  const left = out - lpFee
  const data = new BorshWriter('33e685a4017f83ad').u64(tokens, 0n).bytes()
  script.call(PUMP_SWAP, swapAccounts(pool, own, fees, user), data, () => {
    script.transfer(own[0], pool.vaults[0], tokens)
    script.transfer(pool.vaults[1], own[1], left - protocolFee)
    script.transfer(pool.vaults[1], fees, protocolFee)
    const event = new BorshWriter('3e2f370aa503dc2a').u64(BigInt(time), tokens, 0n, 0n, 0n)
    event.u64(baseBefore, quoteBefore, out, 20n, lpFee, 5n, protocolFee, left, left - protocolFee)
    event
      .key(pool.address, user, ...own, FEE_RECIPIENT, fees, NO_ONE)
      .u64(0n, 0n, 0n, 0n, 0n, 0n)
      .u128(0n)
    script.emit(event.bytes())
  })
  accounts.setPool({ ...pool, reserves: [baseBefore + tokens, quoteBefore - left] })
  script.act({ type: 'swapped', pool: pool.address, user, amounts: [tokens, -left] })
}

function close(script: SolanaScript, pool: string): void {
  script.accounts.setPool({ ...script.accounts.pool(pool), isClosed: true })
  script.act({ type: 'closed', pool })
}

function virtualOf({ virtual }: PoolAccount): readonly [bigint, bigint] {
  return virtual ?? [0n, 0n]
}

function creatorVault(mint: string): string {
  return account(`creator vault of ${mint}`)
}

function tradeAccounts({ tokens: [mint], address, vaults: [vault] }: PoolAccount, own: string, user: string) {
  return [
    ...[account('global'), FEE_RECIPIENT, mint, address, vault, own, user, SYSTEM, TOKEN_2022],
    ...[creatorVault(mint), account('event authority'), PUMP_FUN],
  ]
}

function swapAccounts(
  { address, tokens, vaults }: PoolAccount,
  own: readonly [string, string],
  fees: string,
  user: string,
): string[] {
  return [
    ...[address, user, account('amm global'), ...tokens, ...own, ...vaults, FEE_RECIPIENT, fees],
    ...[TOKEN_2022, SPL_TOKEN, SYSTEM],
  ]
}

function tradeEvent(
  { accounts, payer }: SolanaScript,
  address: string,
  trade: { isBuy: boolean; tokens: bigint; lamports: bigint; time: number },
): Buffer {
  const { tokens, reserves, virtual = [0n, 0n] } = accounts.pool(address)
  const time = BigInt(trade.time)
  const event = new BorshWriter('bddb7fd34ee661ee').key(tokens[0]).u64(trade.lamports, trade.tokens)
  event.bool(trade.isBuy).key(payer).u64(time, virtual[1], virtual[0], reserves[1], reserves[0])
  event.key(FEE_RECIPIENT).u64(95n, (trade.lamports * 95n) / BASIS_POINTS)
  event.key(NO_ONE).u64(30n, (trade.lamports * 30n) / BASIS_POINTS)
  event
    .bool(false)
    .u64(0n, 0n, 0n, time)
    .text(trade.isBuy ? 'buy' : 'sell')
  event.bool(false).u64(0n, 0n, 0n, 0n).u8(0, 0, 0, 0)
  return event.key(SYSTEM).u64(trade.lamports, virtual[1], reserves[1]).bytes()
}
