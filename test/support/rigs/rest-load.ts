import { setTimeout as sleep } from 'node:timers/promises'
import { API_KEY } from '../builders/test-key.ts'

const PAUSE_MS = 10

export type RestLoadOptions = {
  /** The gateways of a release. */
  readonly released?: readonly string[]
  /** Returns what is wrong with an answer. */
  readonly faultOf?: (answer: { url: string; path: string; body: unknown }) => string | undefined
}

/**
 * Requests to gateways one after the other, as behind a load balancer: a gateway that refuses the connection, or answers
 * 503 with Retry-After, is passed over. A gateway of 0.2.0 that ends answers 503 without it.
 */
export class RestLoad {
  readonly faults: string[] = []
  answered = 0
  /** Requests that another gateway had to answer. */
  passedOver = 0
  readonly #stop = new AbortController()
  readonly #running: Promise<void>
  readonly #options: RestLoadOptions

  constructor(urls: () => readonly string[], paths: readonly string[], options: RestLoadOptions = {}) {
    this.#options = options
    this.#running = this.#run(urls, paths)
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  async #run(urls: () => readonly string[], paths: readonly string[]): Promise<void> {
    for (let nth = 0; !this.#stop.signal.aborted; nth++) {
      const path = paths[nth % paths.length] as string
      await this.#request(urls(), path, nth)
      await sleep(PAUSE_MS)
    }
  }

  async #request(urls: readonly string[], path: string, nth: number): Promise<void> {
    for (let attempt = 0; attempt < urls.length; attempt++) {
      const url = urls[(nth + attempt) % urls.length] as string
      try {
        const answer = await fetch(`${url}${path}`, {
          headers: { 'X-API-KEY': API_KEY },
        })
        const body = await answer.text()
        if (answer.status === 200) {
          this.answered++
          const fault = this.#options.faultOf?.({ url, path, body: JSON.parse(body) as unknown })
          if (fault !== undefined) this.faults.push(`${path}: ${fault}`)
          return
        }
        const isEnding =
          answer.status === 503 &&
          (answer.headers.has('Retry-After') || this.#options.released?.includes(url) === true)
        if (!isEnding) this.faults.push(`${answer.status} to ${path}: ${body.slice(0, 300)}`)
      } catch {
        // Refused or reset: the gateway has ended.
      }
      this.passedOver++
    }
    this.faults.push(`no gateway answered ${path}`)
  }
}
