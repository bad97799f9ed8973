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

  async close(): Promise<void> {
    await Promise.all(this.#opened.map((logs) => logs.close()))
  }
}
