import { base58Text, readBase58 } from '../../domain/base58.ts'
import type { RawLog } from '../../domain/envelope.ts'
import { encodeRecord, hexOf, type RecordContent } from './instruction-record.ts'
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './known-keys.ts'
import { eventInCall, type LoggedEvents, loggedEvents } from './log-events.ts'
import type { KnownProgram } from './program.ts'
import { type TransactionTransfer, transfersOf } from './token-transfers.ts'
import type { SolanaInstruction, SolanaTransaction } from './transaction.ts'

/** Keyed by program id in base58. */
export type KnownPrograms = ReadonlyMap<string, KnownProgram>

/**
 * The logs of a transaction: one for each instruction of a known program that a decoder reads, at any depth.
 * Their indexes begin at `firstIndex`. A failed transaction has none.
 */
export function rawLogsOf(
  transaction: SolanaTransaction,
  programs: KnownPrograms,
  firstIndex: number,
): RawLog[] {
  if (transaction.isFailed) return []
  return new LogBuilder(transaction, programs).run(firstIndex)
}

class LogBuilder {
  readonly #transaction: SolanaTransaction
  readonly #programs: KnownPrograms
  readonly #texts: (string | undefined)[] = []
  #transfers: ReadonlyMap<number, TransactionTransfer> | undefined
  #logged: ReadonlyMap<number, LoggedEvents> | undefined

  constructor(transaction: SolanaTransaction, programs: KnownPrograms) {
    this.#transaction = transaction
    this.#programs = programs
  }

  run(firstIndex: number): RawLog[] {
    const logs: RawLog[] = []
    for (const [at, instruction] of this.#transaction.instructions.entries()) {
      const address = this.#text(instruction.program)
      const known = this.#programs.get(address)
      if (known === undefined) continue
      const { program, topics } = known
      const size = program.discriminatorBytes
      const own =
        instruction.data.length < size ? undefined : topics.get(hexOf(instruction.data.subarray(0, size)))
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
    const { instructions, keys: allKeys } = this.#transaction
    const table = new KeyTable()
    const indexOf = (key: number): number => table.add(this.#text(key), allKeys[key] as Uint8Array)
    const accounts = Array.from(instruction.accounts, indexOf)
    const transfers: RecordContent['transfers'][number][] = []
    const events: Uint8Array[] = []
    if (program.eventsIn !== 'calls') events.push(...this.#loggedBy(at, program.eventsIn))
    for (let next = at + 1; next < instructions.length; next++) {
      const below = instructions[next] as SolanaInstruction
      if (below.stackHeight <= instruction.stackHeight) break
      const transfer = this.#transferBy(next)
      if (transfer !== undefined) {
        const { source, destination, mint, amount, fee } = transfer
        const mintIndex = mint === undefined ? undefined : table.addText(mint)
        transfers.push({
          source: indexOf(source),
          destination: indexOf(destination),
          mint: mintIndex,
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
    const balances = this.#balances(instruction, indexOf, table)
    const { stackHeight, data } = instruction
    return { stackHeight, keys: table.keys, accounts, data, transfers, events, balances }
  }

  #balances(
    { accounts }: SolanaInstruction,
    indexOf: (key: number) => number,
    table: KeyTable,
  ): RecordContent['balances'] {
    const { preTokenBalances, postTokenBalances } = this.#transaction
    const own = new Set(accounts)
    return postTokenBalances.flatMap(({ account, mint, amount: after }) => {
      const mintIndex = own.has(account) ? table.addText(mint) : undefined
      if (mintIndex === undefined) return []
      const before = preTokenBalances.find((each) => each.account === account)?.amount ?? 0n
      return [{ account: indexOf(account), mint: mintIndex, before, after }]
    })
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
    return (place === 'ray_logs' ? logged?.ray : logged?.data) ?? []
  }

  /** Keys are converted at most once, because routers name the same ones in many instructions. */
  #text(key: number): string {
    const known = this.#texts[key]
    if (known !== undefined) return known
    const bytes = this.#transaction.keys[key]
    const text = bytes?.length === KEY_BYTES ? base58Text(bytes, 0) : ''
    this.#texts[key] = text
    return text
  }
}

const KEY_BYTES = 32

/** The distinct keys of a record, in order of their first use. */
class KeyTable {
  readonly keys: Uint8Array[] = []
  readonly #places = new Map<string, number>()

  add(text: string, key: Uint8Array): number {
    const known = this.#places.get(text)
    if (known !== undefined) return known
    this.#places.set(text, this.keys.length)
    return this.keys.push(key) - 1
  }

  /** Undefined if the text is no key. */
  addText(text: string): number | undefined {
    const known = this.#places.get(text)
    if (known !== undefined) return known
    const key = new Uint8Array(KEY_BYTES)
    return readBase58(text, key, 0) ? this.add(text, key) : undefined
  }
}
