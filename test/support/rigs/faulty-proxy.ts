import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Fault =
  | { readonly kind: 'none' | 'error' | 'reset' | 'empty' | 'truncated' | 'hang' }
  /** Alters one log of every block's receipts that has any. */
  | { readonly kind: 'lie' }
  /** Gives receipts, and logs asked for by themselves, as if nothing had been logged. */
  | { readonly kind: 'no_logs' }
  /** Does not have the method; `hides` leaves out the logs as well. */
  | { readonly kind: 'no_receipts'; readonly hides?: 'logs' }
  /** Does not have this method. */
  | { readonly kind: 'no_method'; readonly method: string }
  /** Looks for logs in no more blocks than these at once. */
  | { readonly kind: 'narrow'; readonly blocks: number }
  /** No longer has the logs of earlier blocks than this one. */
  | { readonly kind: 'pruned'; readonly before: number }
  /** Reports blocks that do not exist, with invented hashes. */
  | { readonly kind: 'invented' }
  /** Says what another node says. */
  | { readonly kind: 'elsewhere'; readonly nodeUrl: string }
  /** Knows nothing of the newest blocks. */
  | { readonly kind: 'lag'; readonly blocks: number }
  | { readonly kind: 'delay'; readonly delayMs: number }
  /** Takes so many requests a second and refuses the rest, by HTTP (with Retry-After) or inside the answer. */
  | { readonly kind: 'limit'; readonly perSecond: number; readonly by: 'http' | 'rpc' }
  /** Refuses, and repeats in the error what it was sent. */
  | { readonly kind: 'echo' }
  /** Serves another chain. */
  | { readonly kind: 'foreign' }

type Request = { readonly id: number; readonly method: string; readonly params: readonly unknown[] }
type Block = { readonly number: string; readonly blockNumber?: string }
type Answer = { readonly id: number; result?: unknown; error?: unknown }

const RETRY_AFTER_SECONDS = 1

/** Stands before a real node and spoils its answers the way nodes and the networks before them do. */
export class FaultyProxy {
  readonly url: string
  readonly label: string
  fault: Fault = { kind: 'none' }
  /** JSON-RPC requests seen, accepted and refused for coming too fast. */
  readonly seen = { requests: 0, accepted: 0, refused: 0, whileResting: 0 }
  /** The same by method. */
  readonly methods = new Map<string, number>()
  lastAuthorization: string | undefined
  readonly #server: Server
  readonly #nodeUrl: string
  #second = 0
  #inSecond = 0
  #restUntil = 0

  private constructor(server: Server, nodeUrl: string, index: number) {
    this.#server = server
    this.#nodeUrl = nodeUrl
    const { port } = server.address() as AddressInfo
    this.url = `http://127.0.0.1:${port}`
    this.label = `${index}:127.0.0.1:${port}`
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#serve(request, response).catch(() => response.destroy())
    })
  }

  /** `index` is the place in the list of endpoints it is meant for. */
  static async start(nodeUrl: string, index: number): Promise<FaultyProxy> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new FaultyProxy(server, nodeUrl, index)
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { fault } = this
    this.lastAuthorization = request.headers.authorization
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Request | Request[]
    const requests = Array.isArray(body) ? body : [body]
    this.seen.requests += requests.length
    for (const { method } of requests) this.methods.set(method, (this.methods.get(method) ?? 0) + 1)
    const send = (answers: readonly Answer[], spoil = (text: string) => text): void => {
      const text = spoil(JSON.stringify(Array.isArray(body) ? answers : answers[0]))
      response.writeHead(200, { 'content-type': 'application/json' }).end(text)
    }
    switch (fault.kind) {
      case 'hang':
        return
      case 'reset':
        request.socket.resetAndDestroy()
        return
      case 'error':
        response.writeHead(500).end('oops')
        return
      case 'echo': {
        const message = `not for ${request.url} ${request.headers.authorization}`
        send(requests.map(({ id }) => ({ id, error: { code: -32_600, message } })))
        return
      }
      case 'empty':
        response.writeHead(200).end()
        return
      case 'limit':
        if (this.#isTooFast(requests.length, fault.perSecond)) {
          if (fault.by === 'http')
            response.writeHead(429, { 'retry-after': `${RETRY_AFTER_SECONDS}` }).end('slow down')
          else send(requests.map(({ id }) => ({ id, error: { code: -32_005, message: 'limit exceeded' } })))
          return
        }
        break
      case 'delay':
        await new Promise((resolve) => setTimeout(resolve, fault.delayMs))
        break
    }
    const answers = await this.#askNode(requests, fault.kind === 'elsewhere' ? fault.nodeUrl : undefined)
    if (fault.kind === 'lag') await this.#forgetNewest(requests, answers, fault.blocks)
    if (fault.kind === 'lie') for (const answer of answers) alterOneLog(answer)
    if (fault.kind === 'invented') for (const answer of answers) inventHash(answer)
    if (fault.kind === 'no_receipts') forgetMethod('eth_getBlockReceipts', requests, answers)
    if (fault.kind === 'no_method') forgetMethod(fault.method, requests, answers)
    if (fault.kind === 'narrow') refuseWide(requests, answers, fault.blocks)
    if (fault.kind === 'pruned') refuseOld(requests, answers, fault.before)
    if (fault.kind === 'no_logs' || (fault.kind === 'no_receipts' && fault.hides === 'logs')) {
      for (const [index, answer] of answers.entries()) hideLogs(requests[index]?.method, answer)
    }
    if (fault.kind === 'foreign') {
      requests.forEach(({ method }, index) => {
        const answer = answers[index]
        if (method === 'eth_chainId' && answer !== undefined) answer.result = '0x7777'
      })
    }
    send(answers, fault.kind === 'truncated' ? (text) => text.slice(0, text.length / 2) : undefined)
  }

  async #askNode(requests: readonly Request[], nodeUrl = this.#nodeUrl): Promise<Answer[]> {
    const response = await fetch(nodeUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(requests.map((request) => ({ jsonrpc: '2.0', ...request }))),
    })
    const answers = (await response.json()) as Answer[]
    return requests.map(({ id }) => answers.find((answer) => answer.id === id) ?? { id })
  }

  async #forgetNewest(requests: readonly Request[], answers: Answer[], blocks: number): Promise<void> {
    const ask = async (method: string, params: readonly unknown[]): Promise<unknown> =>
      (await this.#askNode([{ id: 0, method, params }]))[0]?.result
    const head = Math.max(0, Number(await ask('eth_blockNumber', [])) - blocks)
    for (const [index, { method, params }] of requests.entries()) {
      const answer = answers[index]
      if (answer === undefined) continue
      if (method === 'eth_blockNumber') answer.result = `0x${head.toString(16)}`
      else if (method === 'eth_getBlockByNumber' && params[0] === 'latest') {
        answer.result = await ask(method, [`0x${head.toString(16)}`, false])
      } else {
        const first = (Array.isArray(answer.result) ? answer.result[0] : answer.result) as Block | null
        if (Number(first?.blockNumber ?? first?.number ?? 0) > head) answer.result = null
      }
    }
  }

  #isTooFast(count: number, perSecond: number): boolean {
    const now = performance.now()
    if (now < this.#restUntil) this.seen.whileResting += count
    const second = Math.floor(now / 1_000)
    if (second !== this.#second) this.#inSecond = 0
    this.#second = second
    this.#inSecond += count
    const isTooFast = this.#inSecond > perSecond
    this.seen[isTooFast ? 'refused' : 'accepted'] += count
    if (isTooFast) this.#restUntil = now + RETRY_AFTER_SECONDS * 1_000
    return isTooFast
  }
}

function alterOneLog(answer: Answer): void {
  if (!Array.isArray(answer.result)) return
  const receipts = answer.result as { logs?: { data: string }[] }[]
  const log = receipts.flatMap(({ logs }) => logs ?? [])[0]
  if (log !== undefined) log.data = log.data.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
}

function forgetMethod(forgotten: string, requests: readonly Request[], answers: readonly Answer[]): void {
  for (const [index, { method }] of requests.entries()) {
    const answer = answers[index]
    if (method !== forgotten || answer === undefined) continue
    delete answer.result
    answer.error = { code: -32_601, message: `the method ${method} does not exist/is not available` }
  }
}

function refuseOld(requests: readonly Request[], answers: Answer[], before: number): void {
  for (const [index, { id, method, params }] of requests.entries()) {
    const { fromBlock } = (params[0] ?? {}) as { fromBlock?: string }
    if (method === 'eth_getLogs' && fromBlock !== undefined && Number(fromBlock) < before)
      answers[index] = { id, error: { code: 4_444, message: 'pruned history unavailable' } }
  }
}

function refuseWide(requests: readonly Request[], answers: readonly Answer[], blocks: number): void {
  for (const [index, { method, params }] of requests.entries()) {
    const answer = answers[index]
    const { fromBlock, toBlock } = Object(params[0]) as { fromBlock?: string; toBlock?: string }
    if (method !== 'eth_getLogs' || answer === undefined || fromBlock === undefined) continue
    if (Number(toBlock) - Number(fromBlock) < blocks) continue
    delete answer.result
    answer.error = { code: -32_005, message: `eth_getLogs is limited to a ${blocks} block range` }
  }
}

/** All of it fits together; only the header knows better. */
function hideLogs(method: string | undefined, answer: Answer): void {
  if (!Array.isArray(answer.result)) return
  if (method === 'eth_getLogs') answer.result = []
  if (method !== 'eth_getBlockReceipts') return
  for (const receipt of answer.result as { logs: unknown[]; logsBloom: string }[]) {
    receipt.logs = []
    receipt.logsBloom = `0x${'0'.repeat(512)}`
  }
}

function inventHash({ result }: Answer): void {
  const block = Object(result) as { hash?: string; parentHash?: string }
  if (block.hash !== undefined && block.parentHash !== undefined) {
    block.hash = `0x${'ab'.repeat(4)}${block.hash.slice(10)}`
  }
}
