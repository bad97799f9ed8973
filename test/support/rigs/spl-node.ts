import { address, getTransactionDecoder } from '@solana/kit'
import { FailedTransactionMetadata, type LiteSVM } from 'litesvm'
import { RpcFailure } from '../../../src/chain/rpc/rpc-failure.ts'
import { bindSolanaNode, type SolanaNodes } from '../../../src/chain/solana/rpc.ts'
import { toSolanaFailure } from '../../../src/chain/solana/rpc-failure.ts'
import { readTokenAccount } from '../../../src/chain/solana/simulate/token-account.ts'
import { BALANCE_PROGRAMS } from '../../../src/dex/solana/known-keys.ts'
import { ChaintapeError } from '../../../src/domain/errors.ts'
import { GENESIS_HASH, rpcError } from './solana-ledger.ts'

type Params = readonly unknown[]
type SimulationOptions = {
  readonly sigVerify: boolean
  readonly replaceRecentBlockhash: boolean
  readonly accounts: { readonly addresses: readonly string[] }
}

/** LiteSVM as a node serves it: accounts, largest holders and simulations, in answers of JSON-RPC. */
export class SplNode {
  readonly #svm: LiteSVM
  /** Changes an answer, or throws an error of JSON-RPC. */
  falsify: (method: string, answer: unknown) => unknown = (_, answer) => answer
  /** The methods that were asked for. */
  readonly asked: string[] = []

  constructor(svm: LiteSVM) {
    this.#svm = svm
  }

  nodes(): SolanaNodes {
    const node = bindSolanaNode({
      label: 'svm',
      request: async (method, params) => {
        this.asked.push(method)
        try {
          return this.falsify(method, this.#answer(method, params))
        } catch (error) {
          const { code, message } = error as { code: number; message: string }
          if (error instanceof Error) throw error
          throw toSolanaFailure(method, code, message)
        }
      },
      missedBlock: () => undefined,
      sawHead: () => undefined,
    })
    return {
      // Like the pool when its only endpoint fails.
      verified: async (ask) => {
        try {
          return await ask(node)
        } catch (error) {
          if (!(error instanceof RpcFailure)) throw error
          throw new ChaintapeError('node_unavailable', error.message)
        }
      },
      elsewhere: async () => ({ asked: 0, answers: [] }),
      blame: () => undefined,
      genesisHash: async () => GENESIS_HASH,
    }
  }

  #answer(method: string, params: Params): unknown {
    const context = { slot: Number(this.#svm.getClock().slot) }
    switch (method) {
      case 'getMultipleAccounts':
        return { context, value: (params[0] as string[]).map((key) => this.#account(key)) }
      case 'getTokenLargestAccounts':
        return { context, value: this.#largest(params[0] as string) }
      case 'simulateTransaction':
        return { context, value: this.#simulate(params[0] as string, params[1] as SimulationOptions) }
      default:
        throw rpcError(-32_601, 'Method not found')
    }
  }

  #account(key: string): object | null {
    const account = this.#svm.getAccount(address(key))
    return account.exists ? shown(account) : null
  }

  #largest(mint: string): object[] {
    const all = BALANCE_PROGRAMS.flatMap((program) =>
      this.#svm.getProgramAccounts(address(program)).flatMap((account) => {
        const data = Uint8Array.from(account.data)
        const token = readTokenAccount({ owner: program, data, size: data.length })
        return token?.mint === mint ? [{ address: account.address, amountRaw: token.amountRaw }] : []
      }),
    )
    const ordered = all.sort((a, b) => Number(b.amountRaw - a.amountRaw))
    return ordered.slice(0, 20).map(({ address, amountRaw }) => ({ address, amount: `${amountRaw}` }))
  }

  #simulate(encoded: string, { sigVerify, replaceRecentBlockhash, accounts }: SimulationOptions): object {
    const transaction = getTransactionDecoder().decode(Buffer.from(encoded, 'base64'))
    this.#svm.withSigverify(sigVerify).withBlockhashCheck(!replaceRecentBlockhash)
    const result = this.#svm.simulateTransaction(transaction)
    this.#svm.withSigverify(true).withBlockhashCheck(true)
    if (result instanceof FailedTransactionMetadata)
      return { err: shownError(result), logs: result.meta().logs(), accounts: null, unitsConsumed: 0 }
    const after = new Map(result.postAccounts().map((account) => [String(account.address), account]))
    return {
      err: null,
      logs: result.meta().logs(),
      unitsConsumed: Number(result.meta().computeUnitsConsumed()),
      accounts: accounts.addresses.map((key) => {
        const account = after.get(key)
        return account === undefined ? this.#account(key) : shown(account)
      }),
    }
  }
}

function shown(account: { programAddress: string; data: ArrayLike<number>; lamports: bigint }): object {
  const data = Buffer.from(account.data)
  return {
    owner: account.programAddress,
    data: [data.toString('base64'), 'base64'],
    space: data.length,
    executable: false,
    lamports: Number(account.lamports),
  }
}

/** As a node reports it: `{ InstructionError: [index, { Custom: code }] }`, or the name of an error. */
function shownError(failed: FailedTransactionMetadata): unknown {
  const error = failed.err()
  if (typeof error !== 'object' || !('index' in error) || !('err' in error)) return `${failed}`
  const detail = error.err()
  const inner = typeof detail === 'object' && 'code' in detail ? { Custom: detail.code } : `${detail}`
  return { InstructionError: [error.index, inner] }
}
