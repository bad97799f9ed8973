import { createHash } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { RpcFailure } from '../../../src/chain/rpc/rpc-failure.ts'
import type { Account } from '../../../src/chain/solana/account.ts'
import type { RpcTransaction } from '../../../src/chain/solana/parse-transaction.ts'
import { bindSolanaNode, type SolanaNodes } from '../../../src/chain/solana/rpc.ts'
import { toSolanaFailure } from '../../../src/chain/solana/rpc-failure.ts'
import type { Header } from '../../../src/chain/source.ts'
import { base58Text } from '../../../src/domain/base58.ts'
import { ChaintapeError } from '../../../src/domain/errors.ts'
import { ScriptedChain } from './scripted-chain.ts'

export const GENESIS_HASH = base58Of('genesis')

/** Every second slot or so is skipped, and blocks of two branches at one height may be in different slots. */
const SLOTS_PER_BLOCK = 2

type RpcError = { readonly code: number; readonly message: string }
type Params = readonly unknown[]
type AccountOptions = {
  readonly dataSlice: { readonly offset: number; readonly length: number }
  readonly minContextSlot?: number
}

/** A scripted chain as a Solana node serves it: blocks by slot, in answers of JSON-RPC. */
export class SolanaLedger {
  readonly chain: ScriptedChain
  /** The transactions of a block, as `getBlock` returns them. */
  transactionsOf: (block: Header) => readonly RpcTransaction[] = () => []
  /** The newest state, by address. */
  readonly accounts = new Map<string, Account>()
  /** Changes an answer, or throws an `RpcError`. */
  falsify: (method: string, answer: unknown) => unknown = (_, answer) => answer
  readonly #servers: Server[] = []

  constructor(first: number, chain = new ScriptedChain(first, base58Of)) {
    this.chain = chain
  }

  slotOf({ number, hash }: { readonly number: number; readonly hash: string }): number {
    return number * SLOTS_PER_BLOCK + (hash.charCodeAt(0) % SLOTS_PER_BLOCK)
  }

  /** The node without HTTP and without a pool. */
  nodes(): SolanaNodes {
    const request = async (method: string, params: Params): Promise<unknown> => {
      try {
        return await this.answer(method, params)
      } catch (error) {
        if (!isRpcError(error)) throw error
        throw toSolanaFailure(method, error.code, error.message)
      }
    }
    const node = bindSolanaNode({
      label: 'ledger',
      request,
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

  /** Serves JSON-RPC over HTTP, single requests and batches, and returns the URL. */
  async listen(): Promise<string> {
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const body = JSON.parse(Buffer.concat(chunks).toString()) as unknown
      const answers = Array.isArray(body)
        ? await Promise.all(body.map((each) => this.#respond(each)))
        : await this.#respond(body)
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(answers))
    })
    this.#servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  close(): void {
    for (const server of this.#servers) {
      server.closeAllConnections()
      server.close()
    }
  }

  async answer(method: string, params: Params): Promise<unknown> {
    return this.falsify(method, await this.#answer(method, params))
  }

  async #respond(request: unknown): Promise<object> {
    const { id, method, params } = request as { id: number; method: string; params: Params }
    try {
      return { jsonrpc: '2.0', id, result: await this.answer(method, params) }
    } catch (error) {
      const shown = isRpcError(error) ? error : { code: -32_603, message: String(error) }
      return { jsonrpc: '2.0', id, error: shown }
    }
  }

  async #answer(method: string, params: Params): Promise<unknown> {
    switch (method) {
      case 'getGenesisHash':
        return GENESIS_HASH
      case 'getBlockHeight':
        return (await this.chain.head()).number
      case 'getSlot':
        return this.#slot(params[0] as { commitment: string })
      case 'getBlock':
        return this.#block(params[0] as number, params[1] as { transactionDetails: string })
      case 'getBlocksWithLimit': {
        const [from, limit] = params as [number, number]
        const slots = this.chain.headers().map((header) => this.slotOf(header))
        return slots.filter((slot) => slot >= from).slice(0, limit)
      }
      case 'getMultipleAccounts':
        return this.#accounts(params[0] as string[], params[1] as AccountOptions)
      default:
        throw rpcError(-32_601, 'Method not found')
    }
  }

  async #accounts(addresses: readonly string[], { dataSlice, minContextSlot }: AccountOptions) {
    if (addresses.length > 100) throw rpcError(-32_602, 'Too many inputs provided; max 100')
    const slot = this.slotOf(await this.chain.head())
    if (slot < (minContextSlot ?? 0)) throw rpcError(-32_016, 'Minimum context slot has not been reached')
    const { offset, length } = dataSlice
    const value = addresses.map((address) => {
      const account = this.accounts.get(address)
      if (account === undefined) return null
      const data = Buffer.from(account.data.subarray(offset, offset + length)).toString('base64')
      const { owner, size: space } = account
      return { owner, data: [data, 'base64'], space, executable: false, lamports: 1 }
    })
    return { context: { slot }, value }
  }

  async #slot({ commitment }: { commitment: string }): Promise<number> {
    if (commitment === 'confirmed') return this.slotOf(await this.chain.head())
    const final = await this.chain.finalised()
    return this.slotOf(final ?? (this.chain.headers()[0] as Header))
  }

  async #block(slot: number, { transactionDetails }: { transactionDetails: string }): Promise<object> {
    const number = Math.floor(slot / SLOTS_PER_BLOCK)
    const header = await this.chain.headerAt(number)
    if (header === undefined) throw rpcError(-32_004, `Block not available for slot ${slot}`)
    if (this.slotOf(header) !== slot) throw rpcError(-32_007, `Slot ${slot} was skipped`)
    const { hash, parentHash, time } = header
    const parentSlot = Math.max(0, this.slotOf({ number: number - 1, hash: parentHash }))
    return {
      ...{ blockhash: hash, previousBlockhash: parentHash, parentSlot, blockHeight: number, blockTime: time },
      ...(transactionDetails === 'full' && { transactions: this.transactionsOf(header) }),
    }
  }
}

export function rpcError(code: number, message: string): RpcError {
  return { code, message }
}

function isRpcError(error: unknown): error is RpcError {
  return typeof error === 'object' && error !== null && !(error instanceof Error) && 'code' in error
}

/** 32 bytes that depend on a text. */
export function base58Of(text: string): string {
  return base58Text(createHash('sha256').update(text).digest(), 0)
}
