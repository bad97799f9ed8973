import { readBase58 } from '../../domain/base58.ts'
import type { RawLog } from '../../domain/envelope.ts'
import { balanceLogsOf } from './balance-logs.ts'
import { encodeRecord, hexStart, type RecordContent } from './instruction-record.ts'
import { recurringText } from './key-text.ts'
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './known-keys.ts'
import { eventBytes, eventInCall, type LoggedEvents, loggedEvents } from './log-events.ts'
import type { KnownProgram } from './program.ts'
import { withBatchedCalls } from './token-batch.ts'
import { type TransactionTransfer, transfersOf } from './token-transfers.ts'
import type { SolanaInstruction, SolanaTransaction, TokenBalance } from './transaction.ts'

/** Keyed by program id in base58. */
export type KnownPrograms = ReadonlyMap<string, KnownProgram>

/**
 * The logs of a transaction: one for each instruction of a known program that a decoder reads, at any depth, and then one
 * for each mint whose balances changed. Their indexes begin at `firstIndex`. A failed transaction has none.
 */
export function rawLogsOf(
  transaction: SolanaTransaction,
  programs: KnownPrograms,
  firstIndex: number,
): RawLog[] {
  if (transaction.isFailed) return []
  const builder = new LogBuilder(withBatchedCalls(transaction), programs)
  const logs = builder.instructionLogs(firstIndex)
  logs.push(...builder.balanceLogs(firstIndex + logs.length))
  return logs
}

class LogBuilder {
  readonly #transaction: SolanaTransaction
  readonly #programs: KnownPrograms
  readonly #texts: (string | undefined)[] = []
  /** The keys of the transaction, then the mints that it names in balances only. */
  readonly #keys: Uint8Array[]
  readonly #keyOfMint = new Map<string, number | undefined>()
  #before: Map<number, bigint> | undefined
  #transfers: ReadonlyMap<number, TransactionTransfer> | undefined
  #logged: ReadonlyMap<number, LoggedEvents> | undefined

  constructor(transaction: SolanaTransaction, programs: KnownPrograms) {
    this.#transaction = transaction
    this.#programs = programs
    this.#keys = [...transaction.keys]
  }

  balanceLogs(firstIndex: number): RawLog[] {
    return balanceLogsOf(this.#transaction, (key) => this.#text(key), firstIndex)
  }

  instructionLogs(firstIndex: number): RawLog[] {
    const logs: RawLog[] = []
    const { instructions } = this.#transaction
    for (let at = 0; at < instructions.length; at++) {
      const instruction = instructions[at] as SolanaInstruction
      const address = this.#text(instruction.program)
      const known = this.#programs.get(address)
      if (known === undefined) continue
      const { program, topics } = known
      const size = program.discriminatorBytes
      const own = instruction.data.length < size ? undefined : topics.get(hexStart(instruction.data, size))
      if (own === undefined) continue
      const content = this.#content(at, instruction, known)
      const data = encodeRecord(content)
      if (data === undefined) continue
      for (const topic of own) {
        if (program.onlyIf?.[topic]?.(content.events) === false) continue
        logs.push({ index: firstIndex + logs.length, address, topics: [topic], data })
      }
    }
    return logs
  }

  #content(at: number, instruction: SolanaInstruction, { program }: KnownProgram): RecordContent {
    const { instructions } = this.#transaction
    const table = new KeyTable(this.#keys)
    const accounts: number[] = []
    for (const key of instruction.accounts) accounts.push(table.add(key))
    const transfers: RecordContent['transfers'][number][] = []
    const events: Uint8Array[] = []
    if (program.eventsIn !== 'calls') events.push(...this.#loggedBy(at, program.eventsIn))
    for (let next = at + 1; next < instructions.length; next++) {
      const below = instructions[next] as SolanaInstruction
      if (below.stackHeight <= instruction.stackHeight) break
      const transfer = this.#transferBy(next)
      if (transfer !== undefined) {
        const { source, destination, amount, fee } = transfer
        const mint = this.#mintKey(transfer.mint)
        transfers.push({
          mint: mint === undefined ? undefined : table.add(mint),
          source: table.add(source),
          destination: table.add(destination),
          amount,
          fee,
        })
      }
      const isOwnCall =
        below.program === instruction.program && below.stackHeight === instruction.stackHeight + 1
      const event =
        isOwnCall && program.eventsIn === 'calls' ? eventInCall(below.data, below.accounts.length) : undefined
      if (event !== undefined) events.push(event)
    }
    const balances = this.#balances(instruction, table)
    const { stackHeight, data } = instruction
    return { stackHeight, keys: table.keys, accounts, data, transfers, events, balances }
  }

  #balances({ accounts }: SolanaInstruction, table: KeyTable): RecordContent['balances'] {
    this.#before ??= firstAmounts(this.#transaction.preTokenBalances)
    const balances: RecordContent['balances'][number][] = []
    for (const { account, mint, amount: after } of this.#transaction.postTokenBalances) {
      const mintKey = accounts.includes(account) ? this.#mintKey(mint) : undefined
      if (mintKey === undefined) continue
      const before = this.#before.get(account) ?? 0n
      balances.push({ mint: table.add(mintKey), account: table.add(account), before, after })
    }
    return balances
  }

  #transferBy(at: number): TransactionTransfer | undefined {
    this.#transfers ??= transfersOf(this.#transaction, (program) => {
      const text = this.#text(program)
      if (text === TOKEN_PROGRAM || text === TOKEN_2022_PROGRAM) return 'token'
      return text === SYSTEM_PROGRAM ? 'system' : undefined
    })
    return this.#transfers.get(at)
  }

  #loggedBy(at: number, place: 'data_logs' | 'ray_logs'): readonly Uint8Array[] {
    this.#logged ??= loggedEvents(this.#transaction, (program) => this.#text(program))
    const logged = this.#logged.get(at)
    return logged === undefined ? [] : eventBytes(place === 'ray_logs' ? logged.ray : logged.data)
  }

  #text(key: number): string {
    const known = this.#texts[key]
    if (known !== undefined) return known
    const bytes = this.#keys[key]
    const text = bytes === undefined ? '' : recurringText(bytes)
    this.#texts[key] = text
    return text
  }

  /** The index of a mint in the keys; undefined if the text is no key. */
  #mintKey(mint: string | undefined): number | undefined {
    if (mint === undefined) return undefined
    if (this.#keyOfMint.has(mint)) return this.#keyOfMint.get(mint)
    const key = new Uint8Array(KEY_BYTES)
    const index = readBase58(mint, key, 0) ? this.#indexOf(key) : undefined
    this.#keyOfMint.set(mint, index)
    return index
  }

  #indexOf(key: Uint8Array): number {
    const known = this.#keys.findIndex((each) => isSameKey(each, key))
    return known === -1 ? this.#keys.push(key) - 1 : known
  }
}

const KEY_BYTES = 32

function isSameKey(a: Uint8Array, b: Uint8Array): boolean {
  let at = 0
  while (at < KEY_BYTES && a[at] === b[at]) at++
  return at === KEY_BYTES
}

/** The balances by account, and of an account that a node lists twice the first one. */
function firstAmounts(balances: readonly TokenBalance[]): Map<number, bigint> {
  const amounts = new Map<number, bigint>()
  for (const { account, amount } of balances) if (!amounts.has(account)) amounts.set(account, amount)
  return amounts
}

/** The distinct keys of a record, in order of their first use. Keys are indexes in those of the transaction. */
class KeyTable {
  readonly keys: Uint8Array[] = []
  readonly #all: readonly Uint8Array[]
  readonly #places: (number | undefined)[] = []

  constructor(all: readonly Uint8Array[]) {
    this.#all = all
  }

  add(key: number): number {
    const known = this.#places[key]
    if (known !== undefined) return known
    const place = this.keys.push(this.#all[key] as Uint8Array) - 1
    this.#places[key] = place
    return place
  }
}
