import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { base58 } from '@scure/base'
import type { RpcTransaction } from '../../../src/chain/solana/parse-transaction.ts'
import { swapIn } from '../../golden/second-opinion/solana-swaps.ts'
import { namedTransactions, solanaFixtures } from './recorded-solana.ts'
import { SOLANA_DEPLOYMENTS } from './solana-programs.ts'

/** A real swap by the accounts that its program names and the change of their balances. No decoder is involved. */
export type RecordedSwap = {
  readonly protocol: string
  readonly pool: string
  readonly mints: readonly [string, string]
  /** What came into the pool is positive. */
  readonly amounts: readonly [bigint, bigint]
}

export type RecordedMint = { readonly address: string; readonly decimals: number; readonly program: string }

export type RecordedSwaps = {
  readonly rpc: RpcTransaction
  readonly signature: string
  readonly payer: string
  readonly swaps: readonly RecordedSwap[]
  readonly mints: readonly RecordedMint[]
}

type Balance = {
  readonly accountIndex: number
  readonly mint: string
  readonly programId: string
  readonly uiTokenAmount: { readonly amount: string; readonly decimals: number }
}
type Instruction = {
  readonly programIdIndex: number
  readonly accounts: readonly number[]
  readonly data: string
}
type JsonTransaction = {
  readonly transaction: {
    readonly signatures: readonly string[]
    readonly message: {
      readonly accountKeys: readonly string[]
      readonly instructions: readonly Instruction[]
    }
  }
  readonly meta: {
    readonly err: unknown
    readonly loadedAddresses?: { readonly writable: readonly string[]; readonly readonly: readonly string[] }
    readonly innerInstructions: readonly {
      readonly index: number
      readonly instructions: readonly Instruction[]
    }[]
    readonly preBalances: readonly number[]
    readonly postBalances: readonly number[]
    readonly preTokenBalances: readonly Balance[]
    readonly postTokenBalances: readonly Balance[]
  }
}

const WRAPPED_SOL = 'So11111111111111111111111111111111111111112'
const PROTOCOLS = new Map<string, string>(
  SOLANA_DEPLOYMENTS.map(({ factory, protocol }) => [factory, protocol]),
)
/** create, create_v2 and migrate of Pump.fun, create_pool of PumpSwap. */
const LAUNCHES = ['181ec828051c0777', 'd6904cec5f8b31b4', '9beae792ec9ea21e', 'e992d18ecf6840bc']

/**
 * The 125 recorded transactions, without those that launch a token (their balances contain more than their trades) and
 * those that use a pool twice (their balances contain both).
 */
export function recordedSwaps(): RecordedSwaps[] {
  const encoded = new Map(namedTransactions().map(({ signature, raw }) => [signature, raw] as const))
  const lines = readFileSync(join(solanaFixtures, 'transactions.json-encoding.jsonl'), 'utf8')
    .trim()
    .split('\n')
  return lines.flatMap((line) => {
    const recorded = JSON.parse(line) as JsonTransaction
    const found = swapsOf(recorded)
    const rpc = encoded.get(found?.signature ?? '')
    return found === undefined || rpc === undefined ? [] : { ...found, rpc }
  })
}

function swapsOf({ transaction, meta }: JsonTransaction): Omit<RecordedSwaps, 'rpc'> | undefined {
  const { writable = [], readonly: others = [] } = meta.loadedAddresses ?? {}
  const keys = [...transaction.message.accountKeys, ...writable, ...others]
  const called = new Map(meta.innerInstructions.map(({ index, instructions }) => [index, instructions]))
  const all = transaction.message.instructions.flatMap((each, index) => [each, ...(called.get(index) ?? [])])
  const swaps: RecordedSwap[] = []
  for (const { programIdIndex, accounts, data } of meta.err === null ? all : []) {
    const protocol = PROTOCOLS.get(keys[programIdIndex] ?? '')
    if (protocol === undefined) continue
    const hex = Buffer.from(base58.decode(data)).toString('hex')
    if (LAUNCHES.includes(hex.slice(0, 16)) && protocol.startsWith('pump')) return undefined
    const named = accounts.map((index) => keys[index] ?? '')
    for (const { pool, vaults } of swapIn(protocol, hex, named)) {
      if (swaps.some((other) => other.pool === pool)) return undefined
      const sides = vaults.map((vault) => changeOf(meta, keys.indexOf(vault)))
      const [first, second] = sides
      if (first === undefined || second === undefined) return undefined
      swaps.push({
        ...{ protocol, pool, mints: [first.mint, second.mint], amounts: [first.change, second.change] },
      })
    }
  }
  const balances = [...meta.preTokenBalances, ...meta.postTokenBalances]
  return {
    signature: transaction.signatures[0] ?? '',
    payer: keys[0] ?? '',
    swaps,
    mints: balances.map(({ mint, programId, uiTokenAmount }) => ({
      ...{ address: mint, decimals: uiTokenAmount.decimals, program: programId },
    })),
  }
}

/** The change of a token account, or of the lamports of an account that holds no tokens. */
function changeOf(
  { preBalances, postBalances, preTokenBalances, postTokenBalances }: JsonTransaction['meta'],
  account: number,
): { readonly mint: string; readonly change: bigint } {
  const of = (balances: readonly Balance[]) => balances.find(({ accountIndex }) => accountIndex === account)
  const [before, after] = [of(preTokenBalances), of(postTokenBalances)]
  const mint = (after ?? before)?.mint
  if (mint === undefined) {
    const lamports = (postBalances[account] ?? 0) - (preBalances[account] ?? 0)
    return { mint: WRAPPED_SOL, change: BigInt(lamports) }
  }
  const amount = (balance: Balance | undefined): bigint => BigInt(balance?.uiTokenAmount.amount ?? 0)
  return { mint, change: amount(after) - amount(before) }
}
