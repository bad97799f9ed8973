import { WSOL } from '../../../dex/solana/known-keys.ts'
import { type TradeTrial, type TrialStep, taxPpm, type UntriedReason } from '../../../domain/inspection.ts'
import type { Mint } from '../facts/mint-account.ts'
import { EXTENSION } from '../facts/mint-extensions.ts'
import type { SolanaNode } from '../rpc.ts'
import { invalid, type NodeAccount } from '../rpc-answer.ts'
import { type CpmmPool, cpmmSwap, type PoolSide } from './cpmm-pool.ts'
import type { Simulation, SimulationFailure } from './simulation.ts'
import { readTokenAccount } from './token-account.ts'
import {
  associatedAccount,
  createAssociated,
  freshWallet,
  type MintRef,
  transferChecked,
  wrapLamports,
} from './token-instructions.ts'
import { type Instruction, unsignedTransaction } from './unsigned-transaction.ts'

export type TradeRequest = {
  readonly mint: Mint & MintRef
  readonly pool: CpmmPool
  /** The wallet whose SOL is spent: a simulation needs no signature, and cannot create SOL. */
  readonly payer: { readonly owner: string; readonly lamports: bigint }
  readonly seed: string
  readonly minSlot: number | undefined
}

/** A purchase spends this part of the pool's SOL, like a simulated trade on EVM. */
const SPENT_PART = 1_000n
const MIN_SPENT_LAMPORTS = 1_000n
/** Rent of three token accounts with several extensions, and the fee. */
const COSTS_LAMPORTS = 10_000_000n

/** The sides of the pool, and the accounts of a buyer and of another wallet. */
type Market = {
  readonly request: TradeRequest
  readonly token: PoolSide
  readonly quote: PoolSide
  readonly buyer: string
  readonly tokens: string
  readonly lamports: string
  readonly friendTokens: string
  /** Opens the accounts and puts SOL into one of them. */
  readonly opening: readonly Instruction[]
  readonly buy: Instruction
}

/**
 * Simulates a purchase with SOL, a transfer to another wallet and a sale by a wallet that nobody has used, in one
 * transaction that never runs.
 */
export async function simulateTrade(
  node: SolanaNode,
  request: TradeRequest,
): Promise<TradeTrial | UntriedReason> {
  const { pool, mint, payer, minSlot } = request
  const token = pool.sides.find((side) => side.mint === mint.address)
  const quote = pool.sides.find((side) => side.mint === WSOL)
  if (token === undefined || quote === undefined || token === quote) return 'no_pair'
  const [vault] = await node.accounts([quote.vault], minSlot)
  const reserveRaw = vault === undefined ? 0n : (readTokenAccount(vault)?.amountRaw ?? 0n)
  const spentRaw = reserveRaw / SPENT_PART
  if (spentRaw < MIN_SPENT_LAMPORTS) return 'no_liquidity'
  if (payer.lamports < spentRaw + COSTS_LAMPORTS) return 'no_funds'
  const market = marketOf(request, token, quote, spentRaw)
  const before = await run(node, market, [])
  const bought = before?.failure === undefined ? await run(node, market, [market.buy]) : undefined
  if (before === undefined || bought === undefined) return 'refused'
  const tried = { pair: pool.address, method: 'simulate', transfer: undefined, sell: undefined } as const
  if (bought.failure !== undefined) {
    if (bought.failure.instruction !== market.opening.length) return 'refused'
    return { ...tried, buy: failed(bought.failure) }
  }
  const receivedRaw = amountIn(bought, 0)
  const givenRaw = amountIn(before, 2) - amountIn(bought, 2)
  const isSame = before.slot === bought.slot
  const buy = step(receivedRaw > 1n, taxOf(mint, isSame, givenRaw, receivedRaw))
  return buy.works ? { ...tried, buy, ...(await spend(node, market, bought)) } : { ...tried, buy }
}

/** The transfer and the sale. If the transfer fails, the sale is simulated without it. */
async function spend(
  node: SolanaNode,
  market: Market,
  bought: Simulation,
): Promise<Pick<TradeTrial, 'transfer' | 'sell'>> {
  const { request, buyer, tokens, friendTokens, buy, opening } = market
  const { mint } = request
  const receivedRaw = amountIn(bought, 0)
  const movedRaw = receivedRaw / 2n
  const soldRaw = (receivedRaw - movedRaw + 1n) / 2n
  const move = transferChecked(mint, { account: tokens, owner: buyer }, friendTokens, movedRaw)
  const sale = saleOf(market, soldRaw)
  const place = opening.length + 1
  const all = await run(node, market, [buy, move, sale])
  if (all?.failure === undefined) {
    if (all === undefined) return { transfer: undefined, sell: undefined }
    expectMoved(all, bought, request, movedRaw, soldRaw)
    const transfer = step(true, taxPpm(movedRaw, amountIn(all, 1)))
    return { transfer, sell: sold(all, bought, mint, soldRaw) }
  }
  if (all.failure.instruction === place + 1)
    return { transfer: step(true, undefined), sell: failed(all.failure) }
  if (all.failure.instruction !== place) return { transfer: undefined, sell: undefined }
  const transfer = failed(all.failure)
  const alone = await run(node, market, [buy, sale])
  if (alone?.failure === undefined)
    return { transfer, sell: alone === undefined ? undefined : sold(alone, bought, mint, soldRaw) }
  return { transfer, sell: alone.failure.instruction === place ? failed(alone.failure) : undefined }
}

function marketOf(request: TradeRequest, token: PoolSide, quote: PoolSide, spentRaw: bigint): Market {
  const { mint, pool, payer, seed } = request
  const [buyer, friend] = [
    freshWallet(seed, mint.address, 'buyer'),
    freshWallet(seed, mint.address, 'friend'),
  ]
  const coin = { address: quote.mint, program: quote.program }
  const [tokens, lamports] = [associatedAccount(buyer, mint), associatedAccount(buyer, coin)]
  const opening = [
    createAssociated(payer.owner, buyer, coin),
    createAssociated(payer.owner, buyer, mint),
    createAssociated(payer.owner, friend, mint),
    ...wrapLamports(payer.owner, lamports, spentRaw),
  ]
  const trade = { user: buyer, from: quote, fromAccount: lamports, to: token, toAccount: tokens }
  const buy = cpmmSwap(pool, { ...trade, amountRaw: spentRaw })
  const friendTokens = associatedAccount(friend, mint)
  return { request, token, quote, buyer, tokens, lamports, friendTokens, opening, buy }
}

function saleOf({ request, token, quote, buyer, tokens, lamports }: Market, amountRaw: bigint): Instruction {
  const trade = { user: buyer, from: token, fromAccount: tokens, to: quote, toAccount: lamports }
  return cpmmSwap(request.pool, { ...trade, amountRaw })
}

/** Returns the tokens of buyer and friend, those of the pool, and the buyer's SOL. */
async function run(
  node: SolanaNode,
  { request, token, tokens, friendTokens, lamports, opening }: Market,
  steps: readonly Instruction[],
): Promise<Simulation | undefined> {
  const transaction = unsignedTransaction(request.payer.owner, [...opening, ...steps])
  const accounts = [tokens, friendTokens, token.vault, lamports]
  return transaction === undefined ? undefined : node.simulate(transaction, accounts, request.minSlot)
}

function amountIn({ accounts }: Simulation, place: number): bigint {
  const account: NodeAccount | undefined = accounts[place]
  const token = account === undefined ? undefined : readTokenAccount(account)
  if (token === undefined) throw invalid('simulateTransaction: no token account')
  return token.amountRaw
}

function sold(after: Simulation, bought: Simulation, mint: Mint, soldRaw: bigint): TrialStep {
  const isSame = after.slot === bought.slot
  const arrivedRaw = amountIn(after, 2) - amountIn(bought, 2)
  return step(amountIn(after, 3) > 0n, taxOf(mint, isSame, soldRaw, arrivedRaw))
}

/** Only a transfer fee makes less arrive than was sent. The pool's own balance is comparable within one slot. */
function taxOf(mint: Mint, isSame: boolean, sentRaw: bigint, arrivedRaw: bigint): number | undefined {
  if (!mint.extensions.has(EXTENSION.transferFee)) return 0
  return isSame ? taxPpm(sentRaw, arrivedRaw) : undefined
}

/** What is left and what arrived follows from what was sent, unless the node makes it up. */
function expectMoved(
  all: Simulation,
  bought: Simulation,
  { mint }: TradeRequest,
  movedRaw: bigint,
  soldRaw: bigint,
): void {
  const isTaxed = mint.extensions.has(EXTENSION.transferFee)
  const arrivedRaw = amountIn(all, 1)
  const isMoved = isTaxed ? arrivedRaw <= movedRaw : arrivedRaw === movedRaw
  // In another slot, the same SOL buys another amount.
  const isLeft = all.slot !== bought.slot || amountIn(all, 0) === amountIn(bought, 0) - movedRaw - soldRaw
  if (!isMoved || !isLeft) throw invalid('simulateTransaction: another amount than was sent')
}

/** Compute units are no gas: nobody pays for them one by one. */
function step(works: boolean, tax: number | undefined): TrialStep {
  return { works, taxPpm: tax, gas: undefined, reason: works ? undefined : 'nothing arrived' }
}

function failed({ reason }: SimulationFailure): TrialStep {
  return { works: false, taxPpm: undefined, gas: undefined, reason }
}
