import { connectLogs, type Logs } from '../../../src/log/connect.ts'
import { createTestCommon } from './test-common.ts'

/** Connections to replicated logs, each as a role has one. */
export class LogClients {
  readonly #urls: readonly string[]
  readonly #prefix: string
  readonly #opened: Logs[] = []

  constructor(urls: readonly string[], prefix: string) {
    this.#urls = urls
    this.#prefix = prefix
  }

  async connect(): Promise<Logs> {
    const options = { urls: this.#urls, prefix: this.#prefix, replicas: 3, max_frame_bytes: 900_000 }
    const logs = await connectLogs(options, createTestCommon())
    this.#opened.push(logs)
    return logs
  }

  /** What each of so many readers of BLOCKS reads until the signal aborts, each over a connection of its own. */
  follow(
    chain: string,
    readers: number,
    signal: AbortSignal,
  ): { readonly read: readonly string[][]; readonly done: Promise<unknown> } {
    const read = Array.from({ length: readers }, (): string[] => [])
    const reading = read.map(async (bodies) => {
      const log = await (await this.connect()).open('BLOCKS', chain)
      for await (const { body } of log.read({ after: undefined, signal }))
        bodies.push(Buffer.from(body).toString())
    })
    return { read, done: Promise.all(reading) }
  }

  async close(): Promise<void> {
    await Promise.all(this.#opened.map((logs) => logs.close()))
  }
}
