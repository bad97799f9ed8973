import { setTimeout as sleep } from 'node:timers/promises'
import { API_KEY } from '../support/rigs/pipeline.ts'
import type { Operation } from './operations.ts'
import type { Truth } from './truth.ts'

export type Answer = {
  readonly operation: Operation
  readonly askedAtMs: number
  readonly answeredAtMs: number
  readonly status: number
  /** The problem's code, where it is one. */
  readonly code: string | undefined
  /** The newest block of any answer that this client had got before it asked. */
  readonly blockBefore: number
  readonly block: number | undefined
  readonly lagMs: number
  readonly cost: number
}

type Unjudged = { readonly answer: Answer; readonly body: unknown }

const CLIENTS = 3
const PAUSE_MS = 60
/** Twice what the gateway allows itself, and more: it is the gateway that is to be found hanging, not the machine. */
const TIMEOUT_MS = 30_000
/** Nothing that a client has no business to know. */
const INTERNALS = /ECONN|EPIPE|127\.0\.0\.1|clickhouse|redis|nats|jetstream|node:|\bat .+:\d+/i

/** Clients that ask for everything in turn, one question at a time each, and look hard at the answers. */
export class Load {
  readonly answers: Answer[] = []
  /** What should never be, in words. */
  readonly faults: string[] = []
  /** How many answers were compared with the truth. */
  compared = 0
  readonly #url: string
  readonly #operations: readonly Operation[]
  readonly #truth: Truth
  readonly #stop = new AbortController()
  #unjudged: Unjudged[] = []
  #clients: Promise<void> | undefined

  constructor(url: string, operations: readonly Operation[], truth: Truth) {
    this.#url = url
    this.#operations = operations
    this.#truth = truth
  }

  start(): void {
    const clients = Array.from({ length: CLIENTS }, (_, client) => this.#run(client * 7))
    this.#clients = Promise.all(clients).then(() => undefined)
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#clients
  }

  /** Compares those answers whose truth is known by now. */
  judge(): void {
    const isKnown = ({ answer }: Unjudged): boolean => (answer.block ?? 0) <= this.#truth.newest
    const known = this.#unjudged.filter(isKnown)
    this.#unjudged = this.#unjudged.filter((each) => !isKnown(each))
    for (const { answer, body } of known) {
      const { operation, block, blockBefore } = answer
      if (block === undefined) {
        this.faults.push(`${operation.path}: a success without X-Block`)
        continue
      }
      // A gateway that was not restarted must never return an older response than before.
      const lie = this.#truth.lieIn(operation.path, body, Math.min(blockBefore, block), block)
      if (lie !== undefined) this.faults.push(`${operation.path} at block ${block}: ${lie}`)
      this.compared++
    }
  }

  async #run(first: number): Promise<void> {
    let block = this.#truth.newest
    for (let turn = first; !this.#stop.signal.aborted; turn++) {
      const operation = this.#operations[turn % this.#operations.length]
      if (operation === undefined) return
      const answer = await this.#ask(operation, block)
      block = Math.max(block, answer?.block ?? 0)
      await sleep(PAUSE_MS)
    }
  }

  async #ask(operation: Operation, blockBefore: number): Promise<Answer | undefined> {
    const askedAtMs = performance.now()
    try {
      const response = await fetch(`${this.#url}${operation.path}`, {
        method: operation.body === undefined ? 'GET' : 'POST',
        headers: { 'x-api-key': API_KEY, 'content-type': 'application/json' },
        ...(operation.body === undefined ? {} : { body: JSON.stringify(operation.body) }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      const text = await response.text()
      const body = JSON.parse(text) as { code?: string }
      const block = response.headers.get('x-block')
      const answer: Answer = {
        ...{ operation, askedAtMs, answeredAtMs: performance.now(), status: response.status, blockBefore },
        code: response.ok ? undefined : body.code,
        block: block === null ? undefined : Number(block),
        lagMs: Number(response.headers.get('x-lag-ms')),
        cost: Number(response.headers.get('x-cu-cost')),
      }
      this.answers.push(answer)
      if (response.ok && operation.isOfBlock) this.#unjudged.push({ answer, body })
      if (!response.ok) this.#examineProblem(operation, response, text)
      return answer
    } catch (error) {
      this.faults.push(`${operation.path}: no answer: ${String(error)} ${String((error as Error).cause)}`)
      return undefined
    }
  }

  #examineProblem({ path }: Operation, response: Response, text: string): void {
    const type = response.headers.get('content-type') ?? ''
    if (!type.startsWith('application/problem+json')) this.faults.push(`${path}: ${type} ${text}`)
    if (INTERNALS.test(text)) this.faults.push(`${path}: leaks internals: ${text}`)
    if (response.headers.get('x-cu-cost') !== '0') this.faults.push(`${path}: a failure was charged`)
    if (response.headers.get('retry-after') === null) this.faults.push(`${path}: no Retry-After: ${text}`)
  }
}
