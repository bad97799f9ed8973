import { ByteCursor } from './byte-cursor.ts'
import { TOKEN_2022_PROGRAM } from './known-keys.ts'
import type { SolanaInstruction, SolanaTransaction } from './transaction.ts'

/** A transfer in a transaction; accounts are indexes in its keys. */
export type TransactionTransfer = {
  readonly source: number
  readonly destination: number
  /** Base58; undefined for lamports, and for tokens whose mint the transaction does not reveal. */
  readonly mint: string | undefined
  readonly isLamports: boolean
  readonly amount: bigint
  readonly fee: bigint
}

/** Which program an instruction runs, as far as transfers are concerned. */
export type TransferProgram = 'token' | 'system'

const TRANSFER = 3
const TRANSFER_CHECKED = 12
const TRANSFER_FEE_EXTENSION = 26
const TRANSFER_CHECKED_WITH_FEE = 1
const SYSTEM_TRANSFER = 2

/** Reads the transfers of a transaction, by the index of their instruction. */
export function transfersOf(
  transaction: SolanaTransaction,
  programOf: (program: number) => TransferProgram | undefined,
): Map<number, TransactionTransfer> {
  const mints = new Map<number, string>()
  for (const { account, mint } of transaction.preTokenBalances) mints.set(account, mint)
  for (const { account, mint } of transaction.postTokenBalances) mints.set(account, mint)
  const found = new Map<number, TransactionTransfer>()
  const { instructions } = transaction
  for (let index = 0; index < instructions.length; index++) {
    const instruction = instructions[index] as SolanaInstruction
    const kind = programOf(instruction.program)
    const transfer =
      kind === 'token'
        ? tokenTransfer(instruction, mints)
        : kind === 'system'
          ? systemTransfer(instruction)
          : undefined
    if (transfer !== undefined) found.set(index, transfer)
  }
  return withWithheldFees(transaction, found)
}

function tokenTransfer(
  { data, accounts }: SolanaInstruction,
  mints: ReadonlyMap<number, string>,
): TransactionTransfer | undefined {
  const kind = data[0]
  const hasFee = kind === TRANSFER_FEE_EXTENSION && data[1] === TRANSFER_CHECKED_WITH_FEE
  if (kind !== TRANSFER && kind !== TRANSFER_CHECKED && !hasFee) return undefined
  const [source, second, third] = accounts
  const destination = kind === TRANSFER ? second : third
  if (source === undefined || destination === undefined) return undefined
  const cursor = new ByteCursor(data, hasFee ? 2 : 1)
  const amount = cursor.u64()
  if (hasFee) cursor.skip(1)
  const fee = hasFee ? cursor.u64() : 0n
  if (!cursor.isValid || fee > amount) return undefined
  const mint = mints.get(source) ?? mints.get(destination)
  return { source, destination, mint, isLamports: false, amount, fee }
}

function systemTransfer({ data, accounts }: SolanaInstruction): TransactionTransfer | undefined {
  const cursor = new ByteCursor(data)
  const kind = cursor.u32()
  const amount = cursor.u64()
  const [source, destination] = accounts
  if (kind !== SYSTEM_TRANSFER || !cursor.isValid) return undefined
  if (source === undefined || destination === undefined) return undefined
  return { source, destination, mint: undefined, isLamports: true, amount, fee: 0n }
}

/**
 * A Token-2022 mint may withhold a fee that no instruction shows. It shows in the balance: an account that received one
 * transfer and holds less than that explains.
 */
function withWithheldFees(
  { preTokenBalances, postTokenBalances }: SolanaTransaction,
  transfers: Map<number, TransactionTransfer>,
): Map<number, TransactionTransfer> {
  for (const { account, program, amount: after } of postTokenBalances) {
    if (program !== TOKEN_2022_PROGRAM) continue
    const before = preTokenBalances.find((each) => each.account === account)?.amount ?? 0n
    let sum = 0n
    const received: number[] = []
    for (const [index, { source, destination, isLamports, amount, fee }] of transfers) {
      if (isLamports) continue
      if (destination === account) {
        sum += amount - fee
        received.push(index)
      }
      if (source === account) sum -= amount
    }
    const withheld = before + sum - after
    const [only = 0] = received
    const transfer = received.length === 1 ? transfers.get(only) : undefined
    if (transfer === undefined || transfer.fee !== 0n) continue
    if (withheld > 0n && withheld <= transfer.amount) transfers.set(only, { ...transfer, fee: withheld })
  }
  return transfers
}
