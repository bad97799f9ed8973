import type { HolderTransfers, TransferFee } from '../../../domain/inspection.ts'
import type { Mint } from '../facts/mint-account.ts'
import { EXTENSION } from '../facts/mint-extensions.ts'
import type { SolanaNode } from '../rpc.ts'
import { invalid } from '../rpc-answer.ts'
import { type Holder, richest } from './holders.ts'
import type { Simulation } from './simulation.ts'
import { readTokenAccount } from './token-account.ts'
import {
  associatedAccount,
  createAssociated,
  freshWallet,
  type MintRef,
  transferChecked,
} from './token-instructions.ts'
import { type AccountUse, unsignedTransaction } from './unsigned-transaction.ts'

export type TransferRequest = {
  readonly mint: Mint & MintRef
  /** The fee in effect; undefined if the mint has none, or it is unknown. */
  readonly fee: TransferFee | undefined
  readonly holders: readonly Holder[]
  /** Makes the recipient's address unpredictable. */
  readonly seed: string
  readonly minSlot: number | undefined
  /** Accounts that the mint's transfer hook needs. */
  readonly hook: readonly AccountUse[]
}

/** Holders of one transaction. More of them, with their signatures, may not fit. */
const MAX_HOLDERS = 4
/** The fee and the rent of a token account with several extensions, several times. */
const MIN_PAYER_LAMPORTS = 10_000_000n
const INSUFFICIENT_FUNDS = 1
const ALL_POINTS_PPM = 1_000_000n

/**
 * Simulates transfers by wallets that hold the token to a new account, as a sale begins with one. The smallest of the
 * largest holders are asked, because the largest are often insiders. Undefined if it cannot be simulated.
 */
export async function simulateTransfers(
  node: SolanaNode,
  request: TransferRequest,
): Promise<HolderTransfers | undefined> {
  const { mint, seed } = request
  const authorities = [mint.mintAuthority, mint.freezeAuthority]
  const outsiders = request.holders.filter(({ owner }) => !authorities.includes(owner))
  const payer = richest(request.holders)
  if (payer === undefined || payer.lamports < MIN_PAYER_LAMPORTS) return undefined
  const friend = freshWallet(seed, mint.address, 'recipient')
  const left = outsiders.slice(-MAX_HOLDERS)
  let failed = 0
  let failure: HolderTransfers['failure']
  while (left.length > 0) {
    const result = await transferAll(node, request, { payer: payer.owner, friend, holders: left })
    if (result === undefined) return undefined
    if (result.failure === undefined) {
      expectPlausible(result, request, left)
      break
    }
    // The first instruction creates the recipient's account.
    const place = (result.failure.instruction ?? 0) - 1
    const holder = left[place]
    if (holder === undefined) return undefined
    left.splice(place, 1)
    // The holder has moved the tokens in the meantime.
    if (result.failure.code === INSUFFICIENT_FUNDS) continue
    if (!canFail(mint, holder))
      throw invalid('simulateTransaction: a transfer fails without a cause in its accounts')
    failed++
    failure ??= { account: holder.account, reason: result.failure.reason }
  }
  const tried = failed + left.length
  return tried === 0 ? undefined : { tried, failed, failure }
}

type Parties = { readonly payer: string; readonly friend: string; readonly holders: readonly Holder[] }

async function transferAll(
  node: SolanaNode,
  { mint, hook, minSlot }: TransferRequest,
  { payer, friend, holders }: Parties,
): Promise<Simulation | undefined> {
  const to = associatedAccount(friend, mint)
  const transaction = unsignedTransaction(payer, [
    createAssociated(payer, friend, mint),
    ...holders.map((holder) => transferChecked(mint, holder, to, amountOf(holder), hook)),
  ])
  return transaction === undefined ? undefined : node.simulate(transaction, [to], minSlot)
}

function amountOf({ amountRaw }: Holder): bigint {
  return amountRaw > 1n ? amountRaw / 2n : amountRaw
}

/**
 * A node can return anything, but what it says about the transfer has to agree with what it says about the accounts: the
 * token programs decide by nothing else.
 */
function expectPlausible(
  { accounts: [recipient] }: Simulation,
  { mint, fee }: TransferRequest,
  holders: readonly Holder[],
): void {
  const received = recipient === undefined ? undefined : readTokenAccount(recipient)
  if (received?.mint !== mint.address) throw invalid('simulateTransaction: the recipient has no account')
  const isStopped = mint.extensions.has(EXTENSION.notTransferable) || holders.some(({ isFrozen }) => isFrozen)
  if (isStopped) throw invalid('simulateTransaction: a frozen account transfers')
  const sentRaw = holders.reduce((sum, holder) => sum + amountOf(holder), 0n)
  const hasFee = mint.extensions.has(EXTENSION.transferFee)
  const feeRaw = hasFee ? holders.reduce((sum, holder) => sum + feeOn(amountOf(holder), fee), 0n) : 0n
  const isKnown = !hasFee || fee !== undefined
  const isPlausible = isKnown ? received.amountRaw === sentRaw - feeRaw : received.amountRaw <= sentRaw
  if (!isPlausible) throw invalid('simulateTransaction: another amount than was sent')
}

/** Rounded up, as Token-2022 does. */
function feeOn(amountRaw: bigint, fee: TransferFee | undefined): bigint {
  if (fee === undefined) return 0n
  const feeRaw = (amountRaw * BigInt(fee.ppm) + ALL_POINTS_PPM - 1n) / ALL_POINTS_PPM
  if (feeRaw > fee.maxRaw) return fee.maxRaw
  return feeRaw
}

/** Whether anything in the accounts can make a transfer fail. */
function canFail(mint: Mint, { isFrozen }: Holder): boolean {
  return isFrozen || hasRestriction(mint)
}

/** Whether someone can stop the transfers of holders. Without that, there is nothing to find out. */
export function canBeStopped(mint: Mint): boolean {
  return mint.freezeAuthority !== undefined || hasRestriction(mint)
}

function hasRestriction({ extensions }: Mint): boolean {
  return [...extensions.keys()].some((type) => !HARMLESS.has(type))
}

/** Extensions that never stop a transfer. */
const HARMLESS: ReadonlySet<number> = new Set([
  EXTENSION.transferFee,
  EXTENSION.mintCloseAuthority,
  EXTENSION.interestBearing,
  EXTENSION.permanentDelegate,
  EXTENSION.metadataPointer,
  EXTENSION.metadata,
])
