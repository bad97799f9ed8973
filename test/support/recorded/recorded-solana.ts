import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseRpcTransaction, type RpcTransaction } from '../../../src/chain/solana/parse-transaction.ts'
import type { SolanaTransaction } from '../../../src/dex/solana/transaction.ts'

/** Real Solana transactions as nodes returned them; `SOURCES.md` of the fixtures has their origin. */

export type RecordedTransaction = { readonly name: string; readonly transaction: SolanaTransaction }

type Slotted = RpcTransaction & { readonly slot: number }

const fixtures =
  process.env['CHAINTAPE_FIXTURES'] ?? resolve(import.meta.dirname, '../../../../shared/fixtures')
export const solanaFixtures = join(fixtures, 'solana')
export const hasSolanaRecordings = existsSync(solanaFixtures)
if (!hasSolanaRecordings) {
  console.log(`no fixtures at ${solanaFixtures}: set CHAINTAPE_FIXTURES to run the golden tests of Solana`)
}

/** 125 transactions in encoding base64. */
export function base64Transactions(): RecordedTransaction[] {
  return readdirSync(join(solanaFixtures, 'transactions'))
    .sort()
    .map((file) => parsed(file, read<{ raw: Slotted }>(join('transactions', file)).raw))
}

/** The same as a node returns them. */
export function rawTransactions(): RpcTransaction[] {
  return namedTransactions().map(({ raw }) => raw)
}

export function namedTransactions(): { readonly signature: string; readonly raw: RpcTransaction }[] {
  return readdirSync(join(solanaFixtures, 'transactions'))
    .sort()
    .map((file) => read<{ signature: string; raw: Slotted }>(join('transactions', file)))
}

/** The same 125 in encoding json. */
export function jsonTransactions(): RecordedTransaction[] {
  const lines = readFileSync(join(solanaFixtures, 'transactions.json-encoding.jsonl'), 'utf8')
    .trim()
    .split('\n')
  return lines.map((line, index) => parsed(`line ${index + 1}`, JSON.parse(line)))
}

/** 12 more, through routers. */
export function routedTransactions(): RecordedTransaction[] {
  const recorded = read<{ cassette: string; result: Slotted }[]>('rotki/jupiter-and-dex-transactions.json')
  return recorded.map(({ result }, index) => parsed(`rotki ${index + 1}`, result))
}

/** One of July 2026, with the newest events of Pump.fun. */
export function newestTransactions(): RecordedTransaction[] {
  const file = 'chainstack/raw_create_tx_from_blocksubscribe.json'
  return [parsed(file, { ...read<RpcTransaction>(file), slot: 0 })]
}

export function allSolanaTransactions(): RecordedTransaction[] {
  return [...base64Transactions(), ...routedTransactions(), ...newestTransactions()]
}

function parsed(name: string, answer: Slotted): RecordedTransaction {
  const transaction = parseRpcTransaction(answer, answer.slot)
  if (transaction === undefined) throw new Error(`${name} cannot be parsed`)
  return { name, transaction }
}

function read<T>(file: string): T {
  return JSON.parse(readFileSync(join(solanaFixtures, file), 'utf8')) as T
}
