import { readBase58 } from '../../domain/base58.ts'
import type { RawLog } from '../../domain/envelope.ts'
import { ByteCursor } from './byte-cursor.ts'
import { BALANCE_PROGRAMS, WSOL } from './known-keys.ts'
import { encodeOwnerBalances, MAX_AMOUNT, OWNER_BALANCES, type OwnerBalance } from './owner-balances.ts'
import type { SolanaTransaction, TokenBalance } from './transaction.ts'

const INITIALIZE_MINT = 0
const MINT_TO = 7
const BURN = 8
const MINT_TO_CHECKED = 14
const BURN_CHECKED = 15
const INITIALIZE_MINT_2 = 20

/**
 * One log for each mint that a transaction initialized, minted, burned or moved. Balances of wrapped SOL are left out:
 * most transactions change them, they are never known since creation, and most SOL is not wrapped.
 */
export function balanceLogsOf(
  transaction: SolanaTransaction,
  textOf: (key: number) => string,
  firstIndex: number,
): RawLog[] {
  const changes = new Map<string, MintChange>()
  const changeOf = (mint: string): MintChange => {
    const known = changes.get(mint)
    if (known !== undefined) return known
    const change = new MintChange()
    changes.set(mint, change)
    return change
  }
  addIssuance(transaction, textOf, changeOf)
  addBalances(transaction, changeOf)
  const logs: RawLog[] = []
  for (const [address, change] of changes) {
    const data = isKey(address) ? change.encode() : undefined
    if (data !== undefined) {
      logs.push({ index: firstIndex + logs.length, address, topics: [OWNER_BALANCES], data })
    }
  }
  return logs
}

class MintChange {
  isNewMint = false
  isIncomplete = false
  mintedRaw = 0n
  burnedRaw = 0n
  readonly #owners = new Map<string, { beforeRaw: bigint; afterRaw: bigint }>()

  add({ owner, amount }: TokenBalance, side: 'beforeRaw' | 'afterRaw'): void {
    if (owner === undefined) {
      this.isIncomplete = true
      return
    }
    let own = this.#owners.get(owner)
    if (own === undefined) {
      own = { beforeRaw: 0n, afterRaw: 0n }
      this.#owners.set(owner, own)
    }
    own[side] += amount
  }

  /** Undefined if nothing changed. Amounts that do not fit are left out, and the record is marked incomplete. */
  encode(): Uint8Array | undefined {
    const { isNewMint, mintedRaw, burnedRaw } = this
    let isIncomplete = this.isIncomplete || mintedRaw > MAX_AMOUNT || burnedRaw > MAX_AMOUNT
    const owners: OwnerBalance[] = []
    for (const [owner, { beforeRaw, afterRaw }] of this.#owners) {
      if (beforeRaw === afterRaw) continue
      if (beforeRaw <= MAX_AMOUNT && afterRaw <= MAX_AMOUNT) owners.push({ owner, beforeRaw, afterRaw })
      else isIncomplete = true
    }
    const isIssued = mintedRaw > 0n || burnedRaw > 0n
    if (!isNewMint && !isIncomplete && !isIssued && owners.length === 0) return undefined
    return encodeOwnerBalances({
      isNewMint,
      isIncomplete,
      mintedRaw: mintedRaw <= MAX_AMOUNT ? mintedRaw : 0n,
      burnedRaw: burnedRaw <= MAX_AMOUNT ? burnedRaw : 0n,
      owners,
    })
  }
}

/** An account that was opened or closed has no balance before or after, which counts as zero. */
function addBalances(
  { preTokenBalances, postTokenBalances }: SolanaTransaction,
  changeOf: (mint: string) => MintChange,
): void {
  const before = byAccount(preTokenBalances)
  for (const after of byAccount(postTokenBalances).values()) {
    const was = before.get(after.account)
    if (was?.mint === after.mint && was.owner === after.owner && was.amount === after.amount)
      before.delete(after.account)
    else if (after.amount > 0n && after.mint !== WSOL) changeOf(after.mint).add(after, 'afterRaw')
  }
  for (const was of before.values()) {
    if (was.amount > 0n && was.mint !== WSOL) changeOf(was.mint).add(was, 'beforeRaw')
  }
}

/** A node that lists an account twice does not double its balance. */
export function byAccount(balances: readonly TokenBalance[]): Map<number, TokenBalance> {
  const found = new Map<number, TokenBalance>()
  for (const balance of balances) found.set(balance.account, balance)
  return found
}

/** Fees that Token-2022 withholds are neither minted nor burned. */
function addIssuance(
  { instructions }: SolanaTransaction,
  textOf: (key: number) => string,
  changeOf: (mint: string) => MintChange,
): void {
  for (const { program, accounts, data } of instructions) {
    const tag = data[0]
    const isMint = tag === MINT_TO || tag === MINT_TO_CHECKED
    const isBurn = tag === BURN || tag === BURN_CHECKED
    const isNew = tag === INITIALIZE_MINT || tag === INITIALIZE_MINT_2
    if (!isMint && !isBurn && !isNew) continue
    if (!BALANCE_PROGRAMS.includes(textOf(program))) continue
    const mint = accounts[isBurn ? 1 : 0]
    if (mint === undefined) continue
    const change = changeOf(textOf(mint))
    if (isNew) {
      change.isNewMint = true
      continue
    }
    const cursor = new ByteCursor(data, 1)
    const amount = cursor.u64()
    if (!cursor.isValid) continue
    if (isMint) change.mintedRaw += amount
    else change.burnedRaw += amount
  }
}

const scratch = new Uint8Array(32)

function isKey(text: string): boolean {
  return readBase58(text, scratch, 0)
}
