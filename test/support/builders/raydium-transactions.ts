import { base58 } from '@scure/base'
import { base58Of } from '../rigs/solana-ledger.ts'
import { BorshWriter } from './borsh-writer.ts'
import { type PoolAccount, SPL_TOKEN, SYSTEM, WRAPPED_SOL } from './solana-accounts.ts'
import type { SolanaScript } from './solana-transaction.ts'

/** Synthetic transactions of Raydium CPMM and LaunchLab, by the published layouts. */

export const RAYDIUM_CPMM = 'CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C'
export const RAYDIUM_LAUNCHLAB = 'LanMV9sAd7wArD4vJFi2qDdfnVhFxYSUg6eADduJ3uj'

const BASIS_POINTS = 10_000n
const PLATFORM_FEE = 75n
const PROTOCOL_FEE = 25n
const SUPPLY = 1_000_000_000_000_000n
const FOR_SALE = 793_100_000_000_000n
const VIRTUAL_BASE = 1_073_025_605_596_382n
const VIRTUAL_QUOTE = 30_000_852_951n

const account = (name: string): string => base58Of(`raydium ${name}`)
const CONFIG = account('config')
/** The platform of all curves. */
export const LAB_PLATFORM = account('platform')
const AUTHORITY = account('authority')

/** The program sorts a pool's tokens by the bytes of their mints. */
export function sortedMints(one: string, other: string): [string, string] {
  const isFirst = Buffer.compare(base58.decode(one), base58.decode(other)) < 0
  return isFirst ? [one, other] : [other, one]
}

export function cpmmPool(one: string, other: string): string {
  return account(`pool of ${sortedMints(one, other)}`)
}

/** initialize: the first deposit, by amounts in the order of the arguments. It emits no event. */
export function createCpmm(
  script: SolanaScript,
  one: { readonly mint: string; readonly amount: bigint },
  other: { readonly mint: string; readonly amount: bigint },
): void {
  const { accounts, payer } = script
  const tokens = sortedMints(one.mint, other.mint)
  const [amount0, amount1] = tokens[0] === one.mint ? [one.amount, other.amount] : [other.amount, one.amount]
  const pool = cpmmPool(...tokens)
  const own = [accounts.open(payer, tokens[0]), accounts.open(payer, tokens[1])] as const
  const vaults = [accounts.open(pool, tokens[0]), accounts.open(pool, tokens[1])] as const
  const lp = account(`lp of ${pool}`)
  const named = [
    ...[payer, CONFIG, AUTHORITY, pool, ...tokens, lp, ...own, account(`lp account of ${payer}`), ...vaults],
    ...[account('create fee'), account(`observation of ${pool}`), SPL_TOKEN, SPL_TOKEN, SPL_TOKEN, SYSTEM],
  ]
  const data = new BorshWriter('afaf6d1f0d989bed').u64(amount0, amount1, 0n).bytes()
  script.call(RAYDIUM_CPMM, named, data, () => {
    script.transfer(own[0], vaults[0], amount0)
    script.transfer(own[1], vaults[1], amount1)
  })
  accounts.setPool({ address: pool, program: RAYDIUM_CPMM, tokens, vaults, reserves: [amount0, amount1] })
  script.act({ type: 'created', pool })
  script.act({ type: 'supplied', pool, user: payer, amounts: [amount0, amount1] })
}

/** deposit: one part in so many of what the pool holds. */
export function depositCpmm(script: SolanaScript, pool: string, part: bigint): void {
  const { accounts, payer: user } = script
  const { tokens, vaults, reserves } = accounts.pool(pool)
  const amounts: [bigint, bigint] = [reserves[0] / part, reserves[1] / part]
  const own = [accounts.open(user, tokens[0]), accounts.open(user, tokens[1])] as const
  const named = [
    ...[user, AUTHORITY, pool, account(`lp account of ${user}`), ...own, ...vaults, SPL_TOKEN, SPL_TOKEN],
    ...[...tokens, account(`lp of ${pool}`)],
  ]
  script.call(RAYDIUM_CPMM, named, new BorshWriter('f223c68952e1f2b6').u64(1n, ...amounts).bytes(), () => {
    script.transfer(own[0], vaults[0], amounts[0])
    script.transfer(own[1], vaults[1], amounts[1])
  })
  move(script, pool, amounts)
  script.act({ type: 'supplied', pool, user, amounts })
}

/** swap_base_input. Its event is only in the log. */
export function swapCpmm(script: SolanaScript, pool: string, sold: string, amount: bigint): void {
  const { accounts, payer: user } = script
  const { tokens, vaults, reserves } = accounts.pool(pool)
  const is0 = tokens[0] === sold
  const [input, output] = is0 ? [0, 1] : [1, 0]
  const [inputBefore, outputBefore] = [reserves[input] as bigint, reserves[output] as bigint]
  const fee = (amount * 25n) / BASIS_POINTS
  const out = (outputBefore * (amount - fee)) / (inputBefore + amount - fee)
  const [inputMint, outputMint] = [tokens[input] as string, tokens[output] as string]
  const [inputVault, outputVault] = [vaults[input] as string, vaults[output] as string]
  const own = [accounts.open(user, inputMint), accounts.open(user, outputMint)] as const
  const named = [
    ...[user, AUTHORITY, CONFIG, pool, ...own, inputVault, outputVault, SPL_TOKEN, SPL_TOKEN],
    ...[inputMint, outputMint, account(`observation of ${pool}`)],
  ]
  const data = new BorshWriter('8fbe5adac41e33de').u64(amount, 0n).bytes()
  script.call(RAYDIUM_CPMM, named, data, () => {
    const event = new BorshWriter('40c6cde8260871e2').key(pool)
    event.u64(inputBefore, outputBefore, amount, out, 0n, 0n).bool(true)
    script.log(event.key(inputMint, outputMint).u64(fee, 0n).bool(true).bytes())
    script.transfer(own[0], inputVault, amount)
    script.transfer(outputVault, own[1], out)
  })
  const amounts: [bigint, bigint] = is0 ? [amount, -out] : [-out, amount]
  move(script, pool, amounts)
  script.act({ type: 'swapped', pool, user, amounts })
}

export type LabLaunch = { readonly name: string; readonly symbol: string }

export function labMint({ symbol }: LabLaunch): string {
  return account(`mint ${symbol}`)
}

export function labCurve(launch: LabLaunch): string {
  return account(`curve of ${labMint(launch)}`)
}

/** initialize_v2 of a constant product curve that has to raise `goal` lamports. */
export function createLab(script: SolanaScript, launch: LabLaunch, goal: bigint): void {
  const { accounts, payer } = script
  const [mint, pool] = [labMint(launch), labCurve(launch)]
  accounts.addMint({ address: mint, ...launch, decimals: 6, program: SPL_TOKEN })
  const vaults = [accounts.open(pool, mint), accounts.open(pool, WRAPPED_SOL)] as const
  accounts.setPool({
    ...{ address: pool, program: RAYDIUM_LAUNCHLAB, tokens: [mint, WRAPPED_SOL], vaults, goal },
    ...{ reserves: [FOR_SALE, 0n], virtual: [VIRTUAL_BASE, VIRTUAL_QUOTE] },
  })
  const uri = `https://pictures.example/${launch.symbol}.json`
  const described = (writer: BorshWriter): BorshWriter =>
    writer
      .u8(6)
      .text(launch.name, launch.symbol, uri)
      .u8(0)
      .u64(SUPPLY, FOR_SALE, goal)
      .u8(1)
      .u64(0n, 0n, 0n)
      .u8(0)
  const named = [
    ...[payer, payer, CONFIG, LAB_PLATFORM, AUTHORITY, pool, mint, WRAPPED_SOL, ...vaults],
    ...[account(`metadata of ${mint}`), SPL_TOKEN, SPL_TOKEN, SYSTEM],
  ]
  script.call(RAYDIUM_LAUNCHLAB, named, described(new BorshWriter('4399af27da102620')).bytes(), () => {
    script.initializeMint(mint)
    script.mintTo(vaults[0], SUPPLY)
    script.emit(described(new BorshWriter('97d7e20976a173ae').key(pool, payer, CONFIG)).bytes())
  })
  script.act({ type: 'created', pool })
}

/** buy_exact_in: the protocol's fee stays in the vault, that of the platform leaves it again. */
export function buyLab(script: SolanaScript, launch: LabLaunch, quote: bigint): void {
  const { accounts, payer: user } = script
  const curve = accounts.pool(labCurve(launch))
  const fees = feesOf(quote)
  const [virtualBase, virtualQuote] = virtualOf(curve)
  const net = quote - fees.platform - fees.protocol
  const out = (virtualBase * net) / (virtualQuote + net)
  trade(script, curve, 'faea0d7bd59c13ec', { direction: 0, input: quote, output: out, fees }, () => {
    script.transfer(accounts.open(user, WRAPPED_SOL), curve.vaults[1], quote)
    script.transfer(curve.vaults[1], accounts.open(LAB_PLATFORM, WRAPPED_SOL), fees.platform)
    script.transfer(curve.vaults[0], accounts.open(user, curve.tokens[0]), out)
    return { reserves: [-out, net], amounts: [-out, quote - fees.platform] }
  })
}

/** sell_exact_in. */
export function sellLab(script: SolanaScript, launch: LabLaunch, tokens: bigint): void {
  const { accounts, payer: user } = script
  const curve = accounts.pool(labCurve(launch))
  const [virtualBase, virtualQuote] = virtualOf(curve)
  const paid = (virtualQuote * tokens) / (virtualBase + tokens)
  const fees = feesOf(paid)
  const output = paid - fees.platform - fees.protocol
  trade(script, curve, '9527de9bd37c981a', { direction: 1, input: tokens, output, fees }, () => {
    script.transfer(accounts.open(user, curve.tokens[0]), curve.vaults[0], tokens)
    script.transfer(curve.vaults[1], accounts.open(user, WRAPPED_SOL), output)
    script.transfer(curve.vaults[1], accounts.open(LAB_PLATFORM, WRAPPED_SOL), fees.platform)
    return { reserves: [tokens, -paid], amounts: [tokens, -output - fees.platform] }
  })
}

type Fees = { readonly platform: bigint; readonly protocol: bigint }
type LabTrade = {
  readonly direction: 0 | 1
  readonly input: bigint
  readonly output: bigint
  readonly fees: Fees
}
type Moved = { readonly reserves: readonly [bigint, bigint]; readonly amounts: readonly [bigint, bigint] }

function trade(
  script: SolanaScript,
  curve: PoolAccount,
  discriminator: string,
  { direction, input, output, fees }: LabTrade,
  transfers: () => Moved,
): void {
  const { accounts, payer: user } = script
  const { address: pool, tokens, vaults, goal = 0n } = curve
  const own = [accounts.open(user, tokens[0]), accounts.open(user, WRAPPED_SOL)]
  const named = [
    ...[user, AUTHORITY, CONFIG, LAB_PLATFORM, pool, ...own, ...vaults, ...tokens, SPL_TOKEN],
    ...[SPL_TOKEN, account('event authority'), RAYDIUM_LAUNCHLAB, SYSTEM],
  ]
  let moved: Moved | undefined
  script.call(RAYDIUM_LAUNCHLAB, named, new BorshWriter(discriminator).u64(input, 0n, 0n).bytes(), () => {
    moved = transfers()
    move(script, pool, moved.reserves)
    const after = accounts.pool(pool).reserves
    const event = new BorshWriter('bddb7fd34ee661ee').key(pool).u64(FOR_SALE, VIRTUAL_BASE, VIRTUAL_QUOTE)
    event.u64(FOR_SALE - curve.reserves[0], curve.reserves[1], FOR_SALE - after[0], after[1])
    event.u64(input, output, fees.protocol, fees.platform, 0n, 0n)
    script.emit(event.u8(direction, after[1] >= goal ? 1 : 0, 1).bytes())
  })
  if (moved !== undefined) script.act({ type: 'swapped', pool, user, amounts: moved.amounts })
}

function feesOf(amount: bigint): Fees {
  return {
    platform: (amount * PLATFORM_FEE) / BASIS_POINTS,
    protocol: (amount * PROTOCOL_FEE) / BASIS_POINTS,
  }
}

/** Virtual reserves of a curve; the program keeps those of its creation. */
function virtualOf({ virtual: [base, quote] = [0n, 0n] }: PoolAccount): readonly [bigint, bigint] {
  return [base, quote]
}

function move({ accounts }: SolanaScript, address: string, [gain0, gain1]: readonly [bigint, bigint]): void {
  const pool = accounts.pool(address)
  const virtual = pool.virtual && ([pool.virtual[0] + gain0, pool.virtual[1] + gain1] as const)
  accounts.setPool({
    ...{ ...pool, reserves: [pool.reserves[0] + gain0, pool.reserves[1] + gain1] },
    ...(virtual && { virtual }),
  })
}
