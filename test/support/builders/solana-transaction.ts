import { createHash } from 'node:crypto'
import { base58 } from '@scure/base'
import type { RpcTransaction } from '../../../src/chain/solana/parse-transaction.ts'
import { base58Of } from '../rigs/solana-ledger.ts'
import {
  type PoolAccount,
  SOL,
  type SolanaAccounts,
  SPL_TOKEN,
  SYSTEM,
  WRAPPED_SOL,
} from './solana-accounts.ts'

/** What a program did, as the program itself knows it. Positive amounts came into the pool. */
export type PoolAction = PoolAct & {
  /** The pool after it. */
  readonly after: PoolAccount
}

type PoolAct =
  | { readonly type: 'created'; readonly pool: string }
  | { readonly type: 'closed'; readonly pool: string }
  | {
      readonly type: 'swapped' | 'supplied'
      readonly pool: string
      readonly user: string
      readonly amounts: readonly [bigint, bigint]
    }

/** A transaction and its effects. Synthetic unless it has been recorded. */
export type MarketTransaction = {
  readonly rpc: RpcTransaction
  readonly signature: string
  readonly payer: string
  readonly actions: readonly PoolAction[]
}

const EVENT_TAG = Buffer.from('e445a52e51cb9a1d', 'hex')
const FEE = 5_000n
const MAX_STATIC_KEYS = 12

type Instruction = {
  readonly program: string
  readonly accounts: readonly string[]
  readonly data: Uint8Array
  readonly height: number
}

/** Builds a synthetic transaction as a node would return it: the layouts are published, the accounts are ours. */
export class SolanaScript {
  readonly accounts: SolanaAccounts
  readonly payer: string
  readonly actions: PoolAction[] = []
  readonly #name: string
  readonly #before: ReturnType<SolanaAccounts['snapshot']>
  readonly #instructions: Instruction[] = []
  readonly #logs: string[] = []
  readonly #running: string[] = []

  constructor(accounts: SolanaAccounts, payer: string, name: string) {
    this.accounts = accounts
    this.payer = payer
    this.#name = name
    this.#before = accounts.snapshot()
    accounts.addLamports(payer, -FEE)
  }

  /** An instruction, and in `body` what it calls. */
  call(program: string, accounts: readonly string[], data: Uint8Array, body?: () => void): void {
    const height = this.#running.length + 1
    this.#instructions.push({ program, accounts, data, height })
    this.#logs.push(`Program ${program} invoke [${height}]`)
    this.#running.push(program)
    body?.()
    this.#running.pop()
    this.#logs.push(`Program ${program} success`)
  }

  /** An event as a call of the running program to itself and, as several programs do, in the log too. */
  emit(event: Uint8Array): void {
    const program = this.#running.at(-1) ?? ''
    this.log(event)
    this.call(program, [base58Of(`event authority of ${program}`)], Buffer.concat([EVENT_TAG, event]))
  }

  log(event: Uint8Array): void {
    this.#logs.push(`Program data: ${Buffer.from(event).toString('base64')}`)
  }

  transfer(source: string, destination: string, amount: bigint): void {
    const { mint, owner } = this.accounts.token(source)
    const { program, decimals } = this.accounts.mint(mint)
    this.call(program, [source, mint, destination, owner], tokenData(12, amount, decimals))
    this.accounts.transfer(source, destination, amount)
  }

  initializeMint(address: string): void {
    const { program, decimals } = this.accounts.mint(address)
    const data = Buffer.concat([Buffer.of(20, decimals), base58.decode(this.payer), Buffer.of(0)])
    this.call(program, [address], data)
  }

  mintTo(account: string, amount: bigint): void {
    const { mint } = this.accounts.token(account)
    const { program } = this.accounts.mint(mint)
    this.call(program, [mint, account, this.payer], tokenData(7, amount))
    this.accounts.issue(account, amount)
  }

  transferLamports(from: string, to: string, amount: bigint): void {
    const data = Buffer.alloc(12)
    data.writeUInt32LE(2, 0)
    data.writeBigUInt64LE(amount, 4)
    this.call(SYSTEM, [from, to], data)
    this.moveLamports(from, to, amount)
  }

  /** A program may move the lamports of its accounts without any instruction. */
  moveLamports(from: string, to: string, amount: bigint): void {
    this.accounts.addLamports(from, -amount)
    this.accounts.addLamports(to, amount)
  }

  /** Lamports that were sent to an account of wrapped SOL become tokens. */
  wrap(from: string, account: string, amount: bigint): void {
    this.accounts.addLamports(from, -amount)
    this.accounts.issue(account, amount)
    this.call(SPL_TOKEN, [account], Buffer.from([17]))
  }

  act(act: PoolAct): void {
    this.actions.push({ ...act, after: this.accounts.pool(act.pool) })
  }

  finish(): MarketTransaction {
    const signature = createHash('sha512').update(this.#name).digest()
    const { statics, loaded } = this.#keys()
    const keys = [...statics, ...loaded]
    const index = new Map(keys.map((key, at) => [key, at]))
    const at = (key: string): number => index.get(key) as number
    const rpc = {
      transaction: [this.#wire(signature, statics, loaded, at).toString('base64'), 'base64'],
      version: loaded.length === 0 ? 'legacy' : 0,
      meta: {
        ...{ err: null, status: { Ok: null }, fee: Number(FEE), rewards: null, computeUnitsConsumed: 50_000 },
        innerInstructions: this.#inner(at),
        logMessages: this.#logs,
        loadedAddresses: { writable: loaded, readonly: [] },
        preBalances: keys.map((key) => Number(this.#before.lamports.get(key) ?? 0n)),
        postBalances: keys.map((key) => Number(this.accounts.lamports(key))),
        preTokenBalances: this.#balances(keys, this.#before.tokens),
        postTokenBalances: this.#balances(keys, this.accounts.tokens),
      },
    }
    return { rpc, signature: base58.encode(signature), payer: this.payer, actions: this.actions }
  }

  /** A transaction with many accounts loads those that neither sign nor run from a lookup table. */
  #keys(): { statics: string[]; loaded: string[] } {
    const outer = this.#instructions.filter(({ height }) => height === 1).map(({ program }) => program)
    const fixed = [...new Set([this.payer, ...outer])]
    const others = [
      ...new Set(this.#instructions.flatMap(({ program, accounts }) => [...accounts, program])),
    ].filter((key) => !fixed.includes(key))
    const isShort = fixed.length + others.length <= MAX_STATIC_KEYS
    return isShort ? { statics: [...fixed, ...others], loaded: [] } : { statics: fixed, loaded: others }
  }

  #wire(
    signature: Buffer,
    statics: readonly string[],
    loaded: readonly string[],
    at: (key: string) => number,
  ): Buffer {
    const outer = this.#instructions.filter(({ height }) => height === 1)
    const parts: Uint8Array[] = [shortLength(1), signature]
    if (loaded.length > 0) parts.push(Buffer.from([0x80]))
    parts.push(Buffer.from([1, 0, 0]), shortLength(statics.length))
    for (const key of statics) parts.push(base58.decode(key))
    parts.push(base58.decode(base58Of(`recent blockhash of ${this.#name}`)), shortLength(outer.length))
    for (const { program, accounts, data } of outer) {
      parts.push(Buffer.from([at(program)]), shortLength(accounts.length), Buffer.from(accounts.map(at)))
      parts.push(shortLength(data.length), data)
    }
    if (loaded.length > 0) {
      const places = loaded.map((_, place) => place)
      parts.push(shortLength(1), base58.decode(base58Of('lookup table')))
      parts.push(shortLength(loaded.length), Buffer.from(places), shortLength(0))
    }
    return Buffer.concat(parts)
  }

  #inner(at: (key: string) => number): object[] {
    const groups: { index: number; instructions: object[] }[] = []
    let outer = -1
    for (const { program, accounts, data, height } of this.#instructions) {
      if (height === 1) {
        outer += 1
        continue
      }
      if (groups.at(-1)?.index !== outer) groups.push({ index: outer, instructions: [] })
      groups.at(-1)?.instructions.push({
        ...{ programIdIndex: at(program), accounts: accounts.map(at), stackHeight: height },
        data: base58.encode(data),
      })
    }
    return groups
  }

  #balances(keys: readonly string[], tokens: SolanaAccounts['tokens']): object[] {
    return keys.flatMap((key, accountIndex) => {
      const account = tokens.get(key)
      if (account === undefined) return []
      const { mint, owner, amount } = account
      const { program: programId, decimals } = this.accounts.mint(mint)
      const uiAmount = Number(amount) / 10 ** decimals
      const uiTokenAmount = {
        ...{ amount: String(amount), decimals, uiAmount: uiAmount === 0 ? null : uiAmount },
        uiAmountString: String(uiAmount),
      }
      return [{ accountIndex, mint, owner, programId, uiTokenAmount }]
    })
  }
}

/** A wallet with lamports, and wrapped SOL from before the first block. */
export function openWallet(accounts: SolanaAccounts, name: string, wrapped: bigint): string {
  const wallet = base58Of(`wallet ${name}`)
  accounts.addLamports(wallet, 1_000n * SOL)
  accounts.issue(accounts.open(wallet, WRAPPED_SOL), wrapped)
  return wallet
}

function tokenData(tag: number, amount: bigint, decimals?: number): Buffer {
  const data = Buffer.alloc(decimals === undefined ? 9 : 10)
  data.writeUInt8(tag, 0)
  data.writeBigUInt64LE(amount, 1)
  if (decimals !== undefined) data.writeUInt8(decimals, 9)
  return data
}

/** Compact-u16. */
function shortLength(length: number): Buffer {
  return length < 0x80 ? Buffer.from([length]) : Buffer.from([(length & 0x7f) | 0x80, length >> 7])
}
