import { once } from 'node:events'
import {
  Agent,
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { Turns } from './turns.ts'

type Call = { readonly id?: unknown; readonly method?: unknown }

/** Calls that read no state: any number of them may run at once. */
const STATELESS: ReadonlySet<unknown> = new Set([
  ...['eth_chainId', 'eth_blockNumber', 'eth_syncing', 'eth_getBlockByNumber', 'eth_getBlockByHash'],
  ...['eth_getBlockReceipts', 'eth_getLogs', 'eth_getTransactionByHash', 'eth_getTransactionReceipt'],
  ...['net_version', 'web3_clientVersion'],
])

/**
 * JSON-RPC to the sandbox's node for everyone else: one call at a time that reads state. A node that continues another chain
 * asks it for accounts it does not know, and holds the lock of its old states meanwhile. A call that waits for that lock
 * stops anvil's event loop, and so the answer that would release the lock: anvil then never answers again.
 */
export class NodeGate {
  readonly url: string
  readonly #server: Server
  readonly #nodeUrl: string
  readonly #turns: Turns
  readonly #agent = new Agent({ keepAlive: true })

  private constructor(server: Server, nodeUrl: string, turns: Turns) {
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    this.#server = server
    this.#nodeUrl = nodeUrl
    this.#turns = turns
    server.on('request', (asked: IncomingMessage, answer: ServerResponse) => {
      this.#serve(asked).then(
        (body) => answer.setHeader('content-type', 'application/json').end(body),
        // The caller sees what it would see of a node that is gone.
        () => answer.destroy(),
      )
    })
  }

  static async open(nodeUrl: string, port: number, turns: Turns): Promise<NodeGate> {
    const server = createServer()
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return new NodeGate(server, nodeUrl, turns)
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
    this.#agent.destroy()
  }

  async #serve(asked: IncomingMessage): Promise<Buffer> {
    const body = await buffer(asked)
    const calls = callsOf(body)
    if (calls?.every(({ method }) => STATELESS.has(method))) return await this.#post(body)
    // The node would carry out the calls of a batch at once.
    if (calls === undefined || calls.length === 1) return await this.#turns.take(() => this.#post(body))
    const replies: Buffer[] = []
    for (const call of calls)
      replies.push(await this.#turns.take(() => this.#post(Buffer.from(JSON.stringify(call)))))
    return Buffer.from(`[${replies.join(',')}]`)
  }

  #post(body: Buffer): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'content-length': body.length }
      const sent = request(this.#nodeUrl, { method: 'POST', agent: this.#agent, headers }, (answer) => {
        buffer(answer).then(resolve, reject)
      })
      sent.on('error', reject)
      sent.end(body)
    })
  }
}

/** Undefined if it is no JSON-RPC: the node says so itself. */
function callsOf(body: Buffer): readonly Call[] | undefined {
  try {
    const parsed = JSON.parse(body.toString()) as unknown
    const calls = Array.isArray(parsed) ? parsed : [parsed]
    return calls.length > 0 && calls.every((call) => typeof call === 'object' && call !== null)
      ? calls
      : undefined
  } catch {
    return undefined
  }
}
