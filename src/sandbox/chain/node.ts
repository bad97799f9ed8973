import { Agent, type IncomingMessage, request } from 'node:http'
import { json } from 'node:stream/consumers'
import { type Hex, numberToHex } from 'viem'
import type { Turns } from './turns.ts'

/** Sent from an account of the node. Without `to` it creates a contract. */
export type Transaction = {
  readonly from: Hex
  readonly to?: Hex
  readonly data: Hex
  readonly value?: bigint
  readonly gas: bigint
}

export type NumberedTransaction = Transaction & { readonly nonce: number }

export type Call = { readonly method: string; readonly params: readonly unknown[] }

type Reply = { readonly id: number; readonly result?: unknown; readonly error?: { readonly message: string } }

/** More than any base fee here, so that a transaction is never left out. */
const GAS_PRICE = 10n ** 9n

/** JSON-RPC to anvil over one connection: requests are carried out in the order in which they are made. */
export class SandboxNode {
  readonly url: string
  readonly #turns: Turns
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })

  /** `turns` are shared with other callers of the node. */
  constructor(url: string, turns: Turns) {
    this.url = url
    this.#turns = turns
  }

  async ask<T>(method: string, ...params: readonly unknown[]): Promise<T> {
    const [result] = await this.askAll([{ method, params }])
    return result as T
  }

  /** One request for all calls. The node may carry them out in any order. */
  async askAll(calls: readonly Call[]): Promise<unknown[]> {
    if (calls.length === 0) return []
    const body = JSON.stringify(calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call })))
    const replies = (await this.#turns.take(() => this.#post(body))) as readonly Reply[]
    const byId = new Map(replies.map((reply) => [reply.id, reply]))
    return calls.map(({ method }, id) => {
      const { result, error } = byId.get(id) ?? {}
      if (error !== undefined) throw new Error(`${method}: ${error.message}`)
      return result
    })
  }

  /**
   * Puts transactions of the next block into the pool. The node orders them by what they pay, so each pays less than the one
   * before; nonces are the caller's, so that the node need not count.
   */
  async send(transactions: readonly NumberedTransaction[]): Promise<readonly Hex[]> {
    const calls = transactions.map(({ from, to, data, value = 0n, gas, nonce }, at) => ({
      method: 'eth_sendTransaction',
      params: [
        {
          ...{ from, ...(to && { to }), data, value: numberToHex(value), gas: numberToHex(gas) },
          ...{
            nonce: numberToHex(nonce),
            gasPrice: numberToHex(GAS_PRICE + BigInt(transactions.length - at)),
          },
        },
      ],
    }))
    return (await this.askAll(calls)) as Hex[]
  }

  close(): void {
    this.#agent.destroy()
  }

  #post(body: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
      const sent = request(
        this.url,
        { method: 'POST', agent: this.#agent, headers },
        (answer: IncomingMessage) => {
          json(answer).then(resolve, reject)
        },
      )
      sent.on('error', reject)
      sent.end(body)
    })
  }
}
