import { createHash } from 'node:crypto'
import type {
  SolanaInstruction,
  SolanaTransaction,
  TokenBalance,
} from '../../../src/dex/solana/transaction.ts'
import { base58Text, readBase58 } from '../../../src/domain/base58.ts'

/** Builds a synthetic transaction in parsed form, with any balances. Keys are numbered in order of their first use. */
export class TransactionBuilder {
  readonly #keys: string[] = []
  readonly #instructions: SolanaInstruction[] = []
  readonly #pre: TokenBalance[] = []
  readonly #post: TokenBalance[] = []
  readonly #logMessages: string[] = []

  constructor(payer = keyOf('payer')) {
    this.key(payer)
  }

  key(address: string): number {
    const known = this.#keys.indexOf(address)
    return known === -1 ? this.#keys.push(address) - 1 : known
  }

  instruction(
    program: string,
    accounts: readonly string[],
    data: Uint8Array | string,
    stackHeight = 1,
  ): this {
    this.#instructions.push({
      program: this.key(program),
      accounts: Uint8Array.from(accounts, (address) => this.key(address)),
      data: typeof data === 'string' ? Buffer.from(data, 'hex') : data,
      stackHeight,
    })
    return this
  }

  /** A token account before and after the transaction; undefined where it does not exist. */
  balance(
    account: string,
    {
      mint,
      owner,
      program,
    }: { readonly mint: string; readonly owner?: string | undefined; readonly program?: string },
    before: bigint | undefined,
    after: bigint | undefined,
  ): this {
    const common = { account: this.key(account), mint, owner, program }
    if (before !== undefined) this.#pre.push({ ...common, amount: before })
    if (after !== undefined) this.#post.push({ ...common, amount: after })
    return this
  }

  log(...messages: string[]): this {
    this.#logMessages.push(...messages)
    return this
  }

  build(isFailed = false): SolanaTransaction {
    const lamports = this.#keys.map(() => 0n)
    return {
      signature: keyOf(JSON.stringify(this.#keys)),
      slot: 1,
      isFailed,
      keys: this.#keys.map(keyBytes),
      instructions: this.#instructions,
      logMessages: this.#logMessages,
      preTokenBalances: this.#pre,
      postTokenBalances: this.#post,
      preBalances: lamports,
      postBalances: lamports,
    }
  }
}

/** An address that depends on a name alone. */
export function keyOf(name: string): string {
  return base58Text(createHash('sha256').update(name).digest(), 0)
}

export function keyBytes(address: string): Uint8Array {
  const bytes = new Uint8Array(32)
  if (!readBase58(address, bytes, 0)) throw new Error(`${address} is no key`)
  return bytes
}

/** An instruction of the token program: its tag, an amount if it has one, and more bytes. */
export function tokenData(tag: number, amount?: bigint, ...more: number[]): Uint8Array {
  const bytes = Buffer.alloc(amount === undefined ? 1 : 9)
  bytes[0] = tag
  if (amount !== undefined) bytes.writeBigUInt64LE(amount, 1)
  return Buffer.concat([bytes, Uint8Array.from(more)])
}
